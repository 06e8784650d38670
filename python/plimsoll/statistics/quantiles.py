"""Quantiles: which are reported, what they are, and from how many values.

The quantile q of n values is the smallest of them that at least q · n of them do not exceed: a
value that was really measured, never one between two. It is given only for n ≥ 10 / (1 − q), so
that ten rows or more lie above it: 1,000 rows for the 99th percentile, 10,000 for the 99.9th.

Source:
    R. J. Hyndman and Y. Fan, *Sample Quantiles in Statistical Packages*, The American Statistician
    50(4), 1996, definition 1 (inverse of the empirical distribution).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

QUANTILES: Mapping[str, float] = {
    "p25": 0.25,
    "p50": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p95": 0.95,
    "p99": 0.99,
    "p999": 0.999,
    "p9999": 0.9999,
}
"""Quantiles by the names they have in columns."""

ROWS_ABOVE = 10
"""A quantile is given only when at least so many rows are expected above it."""


def enough(rows: int, quantile: float) -> bool:
    """Whether so many rows determine a quantile."""
    return round(rows * (1 - quantile), 6) >= ROWS_ABOVE


def rows_needed(quantile: float) -> int:
    """From how many rows on a quantile is given."""
    return math.ceil(round(ROWS_ABOVE / (1 - quantile), 6))


def rank(rows: int, quantile: float) -> int:
    """Place of a quantile among so many values in rising order, from 1."""
    return max(1, math.ceil(round(quantile * rows, 6)))
