"""Do the latencies of a closed load hide stalls of the server?

A connection that waits sends nothing. A stall of 50 ms therefore makes one slow request on each
connection, however many users would have arrived in it. `aggregate.stalls` finds in the rows when
no response came although requests waited, and which requests of single connections were slow while
others got responses. It computes a lower bound of the time that a user who arrives at a random
instant, on a random connection, would have waited because of that. A load is doubtful if its 99th
percentile would be more than twice the measured one. The limit of its 99.9th percentile is five
times, if there are enough responses for it.

A slow request need not be a stall: a cache miss or a rare query takes long by itself, and users who
arrive at random have as few of them as users who wait for each other. A worker that stands still
delays requests of several connections, and they end together when it goes on. So requests that are
slow while others get responses count only if they end together, or are on the same connections,
more often than by chance (`aggregate.stall_clusters`). If so few requests are slow that all may end
together by chance, stalls are not checked.

Two limits follow. Where each worker has one connection, and workers stall one at a time, now here
and now there, their rows are those of slow requests: such stalls are not found. And a single
connection is never slow but with all, so it cannot tell. Nor can c connections if the share of the
time for which one of them is slow, to the power of c, is at least half of the time stalled.

Stalls below 10 ms are left out, because schedulers cause those; so are stalls of the load generator
itself. The stalls that make the wait may come from the machine: the server is not blamed if it
waited for cores that others had for at least half as long as they lasted. Only waits in the seconds
with these stalls count, less what it waits in as much time of other seconds. It is blamed all the
same if it waited no longer in the seconds with stalls than in others: less than half a second more
for each second stalled, at 95 %. Nor is it excused if it stalled as long in the seconds in which it
hardly waited: less than half of the stalls go with the waits, at 95 %. So a pause in every second
is found on a busy machine, unless the waits are the same in every second, too. A 99.9th percentile
needs three stalls of 50 ms. A stall with a whole second in which `steady` tells of no response is
left to it.

Another tool's log does not show whether its load was closed. It is judged like one if it has the
number of active users, because each of them waits for its response. Their greatest number stands
for the connections, which no log has, or the requests in flight by its rows if these are more.

Source: `aggregate.stalls`; `statistics.clustering`; coordinated omission, G. Tene, README of
giltene/wrk2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from plimsoll import wording
from plimsoll.aggregate import cores, disturbance, silence, stall_clusters, stalls, users
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.usage import second_window
from plimsoll.statistics.slope import greatest_slope
from plimsoll.verdicts.finding import Finding, Remedy, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.aggregate.disturbance import Whose
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Instants, Window
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "hidden_stalls"
TITLE = "Hidden stalls"
PROBLEM = "Hidden stalls"
SOURCE = "waits of arrivals at random instants, from stalls in the recorded requests"
WAIT_RATIO = Limit(
    NAME,
    "wait_ratio",
    "above",
    2.0,
    None,
    "ratio",
    "99th percentile that stalls alone make for random arrivals / the measured one",
    PROPOSAL,
)
RARE_WAIT_RATIO = Limit(
    NAME,
    "rare_wait_ratio",
    "above",
    5.0,
    None,
    "ratio",
    "99.9th percentile that stalls of connections make for random arrivals / the measured one",
    PROPOSAL + "; higher than for p99, because one hiccup of the host changes a p99.9",
)
LIMITS = (WAIT_RATIO, RARE_WAIT_RATIO)
NEEDS = EveryRequest(WAIT_RATIO, "when the server stalled is unknown")
ROLE = Role(misled_by=frozenset({"set_clock", "no_streams"}))
QUANTILE = 0.99
LEAST_NS = 10_000_000
"""A shorter stall may be the work of a scheduler."""
RARE_QUANTILE = 0.999
RARE_NS = 50_000_000
"""A shorter stall is left out of a 99.9th percentile: any host has some."""
FEWEST = 3
"""Fewer stalls of single connections show nothing about a 99.9th percentile."""
MANY = 10_000
"""Of fewer responses a 99.9th percentile rests on less than ten."""
LIKELY = 0.5
"""What took this share of a stall, or more, explains it."""
AT_A_RATE = Remedy(
    campaign='Look for pauses of the server; measure latency at a fixed rate (`model = "open"`)',
    load="Look for pauses of the server; measure latency at a fixed rate (`-R`)",
    imported="Look for pauses of server and load generator; measure latency at a fixed rate",
)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether latencies would be much longer for users who do not wait for each other."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(WAIT_RATIO)
    measured_ns = tables.summary.service_time.p99_ns
    if tables.recording.load.model == "open":
        sentence = "open load: latency includes the wait since the intended start"
        return inapplicable(limit, sentence)
    if reason := _not_closed(tables):
        return not_checked(limit, reason)
    if tables.recording.load.events:
        return inapplicable(limit, "events come when the server sends them, not after a request")
    if not measured_ns:
        return not_checked(limit, "there are too few responses for a 99th percentile")
    findings = [_of_server(tables, limit, measured_ns)]
    findings += _of_connections(tables, limits, measured_ns)
    doubted = (one for one in findings if one.level != "sound")
    return next(doubted, findings[1] if findings[1:] else findings[0])


def _not_closed(tables: Tables) -> str:
    """Why stalls cannot be found; empty for a load whose users wait."""
    model, driver = tables.recording.load.model, tables.recording.driver
    if model == "closed":
        return ""
    if driver is not None and driver.instants_step_s:
        step = wording.seconds(driver.instants_step_s)
        return f"the load generator rounds timestamps to {step}, too coarse to show stalls"
    if users.most_at_once(tables.recording, tables.usage) is None:
        return "whether the load was open is unknown, and so is what its latencies leave out"
    return ""


def _of_server(tables: Tables, limit: Limit, measured_ns: float) -> Finding:
    """Stalls of all connections at once."""
    stalled = _shared_stalls(tables)
    stalls_ns = _lengths_ns(stalled)
    wait_ns = stalls.wait_ns(stalls_ns, tables.recording.held_ns, QUANTILE) or 0.0
    ratio = wait_ns / measured_ns
    if not wait_ns:
        return found(limit, ratio, "no stall that changes p99 is hidden in the latencies", "")
    sentence = (
        f"the server stalled {_stalled(stalls_ns, wait_ns)}: users who do not wait for each other "
        f"would see a p99 of at least {_time(wait_ns)}, not the service time's {_time(measured_ns)}"
    )
    others = ("`steady` names further stalls, of whole seconds",) if tables.silence.stalls else ()
    finding = found(limit, ratio, sentence, AT_A_RATE, *others)
    if finding.level == "sound":
        return finding
    excused = _of_machine(tables, limit, stalled, wait_ns) or _of_chance(tables, limit, stalls_ns)
    return excused or finding


def _of_chance(tables: Tables, limit: Limit, stalls_ns: Sequence[int]) -> Finding | None:
    """That so few connections are all slow at a time by chance as well; None otherwise.

    If one of them is slow for the share s of the time, all c of them are for the share s^c. One
    connection alone is never slow but with all.
    """
    connections = round(_connections(tables) or 0)
    if not connections:
        return None
    slow_ns = sum(_lengths_ns(_slow(tables)))
    slow = min(slow_ns / (tables.recording.held_ns * connections), 1.0)
    if connections > 1 and slow**connections < LIKELY * sum(stalls_ns) / tables.recording.held_ns:
        return None
    sentence = (
        f"the server stalled {_stalled(stalls_ns)}, or single requests are slow by themselves: "
        f"{wording.several(connections, 'connection')} cannot tell"
    )
    return not_checked(limit, sentence)


def _of_connections(tables: Tables, limits: Limits, p99_ns: float) -> Iterator[Finding]:
    """Stalls of some connections while others got responses, at both percentiles."""
    summary, held_ns = tables.summary, tables.recording.held_ns
    stalled = _connection_stalls(tables)
    connections = _connections(tables) if stalled else None
    if connections is None:
        return
    rare = [(start, end) for start, end in stalled if end - start >= RARE_NS]
    p999_ns = summary.service_time.p999_ns
    compared = [(limits.of(WAIT_RATIO), "p99", QUANTILE, p99_ns, stalled)]
    if p999_ns and summary.completed >= MANY and len(rare) >= FEWEST:
        compared.append((limits.of(RARE_WAIT_RATIO), "p99.9", RARE_QUANTILE, p999_ns, rare))
    for limit, name, quantile, measured_ns, of in compared:
        wait_ns = stalls.wait_ns(_lengths_ns(of), int(held_ns * connections), quantile) or 0.0
        if limit.level(wait_ns / measured_ns) != "sound":
            yield _of_clusters(tables, limit, of, connections, (name, quantile, measured_ns))


def _of_clusters(
    tables: Tables,
    limit: Limit,
    slow: Sequence[Window],
    connections: float,
    percentile: tuple[str, float, float],
) -> Finding:
    """What the slow requests make that come together more often than by chance.

    Args:
        tables: The tables of the trial.
        limit: The limit that all slow requests together are beyond.
        slow: When each was sent, and when it ended.
        connections: On how many connections a random user may be.
        percentile: Its name, which one it is, and what was measured, in nanoseconds.
    """
    name, quantile, measured_ns = percentile
    clusters = stall_clusters.beyond_chance(tables.recording, tables.requests, slow)
    released, gathered = set(clusters.released or []), set(clusters.gathered)
    stalled = [one for one in slow if one in released or one in gathered]
    lengths_ns = _lengths_ns(stalled)
    duration_ns = int(tables.recording.held_ns * connections)
    wait_ns = stalls.wait_ns(lengths_ns, duration_ns, quantile) or 0.0
    if limit.level(wait_ns / measured_ns) != "sound":
        sentence = (
            f"single connections stalled {_stalled(lengths_ns, wait_ns)}: users at random instants "
            f"would see a {name} of at least {_time(wait_ns)}, not the service time's "
            f"{_time(measured_ns)}"
        )
        why = [
            *(["they end together more often than by chance"] if released else []),
            *(["they are on the same connections more often than by chance"] if gathered else []),
        ]
        doubt = found(limit, wait_ns / measured_ns, sentence, AT_A_RATE, *why)
        return _of_machine(tables, limit, stalled, wait_ns, connections) or doubt
    if clusters.released is None:
        few = f"{wording.several(len(slow), 'request')} took {_longest(slow)}"
        return not_checked(limit, f"{few}: too few to tell stalls from requests slow by themselves")
    alone = [one for one in slow if one not in released and one not in gathered]
    sentence = (
        f"no stall that changes {name} is hidden in the latencies, but "
        f"{wording.several(len(alone), 'request')} took {_longest(alone)} by "
        f"{'itself' if len(alone) == 1 else 'themselves'}"
    )
    evidence = (
        "no more of them than by chance end together, or are on the same connections; workers of "
        "one connection each that stall apart look the same"
    )
    return found(limit, wait_ns / measured_ns, sentence, "", evidence)


def _longest(slow: Sequence[Window]) -> str:
    return f"up to {_time(max(_lengths_ns(slow), default=0))}"


def _connections(tables: Tables) -> float | None:
    """On how many connections a random user may be, the more where it is not sure; None if unknown.

    A load generator without readings has as many as it was asked for, or as its users, each of whom
    waits on one. They are no fewer than the requests in flight by its rows.
    """
    summary = tables.summary
    counted = max(summary.open_connections or 0.0, summary.in_flight or 0.0)
    if counted:
        return max(counted, 1.0)
    active = users.most_at_once(tables.recording, tables.usage)
    windows = zip(tables.in_flight(tables.holds), tables.holds, strict=True)
    flown_ns = sum(one.mean * (end - start) for one, (start, end) in windows)
    by_rows = flown_ns / (tables.recording.held_ns or 1)
    most = max(summary.connections_requested or 0.0, active or 0.0, by_rows)
    return max(most, 1.0) if most else None


def _stalled(stalls_ns: Sequence[int], least_ns: float = 0.0) -> str:
    """`3 times, for up to 200 ms`, of those that are longer than the wait which they make."""
    number = sum(one > least_ns for one in stalls_ns)
    return f"{wording.several(number, 'time')}, for up to {_time(max(stalls_ns, default=0))}"


def _lengths_ns(stalled: Sequence[Window]) -> list[int]:
    return [end - start for start, end in stalled]


def _of_machine(
    tables: Tables,
    limit: Limit,
    stalled: Sequence[Window],
    wait_ns: float,
    connections: float = 1.0,
) -> Finding | None:
    """That server or driver waited for cores as long as responses stalled; None otherwise.

    Args:
        tables: The tables of the trial.
        limit: The limit that the stalls are beyond.
        stalled: When they began and ended.
        wait_ns: The wait that they make; shorter ones add nothing to it.
        connections: Of how many connections each stalled one.
    """
    decisive = [(start, end) for start, end in stalled if end - start > wait_ns]
    lengths_ns = _lengths_ns(decisive)
    waited_s = _waited_s(tables, decisive, connections)
    if waited_s < LIKELY * sum(lengths_ns) / SECOND_NS / connections:
        return None
    if _is_apart(tables, stalled, connections):
        return None
    sentence = (
        f"responses stalled {_stalled(lengths_ns)}; in the seconds with these stalls the server "
        f"waited for cores of others for {wording.seconds(waited_s)}, which may explain it"
    )
    return not_checked(limit, sentence)


def _waited_s(tables: Tables, stalled: Sequence[Window], connections: float) -> float:
    """How long server or driver waited for cores in the seconds with stalls, beyond the usual."""
    seconds = {
        second
        for start, end in stalled
        for second in range(start // SECOND_NS, -(-end // SECOND_NS))
    }
    # The kernel counts a wait when it ends, maybe in the second after the stall.
    windows = ([second_window(one + late) for one in seconds] for late in (0, 1))
    return max(0.0, *(_waited_beyond_s(tables, one, stalled, connections) for one in windows))


def _waited_beyond_s(
    tables: Tables, windows: Sequence[Window], stalled: Sequence[Window], connections: float
) -> float:
    """How much longer than usual server or driver waited for cores in some seconds.

    While no response stalls, they wait as in other seconds. That explains no stall.
    """
    others = [one for one in cores.whole_seconds(tables.recording) if one not in windows]
    usual_ratio = _waited_ratio(tables, others) if others else 0.0
    rest_s = len(windows) - sum(_stalled_s(windows, stalled, connections))
    waited_s = sum(_waited_ratio(tables, [one]) for one in windows)
    return waited_s - usual_ratio * max(rest_s, 0.0)


def _stalled_s(
    seconds: Sequence[Window], stalled: Sequence[Window], connections: float
) -> list[float]:
    """For how long a connection stalled in each of some seconds."""
    starts, ends = np.array(stalled, np.int64).reshape(-1, 2).T
    return [
        np.clip(np.minimum(ends, end) - np.maximum(starts, start), 0, None).sum()
        / (SECOND_NS * connections)
        for start, end in seconds
    ]


def _is_apart(tables: Tables, stalled: Sequence[Window], connections: float) -> bool:
    """Whether stalls and waits for cores, second by second, have nothing to do with each other.

    A wait for a core that makes a stall is in the same second. A server that sleeps now and then
    waits for no core meanwhile. One that sleeps in every second does so as well in those in which
    it hardly waits.
    """
    # The reading that ends the last second comes after the load.
    seconds = cores.whole_seconds(tables.recording)[:-1]
    stalled_s = _stalled_s(seconds, stalled, connections)
    waited_s = [
        _waited_ratio(tables, [second]) * (second[1] - second[0]) / SECOND_NS for second in seconds
    ]
    # The kernel counts a wait when it ends, maybe in the second after the stall.
    pairs = ((stalled_s, waited_s), (stalled_s[:-1], waited_s[1:]))
    return all(_are_rare_waits(*pair) for pair in pairs) or all(
        _are_mostly_own(*pair) for pair in pairs
    )


def _are_rare_waits(stalled_s: Sequence[float], waited_s: Sequence[float]) -> bool:
    """Whether seconds with stalls have no more waits than others."""
    most = greatest_slope(stalled_s, waited_s)
    return most is not None and most < LIKELY


def _are_mostly_own(stalled_s: Sequence[float], waited_s: Sequence[float]) -> bool:
    """Whether most of the stalls would be there without the waits."""
    most = greatest_slope(waited_s, stalled_s)
    return most is not None and most * sum(waited_s) < LIKELY * sum(stalled_s)


def _waited_ratio(tables: Tables, windows: Sequence[Window]) -> float:
    """Share of some stretches in which the server, or the driver, waited for cores of others.

    A driver that says how long it did not look has no other stalls, so it is left out.
    """
    lost = disturbance.lost(tables.recording, tables.usage, windows)
    if lost is None:
        return 0.0
    says_pauses = bool(tables.usage.of("driver", "longest_pause_s"))
    sides: tuple[Whose, ...] = ("server",) if says_pauses else ("server", "driver")
    return max(map(lost.waited_ratio, sides))


def _connection_stalls(tables: Tables) -> list[Window]:
    """The stalls of single connections, without those in which all stalled."""
    starts, ends = np.array(_slow(tables), np.int64).reshape(-1, 2).T
    own = _shared_ns(tables, starts, ends) < LIKELY * (ends - starts)
    return list(zip(starts[own].tolist(), ends[own].tolist(), strict=True))


def _slow(tables: Tables) -> list[Window]:
    """Slow requests, without those that the load generator delayed."""
    return stalls.of_server(tables.recording, tables.usage, tables.connection_stalls)


def _shared_ns(tables: Tables, starts: Instants, ends: Instants) -> Instants:
    """For how long of each stretch one stall of all connections lasted, at its middle.

    A stall that lasted for half of a stretch covers its middle. Several short ones may add up to
    as much: a server with few connections often has a millisecond without a response.
    """
    edges = np.array(tables.stalls or [(0, 0)])
    middles = (starts + ends) // 2
    place = np.clip(np.searchsorted(edges[:, 0], middles, side="right") - 1, 0, None)
    covered = np.minimum(edges[place, 1], ends) - np.maximum(edges[place, 0], starts)
    return np.where(edges[place, 1] > middles, np.clip(covered, 0, None), 0)


def _shared_stalls(tables: Tables) -> list[Window]:
    """The stalls of the server, without those of which `steady` names whole seconds."""
    of_server = stalls.of_server(tables.recording, tables.usage, tables.stalls)
    named = [silence.window(run) for run in tables.silence.stalls]
    return [
        (start, end)
        for start, end in of_server
        if end - start >= LEAST_NS
        and not any(start < last and first < end for first, last in named)
    ]


def _time(length_ns: float) -> str:
    return wording.seconds(length_ns / SECOND_NS)
