"""What was full beyond a load line: why a rate could not be carried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll import wording
from plimsoll.aggregate import stalls, utilisation
from plimsoll.verdicts.catalogue import role

if TYPE_CHECKING:
    from plimsoll.aggregate.summary import TimeStatistics
    from plimsoll.aggregate.trial import Tables
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.load_line.limits import LineLimit
    from plimsoll.verdicts.role import Lacking
    from plimsoll.verdicts.verdict import Verdict

Resource = Literal[
    "server",
    "core",
    "host",
    "queue",
    "link",
    "memory",
    "driver",
    "stalls",
    "pool",
    "connections",
    "unknown",
]

FULL = 0.8
"""Share from which on a resource is full; as in `bottleneck_identified`."""

SEARCHED: Mapping[str, Resource] = {
    utilisation.SERVER: "server",
    utilisation.CORE: "core",
    utilisation.ONE_AT_A_TIME: "core",
    utilisation.QUEUE: "queue",
    utilisation.LINK: "link",
    utilisation.HOST: "host",
}
"""Resources in the order in which they are named: the host is full when its server is."""

OF_SERVER = (utilisation.SERVER, utilisation.CORE, utilisation.ONE_AT_A_TIME)
"""Resources of which one is full when the server is."""

OF_DRIVER: tuple[Resource, ...] = ("driver", "pool")
"""Resources of the load generator: a rate that they end is not the server's limit."""

LOW = 0.5
"""Share of a throughput up to which a rate leaves most connections free."""

_CONNECTIONS_FULL = 0.95

_UNLOADED = 0.5
"""Shortest / mean service time from which on a server is as fast as without load."""

_MOST_SLOWER = 1.25
"""Mean time under the closed load / median at a low rate, up to which no queue is in between."""


@dataclass(frozen=True)
class LimitingResource:
    """What was full when a rate failed.

    Attributes:
        resource: Which; `driver` is the load generator, and `stalls` are pauses of the server.
            `pool` is the number of connections where the server was as fast as without load, and
            `connections` where it was not.
        sentence: With numbers, without a full stop.
    """

    resource: Resource
    sentence: str

    @property
    def is_of_driver(self) -> bool:
        """Whether it belongs to the load generator, so that the server had room."""
        return self.resource in OF_DRIVER


def of_driver(
    found: TrialFindings, tables: Tables, unloaded_ns: float | None
) -> LimitingResource | None:
    """The load generator or the number of its connections, where one was the limit; else None.

    Connections that were all in use are the server's limit where it was full, or made responses
    slower than at a low rate. The shortest response of a load says less: all may have waited.

    Args:
        found: What is known of an open load whose rate was not met.
        tables: Its tables.
        unloaded_ns: Median latency at a rate that leaves most connections free, in nanoseconds;
            None if there was no such rate.
    """
    shares = utilisation.shares(tables)
    pool = (
        _of_pool(tables, shares)
        if unloaded_ns is None
        else _of_unslowed(tables, shares, unloaded_ns, "under the load")
    )
    return _of_driver(found, shares) or pool


def beyond(
    found: TrialFindings, tables: Tables, limit: LineLimit, *, is_held_above: bool = False
) -> LimitingResource:
    """What was full in a trial that failed.

    Args:
        found: What is known of it.
        tables: Its tables.
        limit: The limit of the line.
        is_held_above: Whether a higher rate held.
    """
    shares = utilisation.shares(tables)
    return (
        _of_driver(found, shares)
        or stalled(tables, limit)
        or _of_pool(tables, shares)
        or _doubted(found)
        or _full(shares)
        or _waited_for(tables)
        or _unknown(shares, is_held_above=is_held_above)
    )


def of_closed_load(tables: Tables, unloaded_ns: float) -> LimitingResource | None:
    """The number of connections, where it was the limit of the closed load; else None.

    Then it is that of every line: whatever rate is due, no more requests are in flight, and so many
    made no response slower. What is late waited for a free connection, or was disturbed.

    Args:
        tables: Tables of the closed load.
        unloaded_ns: Median latency at a rate that leaves most connections free, in nanoseconds.
    """
    return _of_unslowed(tables, utilisation.shares(tables), unloaded_ns, "in the closed load")


def _of_unslowed(
    tables: Tables, shares: utilisation.Shares, unloaded_ns: float, when: str
) -> LimitingResource | None:
    """The number of connections, where the server had room and was as fast as at a low rate."""
    most, mean_ns = _all_in_use(tables), tables.summary.service_time.mean_ns
    if not most or not mean_ns or mean_ns > _MOST_SLOWER * unloaded_ns:
        return None
    if _is_server_full(shares):
        return None
    sentence = (
        f"all {wording.count(most)} connections were in use {when}, for "
        f"{wording.seconds(mean_ns / 1e9)} a response, which is no longer than at a low rate"
    )
    return LimitingResource("pool", sentence)


def stalled(tables: Tables, limit: LineLimit) -> LimitingResource | None:
    """Stalls of the server that miss a limit of latency by themselves; None where they do not.

    Whatever the rate, and however many connections there are, requests that are due in a stall wait
    for its end. Where that alone takes more of them beyond the limit than it allows, nothing else
    needs to have been full.

    Args:
        tables: The tables of a load.
        limit: The limit of a line.
    """
    if limit.most_ns is None:
        return None
    of_server = stalls.of_server(tables.recording, tables.usage, tables.stalls)
    held_ns = tables.recording.held_ns
    beyond_ns = sum(max(end - start - limit.most_ns, 0.0) for start, end in of_server)
    if beyond_ns <= limit.allowed * held_ns:
        return None
    longer = [end - start for start, end in of_server if end - start > limit.most_ns]
    sentence = (
        f"the server stalled {wording.several(len(longer), 'time')}, for up to "
        f"{wording.seconds(max(longer) / 1e9)}: {wording.share(beyond_ns / held_ns)} of requests "
        "waited longer than the limit for that alone"
    )
    return LimitingResource("stalls", sentence)


def _is_server_full(shares: utilisation.Shares) -> bool:
    return max(shares.get(name, 0.0) for name in OF_SERVER) >= FULL


def _is_host_fuller(shares: utilisation.Shares, driver: float) -> bool:
    """Whether all cores were as full as the load generator, beside a server that used several."""
    if utilisation.SERVER in shares or utilisation.CORE in shares:
        return False
    return shares.get(utilisation.HOST, 0.0) >= max(driver, FULL)


def _of_driver(found: TrialFindings, shares: utilisation.Shares) -> LimitingResource | None:
    """The load generator, where the server had room."""
    driver = max(shares.get(utilisation.DRIVER, 0.0), shares.get(utilisation.CAPACITY, 0.0))
    headroom = _doubt(found, "driver")
    if headroom is None or driver <= FULL or _is_server_full(shares):
        return None
    if _is_host_fuller(shares, driver):
        return None
    return LimitingResource("driver", headroom.sentences[0].text)


def _of_pool(tables: Tables, shares: utilisation.Shares) -> LimitingResource | None:
    """The number of connections, where the server had room and no response waited for another."""
    most, times = _all_in_use(tables), tables.summary.service_time
    if not most or _is_server_full(shares) or not _is_unloaded(times):
        return None
    each = wording.seconds((times.mean_ns or 0.0) / 1e9)
    sentence = f"all {wording.count(most)} connections were in use, for {each} a response"
    return LimitingResource("pool", sentence)


def _doubted(found: TrialFindings) -> LimitingResource | None:
    """The listen queue or memory, where a check says so."""
    resources: tuple[Literal["queue", "memory"], ...] = ("queue", "memory")
    for resource in resources:
        if verdict := _doubt(found, resource):
            return LimitingResource(resource, verdict.sentences[0].text)
    return None


def _full(shares: utilisation.Shares) -> LimitingResource | None:
    for name, resource in SEARCHED.items():
        if shares.get(name, 0.0) >= FULL:
            return LimitingResource(resource, utilisation.stated(name, shares[name]))
    return None


def _waited_for(tables: Tables) -> LimitingResource | None:
    """The connections, where all of them waited for a server that was slower than without load."""
    most = _all_in_use(tables)
    waited = f"all {wording.count(most)} connections waited for responses; more may carry more"
    return LimitingResource("connections", f"{waited} (`-c`)") if most else None


def _unknown(shares: utilisation.Shares, *, is_held_above: bool) -> LimitingResource:
    of_server = {
        name: share
        for name, share in shares.items()
        if name not in (utilisation.DRIVER, utilisation.CAPACITY)
    }
    seen = max(of_server, key=lambda name: of_server[name], default=None)
    stated = f" ({utilisation.stated(seen, of_server[seen])})" if seen else ""
    suspected = "suspect a lock, a worker pool or a timer"
    if is_held_above:
        suspected = "a higher rate held, so suspect what disturbed the server or the machine"
    return LimitingResource("unknown", f"no measured resource was saturated{stated}; {suspected}")


def _all_in_use(tables: Tables) -> float:
    """The number of connections where nearly all were in use all the time; else 0."""
    in_flight, most = tables.summary.in_flight, tables.summary.connections_requested
    return most if in_flight and most and in_flight >= _CONNECTIONS_FULL * most else 0


def _is_unloaded(times: TimeStatistics) -> bool:
    """Whether responses took hardly longer than the shortest, so that no queue made them slow."""
    return bool(times.mean_ns and times.min_ns and times.min_ns >= _UNLOADED * times.mean_ns)


def _doubt(found: TrialFindings, lacking: Lacking) -> Verdict | None:
    """The verdict that a resource was full; None where no check found that."""
    doubts = (one for one in found.verdicts if one.is_doubting)
    return next((one for one in doubts if role(one.check).lacks == lacking), None)
