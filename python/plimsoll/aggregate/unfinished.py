"""What latencies do not show because the load ended before the responses came.

A request in flight at the end of a load has a response time that is at least as long as it had
waited: it is right-censored. Percentiles of the responses leave it out. Usually that changes
nothing, because such a request has waited for less than a response takes. A server that hangs
before the end of an open load leaves many that waited for longer. Percentiles of all requests are
then bounded from below: each unfinished request is taken as if it had ended with the load.

A percentile counts as hidden if that bound is at least twice the percentile of the responses, and
if most of what is beyond it is unfinished or timed out: a request that timed out took as long as
the timeout at least. The wait is the one since the request was sent, which is
no longer than the one since it was due. The longest stall of the load generator in these waits is
subtracted, because it read no response meanwhile.

Source: E. L. Kaplan and P. Meier, Nonparametric estimation from incomplete observations, JASA
53(282), 1958, on right-censored observations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.aggregate.outcomes import UNENDED, is_timeout
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.statistics.quantiles import QUANTILES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.aggregate.trial import Tables

FACTOR = 2
"""A percentile is hidden where it is so many times that of the responses, or more."""
ROUNDING = 1e-6
"""Of a number of requests that is computed from a share."""


@dataclass(frozen=True)
class Unfinished:
    """What the requests that were in flight at the end of a load hide of its latencies.

    Attributes:
        requests: How many had waited for longer than `FACTOR` times a percentile that they hide.
        longest_ns: How long the first of them had waited.
        at_least_ns: The least that each hidden percentile is, by the suffix of its column; with
            `max`, the longest wait.
    """

    requests: int = 0
    longest_ns: int = 0
    at_least_ns: Mapping[str, float] = field(default_factory=dict[str, float])


NOTHING = Unfinished()
"""Nothing is hidden."""


def of_trial(tables: Tables) -> Unfinished:
    """What requests that the end of the load cut short hide of its latencies.

    Args:
        tables: The tables of the trial.
    """
    waiting = tables.still_waiting(0)
    if not waiting.requests or not _ends_with_hold(tables):
        return NOTHING
    ended = sum(row.held for row in tables.outcome_counts if row.outcome not in UNENDED)
    total = waiting.requests + ended
    own_ns = _own_pause_ns(tables, waiting.longest_ns)
    timed_out = _timed_out(tables)
    hidden: dict[str, float] = {}
    for name, quantile in QUANTILES.items():
        beyond = (1 - quantile) * total
        measured_ns = tables.summary.response_time.of(name)
        if measured_ns and waiting.requests + timed_out > beyond / 2:
            from_ns = int(FACTOR * measured_ns) + own_ns
            if from_ns <= waiting.longest_ns and _is_hidden(tables, from_ns, beyond, timed_out):
                hidden[name] = beyond
    if not hidden:
        return NOTHING
    longest_ns = tables.longest_times_ns()
    found = {
        name: float(longest_ns[-math.ceil(beyond - ROUNDING)] - own_ns)
        for name, beyond in hidden.items()
    }
    shortest_ns = min(tables.summary.response_time.of(name) or 0.0 for name in found)
    requests = tables.still_waiting(int(FACTOR * shortest_ns) + own_ns).requests
    most_ns = waiting.longest_ns - own_ns
    return Unfinished(requests, most_ns, found | {"max": float(most_ns)})


def _ends_with_hold(tables: Tables) -> bool:
    """Whether the load ended in the measurement window, so that what is in flight is of it."""
    stages, holds = tables.recording.stages, tables.recording.holds
    return bool(holds) and holds[-1].end_ns == stages[-1].end_ns


def _is_hidden(tables: Tables, from_ns: int, beyond: float, timed_out: int) -> bool:
    """Whether so many requests took or waited for so long, and most of them had no response."""
    unfinished = tables.still_waiting(from_ns).requests
    slower = tables.slower_than(from_ns)
    timeout_ns = (tables.recording.load.timeout_s or 0.0) * SECOND_NS
    without_response = unfinished + (timed_out if timeout_ns >= from_ns else 0)
    return without_response > (unfinished + slower) / 2 and unfinished + slower >= beyond


def _timed_out(tables: Tables) -> int:
    """Requests of the measurement window that timed out."""
    return sum(row.held for row in tables.outcome_counts if is_timeout(row.outcome))


def _own_pause_ns(tables: Tables, longest_ns: int) -> int:
    """How long a thread of the load generator did not look while requests waited at the end."""
    end_ns = tables.recording.stages[-1].end_ns
    pauses_s = [
        pause_s
        for (start, end), pause_s in tables.usage.intervals("driver", "longest_pause_s")
        if start < end_ns and end > end_ns - longest_ns
    ]
    return round(max(pauses_s, default=0.0) * SECOND_NS)
