"""Connections: asked for, open, and ever answered, at the end of each second."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

import altair as alt

from plimsoll import canvas, wording

if TYPE_CHECKING:
    from plimsoll.canvas import Rows, Specification
    from plimsoll.findings.trial import TrialData

NAME = "connections"
TITLE = "Connections"
CAPTION = (
    "Connections requested, open at the end of each second, and open with at least one "
    "response byte so far. Where open lies above answered, the kernel has accepted "
    "connections that the server has not."
)
TABLE = "seconds"
COLUMNS = {"second": "second", "asked": "asked", "open": "open", "answered": "answered"}

_NAMES = {"asked": canvas.MACHINE, "open": canvas.SERVER, "answered": canvas.ANSWERED}


def draw(data: TrialData) -> Specification:
    """The chart with its data."""
    rows = _rows(data)
    last = rows[-1] if rows else {"open": 0, "answered": 0}
    step_s, at_end = canvas.step_s(data), dict.fromkeys(_NAMES, canvas.last)
    return canvas.finished(
        _chart(step_s),
        {
            "seconds": canvas.thinned(rows, step_s, **at_end),
            "stages": canvas.stage_rows(data.recording, data.seconds.num_rows),
        },
        f"Connections of the trial of {data.recording.title}: at the end of it "
        f"{last['open']} were open and {last['answered']} of these had received a response",
    )


def _rows(data: TrialData) -> Rows:
    asked = _asked(data)
    return [
        {
            "second": row["second"],
            "asked": wording.significant(asked.get(row["second"]), 6),
            "open": row["open"],
            "answered": row["answered"],
        }
        for row in data.connections.to_pylist()
    ]


def _asked(data: TrialData) -> dict[int, float | None]:
    """Connections asked for by second: the level when closed, the pool when open."""
    is_open = data.recording.load.model == "open"
    pool = data.recording.load.connections
    return {
        row["second"]: pool if is_open else row["asked"]
        for row in canvas.chosen(data.seconds, ["second", "asked"])
    }


@cache
def _chart(step_s: int) -> Specification:
    headings = {name: name for name in _NAMES}
    area = (
        canvas.seconds(step_s)
        .mark_area(opacity=0.2, color=canvas.ANSWERED.light)
        .encode(x=canvas.time("middle"), y=_count("answered"))
    )
    chart = canvas.layered(
        canvas.stage_bands(),
        area,
        _line("open", [1, 0], 2.0, step_s),
        _line("answered", [1, 0], 2.0, step_s),
        _line("asked", [4, 4], 1.6, step_s, interpolate="step"),
        canvas.cursor(headings, "connections_second", step_s),
    ).properties(width=canvas.WIDTH_PX, height=130)
    return canvas.styled(chart)


def _count(column: str) -> alt.Y:
    return alt.Y(
        f"{column}:Q",
        title="connections",
        scale=alt.Scale(zero=True),
        axis=alt.Axis(format=canvas.NUMBERS),
    )


def _line(
    name: str,
    dash: list[float],
    width: float,
    step_s: int,
    interpolate: Literal["linear", "step"] = "linear",
) -> alt.Chart:
    return (
        canvas.seconds(step_s)
        .mark_line(
            strokeWidth=width,
            strokeDash=dash,
            strokeCap="round",
            strokeJoin="round",
            interpolate=interpolate,
        )
        .encode(x=canvas.time("middle"), y=_count(name), color=canvas.colour_of(name, among=_NAMES))
    )
