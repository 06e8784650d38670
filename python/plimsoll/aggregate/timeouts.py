"""What latencies do not show because requests timed out.

A request that timed out has a response time that is at least the timeout: it is right-censored, as
one that the end of the load cut short is (`aggregate.unfinished`). Percentiles of the responses
leave it out. Where the share of timeouts is that of the requests beyond a percentile, or more, the
percentile of all requests is the timeout at least. So is the maximum with a single one.

Where responses took longer than the timeout, as late ones of an open load do that count from when
they were due, timeouts say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from plimsoll.aggregate.outcomes import COMPLETED, NOT_FAILED, is_timeout
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.unfinished import ROUNDING
from plimsoll.statistics.quantiles import QUANTILES

if TYPE_CHECKING:
    from collections.abc import Iterable


class Ended(Protocol):
    """Requests that ended alike."""

    @property
    def outcome(self) -> str:
        """How they ended."""
        ...

    @property
    def held(self) -> int:
        """How many of them are of the measurement window."""
        ...


@dataclass(frozen=True)
class Timeouts:
    """The requests of the measurement window that timed out.

    Attributes:
        requests: How many.
        ended: Requests of the measurement window that ended, these among them.
        timeout_ns: How long each of them took at least.
    """

    requests: int = 0
    ended: int = 0
    timeout_ns: float = 0.0

    def least_ns(self, statistic: str, measured_ns: float | None) -> float | None:
        """The least that a statistic of all requests is; None where timeouts do not tell.

        Args:
            statistic: Its name in `tables.STATISTICS`: `p99`.
            measured_ns: That of the responses; None where it is not known.
        """
        if not self.requests or self.timeout_ns <= (measured_ns or 0.0):
            return None
        quantile = 1.0 if statistic == "max" else QUANTILES.get(statistic)
        if quantile is None or self.requests < (1 - quantile) * self.ended - ROUNDING:
            return None
        return self.timeout_ns


NO_TIMEOUTS = Timeouts()
"""None of the requests timed out."""


def of_outcomes(outcomes: Iterable[Ended], completed: int, timeout_s: float | None) -> Timeouts:
    """The requests of the measurement window that timed out.

    Args:
        outcomes: Its requests by how they ended; those with a response may be left out.
        completed: Its complete responses.
        timeout_s: The timeout, in seconds; None or 0 where it is not known.
    """
    failures = [
        one for one in outcomes if one.outcome not in NOT_FAILED and one.outcome not in COMPLETED
    ]
    timed_out = sum(one.held for one in failures if is_timeout(one.outcome))
    if not timed_out or not timeout_s:
        return NO_TIMEOUTS
    ended = completed + sum(one.held for one in failures)
    return Timeouts(timed_out, ended, timeout_s * SECOND_NS)
