"""How full each resource was that can be read.

Others may have taken a part: a core that other programs kept busy, or that the host of a virtual
machine withheld, was not free either.

Source:
    The utilisation law, U = X · S; P. J. Denning, J. P. Buzen, ACM Computing Surveys 10(3), 1978.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import cores, disturbance, links

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.trial import Tables

Shares = dict[str, float]
"""Resource to the share of it that was used, from 0 to 1."""

SERVER, CORE, DRIVER, DATABASE, HOST = "server", "core", "driver", "database", "host"
QUEUE, LINK, CAPACITY = "queue", "link", "capacity"
ONE_AT_A_TIME = "one_at_a_time"
SAID = {
    SERVER: "the server's cores were {} busy",
    CORE: "the server's busiest core was {} busy",
    ONE_AT_A_TIME: "threads of the server ran in turn for {} of the time",
    DRIVER: "the load generator's busiest core was {} busy in its busiest second",
    DATABASE: "the database's cores were {} busy",
    HOST: "the cores that both share were {} busy",
    QUEUE: "the listen queue was {} full",
    LINK: "the link was {} full",
    CAPACITY: "throughput was {} of the load generator's calibrated maximum",
}
LIMIT_WAS = {
    SERVER: "the server was saturated",
    CORE: "one core of the server was saturated, the others were not",
    ONE_AT_A_TIME: "the server does one thing at a time",
    DRIVER: "the load generator was saturated",
    DATABASE: "the database was saturated",
    HOST: "the host that both share was saturated",
    QUEUE: "the listen queue was full",
    LINK: "the link was saturated",
    CAPACITY: "the load generator was saturated",
}

ONE_CORE = 1.05
"""Busy cores up to which one thread may have done all of it; more than 1 by errors of readings."""

ALONE = 0.8
"""Share of what a server ran from which on its busiest thread did it alone, but for helpers."""


def stated(name: str, share: float) -> str:
    """How full a resource was: `the server's cores were 97 % busy`."""
    return SAID[name].format(wording.percent(round(share, 3)))


def shares(tables: Tables) -> Shares:
    """How full each resource was, as far as it can be read."""
    recording, summary = tables.recording, tables.summary
    driver = recording.driver
    capacity = driver.calibrated_capacity_per_s if driver else None
    peak = disturbance.driver_peak(recording, tables.usage)
    found = {
        SERVER: disturbance.full_ratio(recording, tables.usage),
        CORE: _busiest_core(tables),
        ONE_AT_A_TIME: _one_at_a_time(tables),
        DRIVER: None if peak is None else peak.wanted,
        DATABASE: _database(tables),
        HOST: None if cores.are_apart(recording) else _host(tables),
        QUEUE: _queue(tables),
        LINK: _link(tables),
        CAPACITY: summary.throughput_per_s / capacity if capacity else None,
    }
    return {name: min(share, 1.0) for name, share in found.items() if share is not None}


def _busiest_core(tables: Tables) -> float | None:
    """The server's busiest core, or its busiest thread where it has no cores of its own.

    What its threads waited for while others had the cores counts too. Where no thread was read, all
    that it used is taken for one, if that can have been one core.
    """
    server = tables.recording.server
    if server is not None and len(server.cores) > 1 and cores.are_apart(tables.recording):
        rates = [_unfree(tables, [core]) for core in server.cores]
        return max((rate for rate in rates if rate is not None), default=None)
    wanted = _wanted_anywhere(tables)
    if wanted is None:
        return None
    part = _busiest_thread(tables)
    return wanted * part if part is not None else wanted if wanted <= ONE_CORE else None


def _one_at_a_time(tables: Tables) -> float | None:
    """What several threads of a server ran together that does one thing at a time.

    A lock, such as that of an interpreter, lets one of its threads run after the other: then no
    thread is full, and the server is. None elsewhere, and where one thread did nearly all.
    """
    wanted, part = _wanted_anywhere(tables), _busiest_thread(tables)
    if wanted is None or part is None or part >= ALONE or wanted > ONE_CORE:
        return None
    recording, usage = tables.recording, tables.usage
    found = disturbance.cores_of_one_at_a_time(recording, usage, tables.holds, tables.served)
    return None if found is None else wanted


def _wanted_anywhere(tables: Tables) -> float | None:
    """Cores that a server used, or waited for while others had them, that may use several.

    None where it is unknown, or it has cores of its own.
    """
    server, busy = tables.recording.server, tables.summary.server_busy_cores
    is_confined = server is not None and len(server.cores) == 1
    if is_confined or busy is None:
        return None
    return busy + disturbance.missed_by_server(tables.recording, tables.usage, tables.holds)


def _busiest_thread(tables: Tables) -> float | None:
    """The part of what a server ran that was its busiest thread's.

    None where that was not read, or most of the threads that ran were never seen.
    """
    busy = tables.summary.server_busy_cores
    busiest, ran = (
        tables.usage.rate("server", quantity, tables.holds)
        for quantity in ("busiest_thread_s", "run_time_s")
    )
    if busiest is None or busy is None or not ran or ran < disturbance.LEAST_SEEN * busy:
        return None
    return min(busiest / ran, 1.0)


def _database(tables: Tables) -> float | None:
    """Of a database on cores of its own; on the server's cores it is part of what these did."""
    if cores.shared_with_database(tables.recording):
        return None
    return cores.database_busy_ratio(tables.recording, tables.usage)


def _host(tables: Tables) -> float | None:
    """All cores, without what others had of them while neither server nor load generator waited.

    None where several hosts generated the load and the server's was not read: they share none.
    """
    every = cores.all_cores(tables.usage)
    if len(tables.usage.hosts_of(("machine", f"core{core}_busy_s") for core in every)) > 1:
        return None
    unfree = _unfree(tables, every)
    taken = disturbance.taken_from_both(tables.recording, tables.usage, tables.holds)
    if unfree is None or taken is None:
        return unfree
    return unfree - (taken.cores - taken.missed_cores) / len(every)


def _unfree(tables: Tables, given: Sequence[int]) -> float | None:
    """Share of some cores that was busy, or withheld by the host of a virtual machine."""
    busy = cores.on_cores(tables.usage, "busy", given, tables.holds)
    if busy is None:
        return None
    return busy / len(given) + cores.stolen_ratio(tables.usage, given, tables.holds)


def _queue(tables: Tables) -> float | None:
    queue = tables.usage.peak("server", "listen_queue", tables.holds)
    most = tables.usage.peak("server", "listen_backlog", tables.holds)
    return queue / most if queue and most else None


def _link(tables: Tables) -> float | None:
    used = [one.used_ratio for one in links.of_trial(tables)]
    return max((ratio for ratio in used if ratio is not None), default=None)
