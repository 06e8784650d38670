"""Groups points of metrics, one line each, to requests; k6 writes several lines per request.

The points of a request are adjacent, the first is always of the same metric, and all have the same
timestamp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Numbers = np.ndarray[Any, Any]

METRIC, INSTANT, VALUE = "metric_name", "timestamp", "metric_value"
"""Names of the columns of every point."""

NOT_SAID = -1
"""Value of a metric without a point in a request."""


def untorn(blocks: Iterator[Mapping[str, pa.Array]], first: str, most: int) -> Iterator[pa.Table]:
    """The points of a file in blocks that end between two requests.

    Args:
        blocks: The points, block by block.
        first: Metric of the first point of a request.
        most: Maximum number of points of a request.
    """
    held: pa.Table | None = None
    for block in blocks:
        read = pa.table(dict(block))
        joined = read if held is None else pa.concat_tables([held, read])
        tail = max(len(joined) - most, 0)
        begun = np.flatnonzero(is_of(joined.slice(tail), first))
        end = tail + int(begun[-1]) if len(begun) else len(joined)
        held = joined.slice(end)
        yield joined.slice(0, end)
    if held is not None:
        yield held


def is_of(points: pa.Table, metric: str) -> Numbers:
    """Which points are of a metric."""
    return pc.equal(points[METRIC].cast(pa.string()), metric).to_numpy()


def values(points: pa.Table, starts: Numbers, metric: str) -> Numbers:
    """The value of a metric for each request.

    Args:
        points: Points that end between two requests.
        starts: Index of each request's first point.
        metric: The metric.

    Returns:
        `NOT_SAID` for a request without such a point.
    """
    found = np.full(len(starts), NOT_SAID, np.int64)
    rows = np.flatnonzero(is_of(points, metric))
    owners = np.searchsorted(starts, rows, "right") - 1
    instants = points[INSTANT].to_numpy()
    if len(starts):
        own = (owners >= 0) & (instants[rows] == instants[starts[owners]])
        found[owners[own]] = points[VALUE].to_numpy()[rows[own]]
    return found


def latest(points: pa.Table, starts: Numbers, metric: str, before: int) -> Numbers:
    """The last value of a metric before each request.

    Args:
        points: Points that end between two requests.
        starts: Index of each request's first point.
        metric: The metric.
        before: Its last value before these points, or `NOT_SAID`.
    """
    rows = np.flatnonzero(is_of(points, metric))
    known = np.concatenate([[before], points[VALUE].to_numpy()[rows]])
    return known[np.searchsorted(rows, starts)]


def others(points: pa.Table, metrics: Sequence[str]) -> int:
    """Number of points of other metrics."""
    known = pc.is_in(points[METRIC].cast(pa.string()), value_set=pa.array(metrics, pa.string()))
    return len(points) - (pc.sum(known).as_py() or 0)
