"""True times of a server, computed without the engine; pure functions of numbers.

Source:
    Quantiles as everywhere in Plimsoll: definition 1 of R. J. Hyndman and Y. Fan, *Sample Quantiles
    in Statistical Packages*, The American Statistician 50(4), 1996.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.statistics.quantiles import enough

if TYPE_CHECKING:
    from collections.abc import Mapping

    Times = np.ndarray[tuple[int], np.dtype[np.int64]]
    """Times or instants in nanoseconds."""

QUANTILES: Mapping[str, float] = {
    "p50": 0.5,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p999": 0.999,
    "max": 1.0,
}
"""The compared statistics, by name."""


@dataclass(frozen=True)
class Stall:
    """Stalls of a server at the end of every period.

    Attributes:
        duration_ns: Length of a stall.
        period_ns: From the end of one stall to the end of the next.
    """

    duration_ns: int
    period_ns: int

    def waits(self, arrivals_ns: Times) -> Times:
        """The wait of requests for the end of a stall.

        Args:
            arrivals_ns: Their arrivals since the start of the server.

        Returns:
            For each the rest of the stall in which it arrives; 0 outside of stalls.
        """
        left_ns = self.period_ns - arrivals_ns % self.period_ns
        return np.where(left_ns <= self.duration_ns, left_ns, 0)

    def quantile(self, quantile: float) -> float:
        """The quantile of the wait of evenly spaced arrivals.

        Args:
            quantile: From 0 to 1.

        Returns:
            Nanoseconds; 0 for the share outside of stalls.
        """
        return max(0.0, self.duration_ns - (1 - quantile) * self.period_ns)


def quantile(values: Times, share: float) -> int:
    """The smallest value that at least this share of the values does not exceed.

    Args:
        values: At least one, in any order.
        share: From 0 to 1.
    """
    rank = max(1, math.ceil(round(share * len(values), 6)))
    return int(np.partition(values, rank - 1)[rank - 1])


def quantiles(values: Times) -> dict[str, int]:
    """The statistics that this number of values determines, by name; none without values."""
    return {name: quantile(values, QUANTILES[name]) for name in determined(len(values))}


def determined(count: int) -> list[str]:
    """Names of the statistics that a number of values determines, always including the maximum."""
    if not count:
        return []
    return [name for name, share in QUANTILES.items() if name == "max" or enough(count, share)]


def quantile_of_sums(first: Times, second: Times, share: float) -> int:
    """Quantile of the sums of all pairs of values, each pair equally likely.

    This is the quantile of the total of two independent times.

    Args:
        first: At least one value.
        second: At least one value.
        share: From 0 to 1.

    Returns:
        The quantile, exact to the nanosecond.
    """
    ordered = np.sort(second)
    low, high = int(first.min() + ordered[0]), int(first.max() + ordered[-1])
    while low < high:
        middle = (low + high) // 2
        below = np.searchsorted(ordered, middle - first, side="right").mean() / len(ordered)
        low, high = (low, middle) if below >= share - _ROUNDING else (middle + 1, high)
    return low


_ROUNDING = 1e-12
"""Rounding error of a sum of shares."""
