"""CPU: cores kept busy by server and driver, with the cores each of them had as its limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from plimsoll.canvas import Row, Rows, Specification
    from plimsoll.findings.trial import TrialData
    from plimsoll.recording import Recording

NAME = "cpu"
TITLE = "CPU"
CAPTION = (
    "Busy cores in each second: server, load generator and whole host. A dashed line is "
    "the number of cores available to one of them: a server at its line is saturated; a "
    "load generator near its line limits the measurement. Strip above: the stronger its "
    "contrast, the higher the requested level."
)
TABLE = "seconds"
COLUMNS = {
    "second": "second",
    "server": "server, cores",
    "driver": "load generator, cores",
    "machine": "host, cores",
    "requested_level": "requested level",
}

ROOM = 1.35
"""Share of a limit up to which the axis reaches at least: its label stands above its line."""

_FIELDS = {
    "server_busy_cores": "server",
    "driver_busy_cores": "driver",
    "machine_busy_cores": "machine",
}
_NAMES = {
    "server": canvas.SERVER,
    "load generator": canvas.DRIVER,
    "host": canvas.MACHINE,
}


def draw(data: TrialData) -> Specification:
    """The chart with its data."""
    requested = canvas.levels(data.seconds)
    rows: Rows = [
        {
            "second": row["second"],
            **{name: wording.significant(row[column], 3) for column, name in _FIELDS.items()},
            "requested_level": level,
        }
        for row, level in zip(
            canvas.chosen(data.seconds, ["second", *_FIELDS]), requested, strict=True
        )
    ]
    limits, step_s = _limit_rows(data), canvas.step_s(data)
    return canvas.finished(
        _chart(canvas.level_name(data.recording), step_s),
        {
            "seconds": canvas.thinned(canvas.loaded_until(rows, data.recording), step_s),
            "stages": canvas.stage_rows(data.recording, data.seconds.num_rows),
            "level": canvas.level_rows(data.recording, requested),
            "limits": limits,
        },
        f"Busy cores of server and load generator in the trial of {data.recording.title}; "
        + (", ".join(canvas.texts(limits, "text")) or "the cores they had are not known"),
    )


def _limit_rows(data: TrialData) -> Rows:
    recording = data.recording
    server = _server_cores(recording)
    driver = len(recording.driver.cores) if recording.driver else 0
    if server and server == driver:
        return [_limit(server, "server and load generator had", " each")]
    limits = [(server, "server had"), (driver, "load generator had")]
    known = [_limit(cores, who) for cores, who in limits if cores]
    return known or [_limit(cores, "the host had") for cores in _machine_cores(recording)]


def _server_cores(recording: Recording) -> int:
    """Cores that the server was given, or that the user stated; 0 if unknown."""
    server = recording.server
    if server is None:
        return 0
    return len(server.cores) or (server.workers if recording.found_running else 0)


def _machine_cores(recording: Recording) -> list[int]:
    """Cores of the one machine, for a side that was not confined to some of them."""
    known = [facts.get("cores") for facts in recording.machines.values()]
    cores = [len(one) if isinstance(one, list) else 0 for one in known]
    return [number for number in cores if number] if len(cores) == 1 else []


def _limit(cores: int, who: str, ending: str = "") -> Row:
    noun = "core" if cores == 1 else "cores"
    return {
        "cores": cores,
        "room": wording.significant(cores * ROOM, 3),
        "text": f"{who} {cores} {noun}{ending}",
    }


@canvas.built_once
def _chart(level: str, step_s: int) -> Specification:
    headings = {
        "server": "server",
        "driver": "load generator",
        "machine": "host",
        "requested_level": level,
    }
    area = (
        canvas.seconds(step_s)
        .mark_area(opacity=0.15, color=canvas.SERVER.light)
        .encode(x=canvas.time("middle"), y=_cores("server"))
    )
    chart = canvas.layered(
        canvas.stage_bands(),
        canvas.level_strip(step_s),
        area,
        _line("machine", "host", 1.0, step_s),
        _line("server", "server", 2.0, step_s),
        _line("driver", "load generator", 2.0, step_s),
        _limits(),
        canvas.cursor(headings, "cpu_second", step_s),
    ).properties(width=canvas.WIDTH_PX, height=150)
    return canvas.styled(chart)


def _cores(column: str) -> alt.Y:
    return alt.Y(f"{column}:Q", title="busy cores", scale=alt.Scale(zero=True))


def _line(column: str, name: str, width: float, step_s: int) -> alt.Chart:
    line = (
        canvas.seconds(step_s)
        .mark_line(strokeWidth=width, strokeCap="round", strokeJoin="round")
        .encode(x=canvas.time("middle"), y=_cores(column))
    )
    return canvas.coloured(line, name, among=_NAMES)


def _limits() -> alt.LayerChart:
    limits = alt.Chart(alt.NamedData(name="limits"))
    line = limits.mark_rule(strokeDash=[5, 4], color=canvas.INK.light).encode(y=_cores("cores"))
    room = limits.mark_rule(opacity=0).encode(y=_cores("room"))
    return canvas.layered(line, room, canvas.labelled("limits", _cores("cores"), canvas.INK))
