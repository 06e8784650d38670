"""Charts: one module each, `draw(data)` gives a Vega-Lite specification with its data inside.

Beside `draw` a chart's module says what a page needs around the picture: `NAME` (its anchor and
file name), `TITLE`, `CAPTION` (how to read it), `TABLE` (which data set is the table beneath it)
and `COLUMNS` (its columns with their headings).
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

from plimsoll.charts import (
    comparison,
    connections,
    cpu,
    memory,
    over_connections,
    response_time,
    throughput,
)

if TYPE_CHECKING:
    from plimsoll.canvas import TrialData

Chart = ModuleType
"""A chart's module."""

OF_A_TRIAL = (throughput, response_time, cpu, memory, connections)
"""Charts drawn from a `TrialData`, in the order of a page."""

CHARTS = (*OF_A_TRIAL, comparison, over_connections)
"""Every chart; the last two are drawn from a `Ranking`, and from a `Series` over connections."""


def drawn(data: TrialData) -> tuple[Chart, ...]:
    """The charts of a trial for which there is something to draw, in the order of a page."""
    without = {chart for chart in OF_A_TRIAL if _is_empty(chart, data)}
    return tuple(chart for chart in OF_A_TRIAL if chart not in without)


def left_out(data: TrialData) -> str:
    """What to say of the charts that are left out; empty when there are none."""
    titles = [f"`{chart.TITLE}`" for chart in OF_A_TRIAL if chart not in drawn(data)]
    if not titles:
        return ""
    name = data.recording.driver_name
    return f"not drawn: {', '.join(titles)}; `{name}` does not say what they would show"


def _is_empty(chart: Chart, data: TrialData) -> bool:
    """Whether the driver of a trial says nothing of what a chart shows."""
    driver = data.recording.driver
    if chart is connections:
        closed = (data.summary or {}).get("connections_peak_open", 0)
        return driver is not None and (not driver.connects_said or closed is None)
    if chart in _READ and data.recording.load.get("model") == "unknown":
        return all(_is_null(data, name) for name in _READ[chart])
    counts = data.seconds["completed"]
    return chart in (throughput, response_time) and 0 < len(counts) == counts.null_count


def _is_null(data: TrialData, column: str) -> bool:
    values = data.seconds[column]
    return values.null_count == len(values)


_READ = {
    cpu: ("server_busy_cores", "driver_busy_cores", "machine_busy_cores"),
    memory: ("server_rss_bytes", "driver_rss_bytes"),
}
"""Columns that charts of resources show, of which a recording of another tool may have none."""

__all__ = [
    "CHARTS",
    "OF_A_TRIAL",
    "Chart",
    "comparison",
    "connections",
    "cpu",
    "drawn",
    "left_out",
    "memory",
    "over_connections",
    "response_time",
    "throughput",
]
