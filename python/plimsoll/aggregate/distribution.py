"""Quantiles: the distribution of one time of a trial, over its holds, from every row.

They lie densely where a plot of latency needs them: evenly on a logarithmic axis of 1 / (1 − q), as
plots of HdrHistogram have it. Each is exact (`percentiles`), and given only where at least ten rows
lie above it.

Source:
    G. Tene, *HdrHistogram*, percentile distribution plots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import percentiles, query
from plimsoll.aggregate.summaries import HELD_ANSWERS, TIMES

if TYPE_CHECKING:
    from plimsoll.aggregate.query import Rows
    from plimsoll.recording import Recording

STEPS = 12
"""Quantiles of each decade of 1 / (1 − q)."""

DECADES = 6
"""Decades of 1 / (1 − q): the last quantile is 99.9999 %."""

GRID = tuple(round(1 - 10 ** (-step / STEPS), 9) for step in range(STEPS * DECADES + 1))
"""The quantiles that are looked for."""

TOLD = ("response_time", "service_time")
"""Times of which the first one that is known is kept."""


@dataclass(frozen=True)
class Quantile:
    """One quantile of a time.

    Attributes:
        time: `response_time`, or `service_time` where the intended starts are unknown.
        quantile: Share of the responses that took no longer, from 0 to 1.
        value_ns: How long they took at most.
    """

    time: str
    quantile: float
    value_ns: int


def of_trial(recording: Recording, requests: Rows) -> pa.Table:
    """The rows of `tables.QUANTILES` of a trial; none where no response is known.

    Args:
        recording: The recording.
        requests: Its table `requests`.
    """
    with query.opened(recording.holds, requests=requests) as database:
        for time in TOLD:
            found = percentiles.values(database, TIMES[time], HELD_ANSWERS, GRID)
            if found:
                columns = {
                    "trial": [recording.trial] * len(found),
                    "time": [time] * len(found),
                    "quantile": list(found),
                    "value_ns": list(found.values()),
                }
                return pa.table(columns, schema=tables.QUANTILES.schema)
    return tables.QUANTILES.schema.empty_table()


def of_rows(table: pa.Table) -> tuple[Quantile, ...]:
    """The quantiles in rows of `tables.QUANTILES`."""
    rows = table.select(["time", "quantile", "value_ns"]).to_pylist()
    return tuple(Quantile(**row) for row in rows)
