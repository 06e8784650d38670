"""Connections: requested, open, with a response so far, and in the listen queue, by second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from plimsoll.canvas import Rows, Specification
    from plimsoll.findings.trial import TrialData

NAME = "connections"
TITLE = "Connections"
CAPTION = (
    "Connections requested, open at the end of each second, and open with at least one "
    "response byte so far. Where more are open than have a response byte, the kernel has "
    "accepted connections that the server has not; those in its listen queue are waiting."
)
TABLE = "seconds"
COLUMNS = {
    "second": "second",
    "requested": "requested",
    "open": "open",
    "with_response": "with response",
    "waiting": "waiting in the listen queue",
}


def _name(column: str) -> str:
    """A column as the legend has it."""
    return column.replace("_", " ")


_AT_END = {"requested": canvas.MACHINE, "open": canvas.SERVER, "with_response": canvas.RESPONDING}
"""What is known at the end of each second; of several seconds the last one is shown."""

_NAMES = {_name(column): colour for column, colour in {**_AT_END, "waiting": canvas.DRIVER}.items()}


def draw(data: TrialData) -> Specification:
    """The chart with its data."""
    rows = _rows(data)
    last = rows[-1] if rows else {"open": 0, "with_response": 0}
    step_s, at_end = canvas.step_s(data), dict.fromkeys(_AT_END, canvas.last)
    return canvas.finished(
        _chart(step_s),
        {
            "seconds": canvas.thinned(rows, step_s, **at_end),
            "stages": canvas.stage_rows(data.recording, data.seconds.num_rows),
        },
        f"Connections of the trial of {data.recording.title}: at the end of it "
        f"{last['open']} were open and {last['with_response']} of these had received a response"
        f"{_waited(rows)}",
    )


def _waited(rows: Rows) -> str:
    """How many waited at most; empty where the queue was not read."""
    queues = canvas.numbers(rows, "waiting")
    return f"; at most {wording.number(max(queues))} waited in the listen queue" if queues else ""


def _rows(data: TrialData) -> Rows:
    requested = _requested(data)
    queues = {
        row["second"]: row["listen_queue"]
        for row in canvas.chosen(data.seconds, ["second", "listen_queue"])
    }
    return [
        {
            "second": row["second"],
            "requested": wording.significant(requested.get(row["second"]), 6),
            "open": row["open"],
            "with_response": row["with_response"],
            "waiting": canvas.scaled(queues.get(row["second"]), 1),
        }
        for row in data.connections.to_pylist()
    ]


def _requested(data: TrialData) -> dict[int, float | None]:
    """Requested connections by second: the level when closed, the pool when open."""
    is_open = data.recording.load.model == "open"
    pool = data.recording.load.connections
    return {
        row["second"]: pool if is_open else row["requested_level"]
        for row in canvas.chosen(data.seconds, ["second", "requested_level"])
    }


@canvas.built_once
def _chart(step_s: int) -> Specification:
    headings = {name: heading for name, heading in COLUMNS.items() if name != "second"}
    area = (
        canvas.seconds(step_s)
        .mark_area(opacity=0.2, color=canvas.RESPONDING.light)
        .encode(x=canvas.time("middle"), y=_count("with_response"))
    )
    chart = canvas.layered(
        canvas.stage_bands(),
        area,
        _line("open", [1, 0], 2.0, step_s),
        _line("with_response", [1, 0], 2.0, step_s),
        _line("requested", [4, 4], 1.6, step_s, interpolate="step"),
        _line("waiting", [1, 0], 1.2, step_s),
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
    line = (
        canvas.seconds(step_s)
        .mark_line(
            strokeWidth=width,
            strokeDash=dash,
            strokeCap="round",
            strokeJoin="round",
            interpolate=interpolate,
        )
        .encode(x=canvas.time("middle"), y=_count(name))
    )
    return canvas.coloured(line, _name(name), among=_NAMES)
