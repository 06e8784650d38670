"""Stalls: what the service times of a closed load hide, and an estimate of how much that is.

In the closed model a connection that waits sends nothing. While a server stalls, the few
requests in flight wait and are counted, once each; all those that a schedule would have sent
meanwhile are never sent, and their waits are in no percentile.

A stall is a stretch of a hold, longer than `LEAST_NS`, in which requests waited and no response
came. A request that arrives in a stall gets no response before its end. So of requests that
arrive evenly over the holds, the share that waits longer than x is at least

    P(W > x) = Σ max(0, g − x) / T

over the stalls of length g, where T is the length of the holds; its quantiles are what is given
here. They are estimates and a lower bound: that requests pile up during a stall and are served
one after the other behind it is left out. Stalls of single connections are found apart: a request
that arrives on a connection picked at random waits as above, with T times the connections for T.
They are never part of a measured percentile. Requests that are slow by themselves look like them,
one by one; `stall_clusters` tells them apart.

Source:
    The wait of an arrival at a random instant until the next event: W. Feller, *An Introduction to
    Probability Theory and Its Applications*, volume II, 1971, section I.4 (the waiting time
    paradox). That a closed loop leaves such waits out: G. Tene, README of `giltene/wrk2`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np
import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import disturbance, query
from plimsoll.aggregate.engine_records import EngineRecords

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.aggregate.query import Rows
    from plimsoll.aggregate.usage import Usage, Values, Window
    from plimsoll.recording import Recording

LEAST_NS = 1_000_000
"""Shorter stretches without a response are left out; estimates below it are not given."""

STALL_NS = 10_000_000
"""A shorter wait may be the work of a scheduler."""

STALL_TIMES = 10
"""A response that takes fewer times the median of its request type need not have stalled."""

MOST_STALLS = 20_000
"""So many stalls of single connections are looked at, the longest first."""

LIKELY = 0.5
"""A stop of the load generator in the same second explains a stall at most twice as long."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
"""Quantiles of the estimate by the names they have in columns."""

SCHEMA = tables.STALLS.schema
"""One row a trial: number, sum and longest of the stalls, and quantiles of the estimate."""


class StallsRow(TypedDict):
    """A row of `SCHEMA`."""

    stalls: int
    stalled_ns: int
    longest_ns: int
    wait_p50_ns: float | None
    wait_p90_ns: float | None
    wait_p99_ns: float | None
    wait_p999_ns: float | None


def of_trial(recording: Recording, stalls: Sequence[tuple[int, int]]) -> pa.Table:
    """What the stalls of a trial amount to.

    Args:
        recording: The recording.
        stalls: First instant and end of each, as `found` gives them.

    Returns:
        One row of `SCHEMA`; none where the load was open, since its times contain the waits, or
        where nothing was held.
    """
    duration_ns = recording.held_ns
    if recording.load.model != "closed" or not duration_ns:
        return SCHEMA.empty_table()
    lengths_ns = [end - start for start, end in stalls]
    row: dict[str, float | None] = {
        "stalls": len(lengths_ns),
        "stalled_ns": sum(lengths_ns),
        "longest_ns": max(lengths_ns, default=0),
        **{
            f"wait_{name}_ns": wait_ns(lengths_ns, duration_ns, quantile)
            for name, quantile in QUANTILES.items()
        },
    }
    return pa.Table.from_pylist([row], schema=SCHEMA)


def found(recording: Recording, requests: Rows) -> list[tuple[int, int]]:
    """First instant and end of each stall in the holds, in nanoseconds since zero."""
    if isinstance(requests, EngineRecords):
        windows = [(hold.start_ns, hold.end_ns) for hold in recording.holds]
        return [stall for window in windows for stall in requests.stalls(window, LEAST_NS)]
    with query.opened(requests=requests) as database:
        statement = query.text("stalls")
        return [
            (int(start_ns), int(end_ns))
            for hold in recording.holds
            for start_ns, end_ns in database.execute(
                statement,
                {"from_ns": hold.start_ns, "until_ns": hold.end_ns, "least_ns": LEAST_NS},
            ).fetchall()
        ]


def of_connections(recording: Recording, requests: Rows) -> list[tuple[int, int]]:
    """Stalls of single connections: when each request that stalled was sent, and when it ended.

    A request stalled when its complete response took at least `STALL_NS` and `STALL_TIMES` times
    the median of its request type.

    Returns:
        Instants in nanoseconds since zero, the longest stall first, no more than `MOST_STALLS`.
    """
    if isinstance(requests, EngineRecords):
        return requests.connection_stalls(STALL_NS, STALL_TIMES, MOST_STALLS)
    with query.opened(recording.holds, requests=requests) as database:
        given = {"least_ns": STALL_NS, "times": STALL_TIMES, "most": MOST_STALLS}
        rows = database.execute(query.text("connection_stalls"), given).fetchall()
    return [(int(start_ns), int(end_ns)) for start_ns, end_ns in rows]


def of_server(
    recording: Recording, readings: Usage, known: Sequence[Window]
) -> list[tuple[int, int]]:
    """The stalls for most of which the load generator itself did not stop.

    Args:
        recording: The recording.
        readings: Its readings.
        known: First instant and end of each stall, as `found` or `of_connections` give them.
    """
    starts, ends = np.array(known, np.int64).reshape(-1, 2).T
    if readings.of("driver", "longest_pause_s"):
        pauses_s = disturbance.longest_pauses_s(readings, starts, ends)
    else:
        pauses_s = _longest_pauses_s(recording, len(known))
    own = pauses_s * query.SECOND_NS < LIKELY * (ends - starts)
    return list(zip(starts[own].tolist(), ends[own].tolist(), strict=True))


def _longest_pauses_s(recording: Recording, number: int) -> Values:
    """The longest stop of the load generator for each stall, of one that tells no other."""
    driver = recording.driver
    return np.full(number, 0.0 if driver is None else (driver.longest_pause_ns or 0) / 1e9)


def wait_ns(lengths_ns: Iterable[int], duration_ns: int, quantile: float) -> float | None:
    """A quantile of the wait for the next response, of requests that arrive evenly.

    Args:
        lengths_ns: Length of each stall.
        duration_ns: Length of the time in which requests arrive.
        quantile: Which one, from 0 to 1.

    Returns:
        The least x for which no larger share than 1 − quantile waits longer, in nanoseconds; None
        when it is no more than `LEAST_NS`.
    """
    longest_first = np.sort(np.array(list(lengths_ns), dtype=np.float64))[::-1]
    if not longest_first.size:
        return None
    counts = np.arange(1, longest_first.size + 1)
    waits = (np.cumsum(longest_first) - (1 - quantile) * duration_ns) / counts
    wait = _first_that_holds(waits.tolist(), longest_first.tolist())
    return wait if wait > LEAST_NS else None


def _first_that_holds(waits: Sequence[float], longest_first: Sequence[float]) -> float:
    """The wait for which just the stalls that are longer than it were counted."""
    for place, wait in enumerate(waits):
        if place + 1 == len(longest_first) or wait >= longest_first[place + 1]:
            return float(wait)
    return 0.0
