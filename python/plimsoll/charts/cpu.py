"""CPU: cores kept busy by server and driver, with the cores each of them had as its limit."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import altair as alt

from plimsoll import canvas

if TYPE_CHECKING:
    from plimsoll.canvas import Rows, Specification, TrialData
    from plimsoll.recording import Recording

NAME = "cpu"
TITLE = "CPU"
CAPTION = (
    "Cores kept busy in each second by the server's processes, by the driver and on the whole "
    "machine. A dashed line is the number of cores one of them had: a server at its line is at "
    "its limit; a driver near its line measures itself."
)
TABLE = "seconds"
COLUMNS = {
    "second": "second",
    "server": "server, cores",
    "driver": "driver, cores",
    "machine": "whole machine, cores",
}

_FIELDS = {
    "server_busy_cores": "server",
    "driver_busy_cores": "driver",
    "machine_busy_cores": "machine",
}
_NAMES = {
    "server": canvas.SERVER,
    "driver": canvas.DRIVER,
    "whole machine": canvas.MACHINE,
}


def draw(data: TrialData) -> Specification:
    """The chart with its data."""
    rows: Rows = [
        {
            "second": row["second"],
            **{name: canvas.significant(row[column], 3) for column, name in _FIELDS.items()},
        }
        for row in canvas.chosen(data.seconds, ["second", *_FIELDS])
    ]
    limits = _limit_rows(data)
    return canvas.finished(
        _chart(),
        {"seconds": rows, "stages": canvas.stage_rows(data.recording), "limits": limits},
        f"Busy cores of server and driver in the trial of {data.recording.title}; "
        + (", ".join(row["text"] for row in limits) or "the cores they had are not known"),
    )


def _limit_rows(data: TrialData) -> Rows:
    recording = data.recording
    server = len(recording.server.cores) if recording.server else 0
    driver = len(recording.driver.cores) if recording.driver else 0
    if server and server == driver:
        return [_limit(server, "server and driver had", " each")]
    limits = [(server, "server had"), (driver, "driver had")]
    known = [_limit(cores, who) for cores, who in limits if cores]
    return known or [_limit(cores, "the machine had") for cores in _machine_cores(recording)]


def _machine_cores(recording: Recording) -> list[int]:
    """Cores of the one machine, for who was not confined to some of them."""
    cores = [len(facts.get("cores") or ()) for facts in recording.machines.values()]
    return [number for number in cores if number] if len(cores) == 1 else []


def _limit(cores: int, who: str, ending: str = "") -> dict[str, object]:
    noun = "core" if cores == 1 else "cores"
    return {"cores": cores, "text": f"{who} {cores} {noun}{ending}"}


@cache
def _chart() -> Specification:
    headings = {"server": "server", "driver": "driver", "machine": "whole machine"}
    area = (
        canvas.seconds()
        .mark_area(opacity=0.15, color=canvas.SERVER.light)
        .encode(x=canvas.time("middle"), y=_cores("server"))
    )
    chart = canvas.layered(
        canvas.stage_bands(),
        area,
        _line("machine", "whole machine", 1.0),
        _line("server", "server", 2.0),
        _line("driver", "driver", 2.0),
        _limits(),
        canvas.cursor(headings, "cpu_second"),
    ).properties(width=canvas.WIDTH_PX, height=150)
    return canvas.styled(chart)


def _cores(column: str) -> alt.Y:
    return alt.Y(f"{column}:Q", title="busy cores", scale=alt.Scale(zero=True))


def _line(column: str, name: str, width: float) -> alt.Chart:
    return (
        canvas.seconds()
        .mark_line(strokeWidth=width, strokeCap="round", strokeJoin="round")
        .encode(
            x=canvas.time("middle"), y=_cores(column), color=canvas.colour_of(name, among=_NAMES)
        )
    )


def _limits() -> alt.LayerChart:
    line = (
        alt.Chart(alt.NamedData(name="limits"))
        .mark_rule(strokeDash=[5, 4], color=canvas.INK.light)
        .encode(y=_cores("cores"))
    )
    return canvas.layered(line, canvas.labelled("limits", _cores("cores"), canvas.INK))
