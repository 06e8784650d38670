"""Latency over rate: percentiles of each server at each rate of an open load."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt
from plimsoll.aggregate.rate_levels import PERCENTILES

if TYPE_CHECKING:
    from plimsoll.canvas import Row, Specification
    from plimsoll.findings.rate_curves import RateCurves, RatePoint

    Look = tuple[tuple[str, ...], tuple[str, ...]]
    """The entries of the chart, and those of the report that decide on how they look."""

NAME = "latency_over_rate"
TITLE = "Latency over rate"
CAPTION = (
    "Each point is a rate: of a trial, of a step of a load that rises, or, in an imported "
    "recording, of a time in which requests started at a steady rate. From the top: the median and "
    "the 99th percentile of latency, which counts from the intended start where that is known. "
    "Latency is logarithmic. A hollow point is void."
)
TABLE = "points"
COLUMNS = {
    "framework": "framework",
    "rate": "rate, /s",
    "p50": "p50, ms",
    "p90": "p90, ms",
    "p99": "p99, ms",
    "p999": "p99.9, ms",
    "failed": "failed, %",
    "level": "verdict",
}

_PANELS = {"p50": "median, ms", "p99": "p99, ms"}
_NUMBERS = ("rate", *PERCENTILES, "failed")
_HEIGHT_PX = 150


def draw(data: RateCurves, entries: tuple[str, ...] = ()) -> Specification:
    """The chart with its data; a panel without any number is left out.

    Args:
        data: What it shows.
        entries: Every entry of the report, for `canvas.entry_places`.
    """
    rows = [_row(point) for point in data.points]
    panels = tuple(name for name in _PANELS if any(row[name] is not None for row in rows))
    drawn = _chart((data.frameworks, entries), panels or ("p50",))
    return canvas.finished(drawn, {"points": rows}, _description(data))


def _row(point: RatePoint) -> Row:
    return {
        "framework": point.framework,
        "rate": wording.significant(point.rate_per_s),
        **{name: canvas.scaled(point.times_ns.get(name), 1e6) for name in PERCENTILES},
        "failed": None if point.failed is None else wording.significant(100 * point.failed),
        "level": point.level.replace("_", " "),
    }


def _description(data: RateCurves) -> str:
    rates = [point.rate_per_s for point in data.points]
    return (
        f"Latency of {', '.join(data.frameworks)} at {data.endpoint}, at "
        f"{wording.per_second(min(rates))} to {wording.per_second(max(rates))}"
    )


@canvas.built_once
def _chart(look: Look, panels: tuple[str, ...]) -> Specification:
    drawn = [_panel(name, look, is_last=name == panels[-1]) for name in panels]
    return canvas.styled(alt.vconcat(*drawn, spacing=34))


def _panel(name: str, look: Look, *, is_last: bool) -> alt.LayerChart:
    x = alt.X(
        "rate:Q",
        title="requests/s" if is_last else None,
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format=canvas.NUMBERS, grid=False),
    )
    y = alt.Y(
        f"{name}:Q",
        title=_PANELS[name],
        scale=alt.Scale(type="log", nice=False, padding=10),
        axis=alt.Axis(format=canvas.NUMBERS),
    )
    colour = alt.Color(
        "framework:N", scale=canvas.entry_scale(*look), legend=canvas.entry_legend(look[0])
    )
    fill = alt.Fill("framework:N", scale=canvas.entry_scale(*look), legend=None)
    source = alt.Chart(alt.NamedData(name="points")).transform_filter(f"isValid(datum.{name})")
    lines = source.transform_filter("datum.level !== 'void'").mark_line(strokeWidth=1.4)
    points = source.mark_point(size=40, opacity=1, strokeWidth=1.4)
    chart = canvas.layered(
        lines.encode(x=x, y=y, color=colour),
        points.encode(
            x=x,
            y=y,
            color=colour,
            shape=canvas.entry_shape(*look),
            fill=alt.condition("datum.level === 'void'", alt.value(canvas.PAPER.light), fill),
            tooltip=[
                alt.Tooltip("framework:N"),
                *(
                    alt.Tooltip(f"{column}:Q", title=COLUMNS[column], format=canvas.NUMBERS)
                    for column in _NUMBERS
                ),
                alt.Tooltip("level:N", title=COLUMNS["level"]),
            ],
        ),
    )
    return chart.properties(width=canvas.WIDTH_PX, height=_HEIGHT_PX)
