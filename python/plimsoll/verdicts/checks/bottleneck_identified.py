"""Which resource was saturated?

A closed load takes all the throughput it can get, so something limits it. The check measures the
most saturated resource that can be read: the server's cores together, its busiest core, the load
generator's busiest core, all cores if both share them, the listen queue, the link. A server without
cores of its own has a busiest core only by its busiest thread. If it used more than one core, it is
held against all cores of the host. Several threads that share about one core fill none. They are
the limit where they run one at a time, as with a lock, and were never out of work, as `undisturbed`
tells. It also compares the throughput with the load generator's calibrated maximum. A core that
others used while server or load generator waited for it, or that the host of a virtual machine
withheld, was not free. While one side waits for such a core, the other may run out of work; so a
side's cores need only be full in the rest of the time. If none of them was saturated, responses
waited for something that was not measured: a lock, a pool of workers, a timer, another server. The
number is then not what the server can do on its cores, and more connections may well yield more.

One such timer has a check of its own: `delayed_ack`.

A few connections saturate nothing, because each waits for its response: their number is the limit.
So it is where the mean response took hardly longer than the shortest of the whole load: in a queue
the first request is served at once, as all connections begin. Over HTTP/2 it is
the number of streams, if the server allowed fewer than requested.
Open loads and loads with think time do not look for a limit.

Source: the utilisation law, U = X · S; P. J. Denning, J. P. Buzen, ACM Computing Surveys 10(3),
1978.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import disturbance, utilisation
from plimsoll.verdicts import streams
from plimsoll.verdicts.cpu_contention import cpu_contention
from plimsoll.verdicts.finding import (
    Finding,
    Remedy,
    found,
    inapplicable,
    not_checked,
    of_trial,
    unread_server,
)
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import PACE, Role

if TYPE_CHECKING:
    from plimsoll.aggregate.disturbance import Whose
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.utilisation import Shares
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "bottleneck_identified"
TITLE = "Bottleneck identified"
PROBLEM = "Bottleneck unknown"
SOURCE = "utilisation of every measured resource; Denning and Buzen, 1978"
FULLEST_RATIO = Limit(
    NAME,
    "fullest_ratio",
    "below",
    0.8,
    None,
    "ratio",
    "utilisation of the most used measured resource",
    PROPOSAL,
)
LIMITS = (FULLEST_RATIO,)
NEEDS = None
ROLE = Role(misled_by=PACE.union(("delayed_acks",)))
FEW_FOR_EACH_CORE = 4
"""Connections for each core of server and driver that need not fill any of them."""
UNQUEUED_RATIO = 0.8
"""Shortest / mean service time from which on responses wait for each other for a fifth at most."""
SHARED_WITH_OTHERS = (
    utilisation.SERVER,
    utilisation.CORE,
    utilisation.ONE_AT_A_TIME,
    utilisation.DRIVER,
    utilisation.HOST,
)
"""Resources that are cores, of which other programs or machines may take a part."""

BY_A_LOCK = (
    "it was never out of work, and yet no thread was full: they may share a lock, such as that of "
    "an interpreter"
)

REMEDY = Remedy(
    "Find what the server waits for: a lock, a pool of workers, a timer; or use more `connections`",
    "Find what the server waits for: a lock, a pool of workers, a timer; or use more connections "
    "(`-c`)",
)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Which resource was saturated."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(FULLEST_RATIO)
    load = tables.recording.load
    if load.model != "unknown" and not load.is_saturating:
        return inapplicable(
            limit, "the load is limited on purpose, so no resource needs to be saturated"
        )
    if tables.recording.driver is None and tables.recording.ending.kind == "completed":
        return not_checked(limit, "this recording has no requests, so nothing had to be saturated")
    shares = utilisation.shares(tables)
    if unread := _unread(tables, shares, limit):
        return unread
    fullest = max(shares, key=lambda name: shares[name])
    beside_waits = _beside_waits(tables, shares)
    is_full = "sound" in (limit.level(shares[fullest]), limit.level(beside_waits))
    if is_full:
        return _identified(tables, limit, shares, fullest)
    if by_load := _limited_by_load(tables, shares):
        return Finding("sound", shares[fullest], limit, by_load, "")
    sentence = (
        f"{_most_used(shares)}: no measured resource was saturated; the bottleneck is unknown"
    )
    return found(limit, shares[fullest], sentence, REMEDY)


def _unread(tables: Tables, shares: Shares, limit: Limit) -> Finding | None:
    """That it is unknown how full the server was; None where it is known.

    A server without cores of its own that used several is held against all cores of the host.
    """
    if utilisation.SERVER in shares or utilisation.CORE in shares:
        return None
    used = tables.summary.server_busy_cores
    if used is None:
        sentence = "CPU use of the server could not be read, so the bottleneck is unknown"
        return unread_server(limit, tables.recording, sentence)
    if utilisation.HOST in shares:
        return None
    sentence = (
        f"the server used {wording.cores(used)}, and of how many could not be read, so the "
        "bottleneck is unknown"
    )
    return not_checked(limit, sentence)


def _most_used(shares: Shares) -> str:
    """The two fullest resources: `the server's cores were 97 % busy, the link was 12 % full`."""
    ordered = sorted(shares, key=lambda name: -shares[name])
    return ", ".join(utilisation.stated(name, shares[name]) for name in ordered[:2])


def _identified(tables: Tables, limit: Limit, shares: Shares, fullest: str) -> Finding:
    """Which resource was the limit, unless others took a part of it."""
    taken = cpu_contention(tables)
    if taken and fullest in SHARED_WITH_OTHERS:
        part = f"{taken}, a part of the limit"
        return Finding("sound", shares[fullest], limit, _most_used(shares), "", (part,))
    sentence = f"{_most_used(shares)}: {utilisation.LIMIT_WAS[fullest]}"
    in_turn = (BY_A_LOCK,) * (fullest == utilisation.ONE_AT_A_TIME)
    return Finding("sound", shares[fullest], limit, sentence, "", in_turn)


def _beside_waits(tables: Tables, shares: Shares) -> float | None:
    """How full the cores of a side were at most, in the time in which the other did not wait.

    None where nothing is known of waits, or server and load generator share their cores: those were
    full whichever of them waited.
    """
    lost = disturbance.lost(tables.recording, tables.usage, tables.holds)
    if lost is None or "both" in lost.sides:
        return None
    left = {whose: 1.0 - lost.waited_ratio(whose) for whose in lost.sides}
    idle_by: dict[str, Whose] = {
        utilisation.SERVER: "driver",
        utilisation.CORE: "driver",
        utilisation.DRIVER: "server",
    }
    found = [
        shares[name] / left[other]
        for name, other in idle_by.items()
        if name in shares and left.get(other)
    ]
    return max(found, default=None)


def _limited_by_load(tables: Tables, shares: Shares) -> str:
    """That the number of requests in flight is the limit; empty where it is not."""
    if missing := streams.missing(tables):
        return f"{_most_used(shares)}: {missing.allowed}, so requests waited for others"
    if few := _few(tables):
        return f"{_most_used(shares)}: {wording.several(few, 'connection')} cannot use more"
    return _unqueued(tables)


def _few(tables: Tables) -> int | None:
    """The requested connections if they are so few that they are the limit; None otherwise."""
    recording = tables.recording
    requested = tables.summary.connections_requested or 0
    each = recording.load.in_flight_each
    server, driver = recording.server, recording.driver
    count = len(server.cores if server else ()) + len(driver.cores if driver else ())
    is_few = 0 < requested * each <= FEW_FOR_EACH_CORE * max(count, 2)
    return int(requested) if is_few else None


def _unqueued(tables: Tables) -> str:
    """That no request waited for another, so that their number is the limit; empty otherwise."""
    mean_ns, stages = tables.summary.service_time.mean_ns, tables.recording.stages
    if not stages or stages[0].start_ns or not mean_ns:
        return ""
    shortest_ns = tables.shortest_of_load_ns
    if not shortest_ns or shortest_ns < UNQUEUED_RATIO * mean_ns:
        return ""
    mean, shortest = (wording.seconds(one / 1e9) for one in (mean_ns, shortest_ns))
    return (
        f"no resource was saturated, and no request waited for another: responses took {mean} on "
        f"average, {shortest} at least; more connections would get more"
    )
