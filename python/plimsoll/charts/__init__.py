"""Charts: one module each, `draw(data)` gives a Vega-Lite specification with its data inside.

Beside `draw` a chart's module has what a page needs around the picture: `NAME` (its anchor and
file name), `TITLE`, `CAPTION` (how to read it), `TABLE` (which data set is the table beneath it)
and `COLUMNS` (its columns with their headings).
"""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from plimsoll import canvas
from plimsoll.charts import (
    against_latency,
    comparison,
    connections,
    cpu,
    density,
    distribution,
    heat_map,
    history,
    ladder,
    latency_over_rate,
    line_ranking,
    load_line,
    machine_speed,
    memory,
    over_connections,
    response_time,
    throughput,
)

if TYPE_CHECKING:
    from plimsoll.findings.trial import TrialData

Chart = ModuleType
"""A chart's module."""

OF_A_TRIAL = (throughput, machine_speed, response_time, heat_map, cpu, memory, connections)
"""Charts drawn from a `TrialData`, in the order of a page."""

OF_DISTRIBUTIONS = (distribution, density)
"""Charts drawn from `Distributions`, in the order of a page."""

CHARTS = (
    *(*OF_A_TRIAL, comparison, *OF_DISTRIBUTIONS),
    *(against_latency, over_connections, history, load_line, line_ranking),
    *(ladder, latency_over_rate),
)
"""Every chart. Those that are not of a trial are drawn from:

- `comparison`: a `Ranking`
- `against_latency`: an `AgainstLatency`
- `over_connections`: a `ConnectionsSeries`
- `history`: a `Series` of a history
- `load_line`: a `Searched`
- `line_ranking`: a `LineRanking`
- `ladder`: a `LadderRanking`
- `latency_over_rate`: a `RateCurves`
"""


def drawn(data: TrialData) -> tuple[Chart, ...]:
    """The charts of a trial for which there is something to draw, in the order of a page."""
    without = {chart for chart in OF_A_TRIAL if _is_empty(chart, data)}
    return tuple(chart for chart in OF_A_TRIAL if chart not in without)


def left_out(data: TrialData) -> str:
    """What to say of the charts that are left out; empty when there are none.

    Nothing of the machine's speed: no driver records it, and an older recording has none.
    """
    named = (chart for chart in OF_A_TRIAL if chart is not machine_speed)
    titles = [f"`{chart.TITLE}`" for chart in named if chart not in drawn(data)]
    if not titles:
        return ""
    name = data.recording.driver_name
    return f"not drawn: {', '.join(titles)}; `{name}` does not record the data they need"


def joined(data: TrialData) -> str:
    """What to say of seconds that share a column of a chart; empty when each has its own."""
    step_s = canvas.step_s(data)
    if step_s == 1:
        return ""
    return (
        f"each column of a chart is {step_s} seconds: the mean of their throughput and failures, "
        "with a line from the lowest to the highest second; the highest second of times, CPU and "
        "memory; connections at the end of the last second"
    )


def _is_empty(chart: Chart, data: TrialData) -> bool:
    """Whether the driver of a trial records nothing of what a chart shows."""
    driver = data.recording.driver
    if chart is machine_speed:
        speeds = (data.machine_speed[name] for name in _SPEEDS)
        return all(speed.null_count == len(speed) for speed in speeds)
    if chart is connections:
        closes_unknown = data.summary is not None and data.summary.connections_peak_open is None
        return driver is not None and (not driver.has_connects or closes_unknown)
    if chart in _READ and data.recording.load.model == "unknown":
        return all(_is_null(data, name) for name in _READ[chart])
    counts = data.seconds["completed"]
    if chart is heat_map and not data.latencies.num_rows:
        return counts.null_count > 0 or bool(pc.sum(counts).as_py())
    return chart in (throughput, response_time) and 0 < len(counts) == counts.null_count


def _is_null(data: TrialData, column: str) -> bool:
    values = data.seconds[column]
    return values.null_count == len(values)


_SPEEDS = ("driver_speed_ratio", "control_speed_ratio")

_READ = {
    cpu: ("server_busy_cores", "driver_busy_cores", "machine_busy_cores"),
    memory: ("server_rss_bytes", "driver_rss_bytes"),
}
"""Columns that charts of resources show, of which a recording of another tool may have none."""

__all__ = [
    "CHARTS",
    "OF_A_TRIAL",
    "OF_DISTRIBUTIONS",
    "Chart",
    "against_latency",
    "comparison",
    "connections",
    "cpu",
    "density",
    "distribution",
    "drawn",
    "heat_map",
    "history",
    "joined",
    "ladder",
    "latency_over_rate",
    "left_out",
    "line_ranking",
    "load_line",
    "machine_speed",
    "memory",
    "over_connections",
    "response_time",
    "throughput",
]
