"""Memory: what the server's processes held in each second, shared pages counted in two ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas, wording
from plimsoll import vega_lite as alt

if TYPE_CHECKING:
    from plimsoll.canvas import Rows, Specification
    from plimsoll.findings.trial import TrialData

NAME = "memory"
TITLE = "Memory"
CAPTION = (
    "Memory of the server's processes: RSS counts shared pages once per process, PSS once "
    "in total. The dashed line is the server at rest, before the load."
)
TABLE = "seconds"
COLUMNS = {
    "second": "second",
    "rss": "server RSS, MB",
    "pss": "server PSS, MB",
    "driver": "load generator RSS, MB",
}

_FIELDS = {"server_rss_bytes": "rss", "server_pss_bytes": "pss", "driver_rss_bytes": "driver"}
_NAMES = {
    "RSS": canvas.SERVER,
    "PSS": canvas.RESPONDING,
    "load generator RSS": canvas.DRIVER,
}


def draw(data: TrialData) -> Specification:
    """The chart with its data."""
    rows: Rows = [
        {
            "second": row["second"],
            **{name: canvas.scaled(row[column], 1e6) for column, name in _FIELDS.items()},
        }
        for row in canvas.chosen(data.memory, ["second", *_FIELDS])
    ]
    peak = max(canvas.numbers(rows, "rss"), default=0)
    step_s = canvas.step_s(data)
    return canvas.finished(
        _chart(step_s),
        {
            "seconds": canvas.thinned(rows, step_s),
            "stages": canvas.stage_rows(data.recording, data.seconds.num_rows),
            "rest": _rest_rows(data),
        },
        f"Memory of the server of {data.recording.title}: at most {wording.number(peak)} MB (RSS)",
    )


def _rest_rows(data: TrialData) -> Rows:
    server = data.recording.server
    if server is None or server.rest_rss_bytes is None:
        return []
    value = wording.significant(server.rest_rss_bytes / 1e6, 3)
    return [{"value": value, "text": f"at rest {wording.number(value)} MB"}]


@canvas.built_once
def _chart(step_s: int) -> Specification:
    headings = {name: heading for name, heading in COLUMNS.items() if name != "second"}
    chart = canvas.layered(
        canvas.stage_bands(),
        _line("driver", "load generator RSS", 1.2, step_s),
        _line("pss", "PSS", 2.0, step_s),
        _line("rss", "RSS", 2.0, step_s),
        _rest(),
        canvas.cursor(headings, "memory_second", step_s),
    ).properties(width=canvas.WIDTH_PX, height=130)
    return canvas.styled(chart)


def _megabytes(column: str) -> alt.Y:
    return alt.Y(
        f"{column}:Q", title="MB", scale=alt.Scale(zero=True), axis=alt.Axis(format=canvas.NUMBERS)
    )


def _line(column: str, name: str, width: float, step_s: int) -> alt.Chart:
    line = (
        canvas.seconds(step_s)
        .mark_line(strokeWidth=width, strokeCap="round", strokeJoin="round")
        .encode(x=canvas.time("middle"), y=_megabytes(column))
    )
    return canvas.coloured(line, name, among=_NAMES)


def _rest() -> alt.LayerChart:
    y = _megabytes("value")
    line = (
        alt.Chart(alt.NamedData(name="rest"))
        .mark_rule(strokeDash=[2, 3], color=canvas.MUTED.light)
        .encode(y=y)
    )
    return canvas.layered(line, canvas.labelled("rest", y, canvas.MUTED, baseline="top", dy=4))
