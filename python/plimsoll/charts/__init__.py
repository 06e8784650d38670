"""Charts: one module each, `draw(data)` gives a Vega-Lite specification with its data inside.

Beside `draw` a chart's module says what a page needs around the picture: `NAME` (its anchor and
file name), `TITLE`, `CAPTION` (how to read it), `TABLE` (which data set is the table beneath it)
and `COLUMNS` (its columns with their headings).
"""

from types import ModuleType

from plimsoll.charts import comparison, connections, cpu, memory, response_time, throughput

Chart = ModuleType
"""A chart's module."""

OF_A_TRIAL = (throughput, response_time, cpu, memory, connections)
"""Charts drawn from a `TrialData`, in the order of a page."""

CHARTS = (*OF_A_TRIAL, comparison)
"""Every chart; the last one is drawn from a `Ranking`."""

__all__ = [
    "CHARTS",
    "OF_A_TRIAL",
    "Chart",
    "comparison",
    "connections",
    "cpu",
    "memory",
    "response_time",
    "throughput",
]
