"""Which slow requests are the work of a stall, and which may be slow by themselves.

A worker that stands still delays the requests of all its connections, and they end together when it
goes on. A connection that stalls again and again delays its own. Requests that are slow by
themselves, a cache miss or a rare query, do neither more often than by chance: see
`statistics.clustering`.

Workers of one connection each that stall apart from each other, now on one connection and now on
another, cannot be told from such requests: their rows are the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from plimsoll import statistics
from plimsoll.aggregate import query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.query import Rows
    from plimsoll.aggregate.usage import Window
    from plimsoll.recording import Recording


@dataclass(frozen=True)
class StallClusters:
    """Slow requests that come together more often than by chance.

    Attributes:
        released: When each of those was sent and ended that ended together more often; None if
            all of them are too few to tell.
        gathered: The same of those that are on the same connections more often.
    """

    released: list[Window] | None
    gathered: list[Window]


def beyond_chance(recording: Recording, requests: Rows, stalled: Sequence[Window]) -> StallClusters:
    """The slow requests that end together, or share a connection, more often than by chance.

    Args:
        recording: The recording.
        requests: Its requests.
        stalled: When each slow request was sent, and when it ended.
    """
    starts, ends = np.array(stalled, np.float64).reshape(-1, 2).T
    together = statistics.clustering.in_time(ends, ends - starts, float(recording.held_ns))
    released = None if together is None else list(compress(stalled, together))
    responses, slow = _connections(recording, requests, stalled)
    if not responses:
        return StallClusters(released, [])
    counts = np.array([len(one) for one in slow], np.float64)
    full = statistics.clustering.in_places(counts, np.array(responses, np.float64) / sum(responses))
    return StallClusters(released, list(chain.from_iterable(compress(slow, full))))


def _connections(
    recording: Recording, requests: Rows, stalled: Sequence[Window]
) -> tuple[list[int], list[list[Window]]]:
    """Complete responses, and those that stalled, of each connection that a row names."""
    known = set(stalled)
    shortest_ns = min((end - start for start, end in stalled), default=0)
    with query.opened(recording.holds, requests=requests) as database:
        rows = database.execute(query.text("stalled_on"), {"least_ns": shortest_ns}).fetchall()
    slow = [list(zip(sent or (), done or (), strict=True)) for _, sent, done in rows]
    return [int(row[0]) for row in rows], [[one for one in of if one in known] for of in slow]
