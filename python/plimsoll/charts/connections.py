"""Connections: asked for, open, and ever answered, at the end of each second."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

import altair as alt

from plimsoll import canvas

if TYPE_CHECKING:
    from plimsoll.canvas import Rows, Specification, TrialData

NAME = "connections"
TITLE = "Connections"
CAPTION = (
    "Connections asked for, those open at the end of each second, and those of the open ones that "
    "had got any byte of an answer by then. Where open lies above answered, the kernel has "
    "accepted connections that the server has not."
)
TABLE = "seconds"
COLUMNS = {"second": "second", "asked": "asked", "open": "open", "answered": "answered"}

_NAMES = {"asked": canvas.MACHINE, "open": canvas.SERVER, "answered": canvas.ANSWERED}


def draw(data: TrialData) -> Specification:
    """The chart with its data."""
    rows = _rows(data)
    last = rows[-1] if rows else {"open": 0, "answered": 0}
    return canvas.finished(
        _chart(),
        {"seconds": rows, "stages": canvas.stage_rows(data.recording, data.seconds.num_rows)},
        f"Connections of the trial of {data.recording.title}: at the end of it "
        f"{last['open']} were open and {last['answered']} of these had been answered",
    )


def _rows(data: TrialData) -> Rows:
    asked = _asked(data)
    return [
        {
            "second": row["second"],
            "asked": canvas.significant(asked.get(row["second"]), 6),
            "open": row["open"],
            "answered": row["answered"],
        }
        for row in data.connections.to_pylist()
    ]


def _asked(data: TrialData) -> dict[int, float | None]:
    """Connections asked for by second: the level when closed, the pool when open."""
    is_open = data.recording.load.get("model") == "open"
    pool = data.recording.load.get("connections")
    return {
        row["second"]: pool if is_open else row["asked"]
        for row in canvas.chosen(data.seconds, ["second", "asked"])
    }


@cache
def _chart() -> Specification:
    headings = {name: name for name in _NAMES}
    area = (
        canvas.seconds()
        .mark_area(opacity=0.2, color=canvas.ANSWERED.light)
        .encode(x=canvas.time("middle"), y=_count("answered"))
    )
    chart = canvas.layered(
        canvas.stage_bands(),
        area,
        _line("open", [1, 0], 2.0),
        _line("answered", [1, 0], 2.0),
        _line("asked", [4, 4], 1.6, interpolate="step"),
        canvas.cursor(headings, "connections_second"),
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
    name: str, dash: list[float], width: float, interpolate: Literal["linear", "step"] = "linear"
) -> alt.Chart:
    return (
        canvas.seconds()
        .mark_line(
            strokeWidth=width,
            strokeDash=dash,
            strokeCap="round",
            strokeJoin="round",
            interpolate=interpolate,
        )
        .encode(x=canvas.time("middle"), y=_count(name), color=canvas.colour_of(name, among=_NAMES))
    )
