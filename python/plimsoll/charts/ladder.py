"""Ladder: cores that each server keeps busy over the rate that it answers, with the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.canvas import Row, Specification
    from plimsoll.findings.ladders import EntryLadder, LadderRanking, LadderStep

    Look = tuple[tuple[str, ...], tuple[str, ...]]
    """The entries of the chart, and those of the report that decide on how they look."""

NAME = "ladder"
TITLE = "Cores over rate"
CAPTION = (
    "Each point is one start of a server at one rate: the cores that it kept busy. The steeper its "
    "line, the more each request costs; where the line begins is the idle cost. A "
    "hollow point does not count: the server was at its limit, or the point is void."
)
TABLE = "steps"
COLUMNS = {
    "framework": "framework",
    "rate": "achieved, /s",
    "cores": "busy cores",
    "requested": "requested, /s",
    "counts": "counts",
}

_HEIGHT_PX = 300


def draw(data: LadderRanking, entries: tuple[str, ...] = ()) -> Specification:
    """The chart with its data.

    Args:
        data: What it shows.
        entries: Every entry of the report, for `canvas.entry_places`.
    """
    ladders = [one.ladder for one in data.places]
    steps = [row for one in ladders for step in one.steps for row in _step(one, step)]
    lines = [row for one in ladders for row in _line(one)]
    look = (tuple(one.framework for one in ladders), entries)
    return canvas.finished(_chart(look), {"steps": steps, "lines": lines}, _description(data))


def _step(ladder: EntryLadder, step: LadderStep) -> Iterator[Row]:
    if step.cost is not None and step.cost.busy_cores is not None:
        yield {
            "framework": ladder.framework,
            "rate": wording.significant(step.cost.completed_per_s),
            "cores": wording.significant(step.cost.busy_cores),
            "requested": wording.significant(step.requested_per_s),
            "counts": step.left_out or "yes",
        }


def _line(ladder: EntryLadder) -> Iterator[Row]:
    """Both ends of a line: without a request, and at the highest rate that counts."""
    if ladder.cores is None:
        return
    highest = max(one.cost.completed_per_s for one in ladder.counting if one.cost is not None)
    for rate in (0.0, highest):
        yield {
            "framework": ladder.framework,
            "rate": wording.significant(rate),
            "cores": wording.significant(ladder.cores.height(rate)),
        }


def _description(data: LadderRanking) -> str:
    parts = [
        f"{one.ladder.framework} {wording.seconds(one.ladder.cores.slope.value)} of CPU"
        for one in data.places
        if one.ladder.cores is not None and one.ladder.cores.slope.value > 0
    ]
    return f"Each request at {data.endpoint} costs: {'; '.join(parts) or 'unknown'}"


@canvas.built_once
def _chart(look: Look) -> Specification:
    scale = canvas.entry_scale(*look)
    colour = alt.Color("framework:N", scale=scale, legend=canvas.entry_legend(look[0]))
    x = alt.X(
        "rate:Q",
        title="responses/s",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format=canvas.NUMBERS, grid=False, tickCount=6),
    )
    y = alt.Y(
        "cores:Q",
        title="busy cores",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format=canvas.NUMBERS, tickCount=6),
    )
    fill = alt.Fill("framework:N", scale=scale, legend=None)
    lines = alt.Chart(alt.NamedData(name="lines")).mark_line(strokeWidth=1.6, opacity=0.8)
    points = alt.Chart(alt.NamedData(name="steps")).mark_point(size=40, opacity=1, strokeWidth=1.4)
    chart = canvas.layered(
        lines.encode(x=x, y=y, color=colour),
        points.encode(
            x=x,
            y=y,
            color=colour,
            shape=canvas.entry_shape(*look),
            fill=alt.condition("datum.counts !== 'yes'", alt.value(canvas.PAPER.light), fill),
            tooltip=[
                alt.Tooltip("framework:N"),
                *(
                    alt.Tooltip(f"{column}:Q", title=COLUMNS[column], format=canvas.NUMBERS)
                    for column in ("rate", "cores", "requested")
                ),
                alt.Tooltip("counts:N"),
            ],
        ),
    )
    return canvas.styled(chart.properties(width=canvas.WIDTH_PX, height=_HEIGHT_PX))
