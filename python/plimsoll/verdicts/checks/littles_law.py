"""Little's law: requests in flight = requests ended per second × time each was in flight.

    L = λ · W

The law holds over any stretch of time for anything that enters and leaves. A gap means that
requests, connections or time were miscounted.

- L is counted by the load generator's clock as it works: requests in flight, weighted by time. It
  is not derived from the rows: if it were, the law would be an identity and check nothing.
- λ · W comes from the rows: the time of all requests from sent to done, however they ended, as far
  as it lies within the stretch. Requests that begin before the stretch or end after it count in
  part, so there is no error at the edges. The wait between due and sent is not in flight.

Every measurement window is checked, and every step of a ramp, because a ramp passes levels that no
window has. Steps of less than two seconds are joined, and no ramp has more than twenty parts. A
stretch consists of the load generator's readings that lie in it by more than half. The result is
the ratio of the second quantity to the first where it is worst.

On one thread the two counts use the same instants, so they agree however late the thread was.
Several threads, or hosts, count at instants of their own: up to 40 ms apart, more when one waited
for a core. What changed in between may be missing in the first count at either end of a stretch. It
is no more than this time × the requests that all connections can carry. Within that margin the
ratio is taken to be as near to 1 as possible.

In a closed load without think time, every place of an open connection always holds a request: at
the server, or about to be sent. It has one place, or the number of pipelined requests, or of those
requested streams that the server takes. So the requests in flight by the load generator's clock and
those waiting to be sent by the rows add up to the number of places. The second number is the load
generator's own time between two requests, and may reach a tenth of the total on a busy one. That is
no fault, because it is part of the response time, and `driver_headroom` judges whether the load
generator had time to spare. A place with neither is unused. Where servers take turns, places empty
one after the other at the end of each turn, when no request begins any more; that time is left out.
Where events are timed one by one, nothing is in flight between the last event of a stream and its
end; as that is known only at the end, the load generator's clock gives this time back then.

Another tool's log has no such clock. If it has the number of active users, λ · W must not exceed
it, whatever the think time: each user waits for its response. The measurement window is checked,
and up to twenty parts of it of a second or longer. Users of some tools may send several requests at
once, as with `http.batch` of k6; these loads are never void. Users of several engines of JMeter in
one log are added. A window below two seconds is not checked, nor is a log that does not tell
whether it is of several engines, each of which counts its own users.

Source: J. D. C. Little, A proof for the queuing formula L = λW, Operations Research 9(3), 1961.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import users as users_of
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.usage import overlap
from plimsoll.verdicts import closed_connections
from plimsoll.verdicts.finding import (
    Finding,
    Remedy,
    found,
    meaning,
    not_checked,
    of_trial,
    unknown,
)
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.remedies import REPEAT
from plimsoll.verdicts.request_limits import tail_ratio
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.aggregate.check_inputs import InFlight
    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Window
    from plimsoll.campaign.load import Load, UnknownLoad
    from plimsoll.recording import RecordedStage, Recording
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "littles_law"
TITLE = "Little's law"
PROBLEM = "Little's law violated"
SOURCE = "J. D. C. Little, Operations Research 9(3), 1961"
ACCOUNTED_RATIO = Limit(
    NAME,
    "accounted_ratio",
    "below",
    0.95,
    0.85,
    "ratio",
    "requests in flight by the rows / by the load generator's clock",
    PROPOSAL,
)
EXCESS_RATIO = Limit(
    NAME,
    "excess_ratio",
    "above",
    None,
    1.02,
    "ratio",
    "requests in flight by the rows / by the load generator's clock",
    PROPOSAL,
)
OCCUPIED_RATIO = Limit(
    NAME,
    "occupied_ratio",
    "below",
    0.95,
    0.85,
    "ratio",
    "closed model: requests in flight, or waiting to be sent / places of open connections",
    PROPOSAL,
)
USERS_RATIO = Limit(
    NAME,
    "users_ratio",
    "above",
    1.02,
    1.1,
    "ratio",
    "requests in flight by the rows of a measurement window / active users by another tool",
    "a bound; 2 % and a tenth for times that a tool rounds",
)
USERS_PART_RATIO = Limit(
    NAME,
    "users_part_ratio",
    "above",
    1.1,
    None,
    "ratio",
    "the same in that part of the measurement window, a second or longer, where it is greatest",
    "a bound; a clock that is set back by 100 ms makes it 1.1",
)
LIMITS = (
    ACCOUNTED_RATIO,
    EXCESS_RATIO,
    OCCUPIED_RATIO,
    USERS_RATIO,
    USERS_PART_RATIO,
)
NEEDS = EveryRequest(ACCOUNTED_RATIO, "requests in flight cannot be compared with their latencies")
ROLE = Role(misled_by=frozenset({"interruption", "set_clock", "long_stall", "short_stall"}))
HALF = 0.5
MOST_PARTS = 20
"""Parts of a ramp that are looked at."""
SHORTEST_NS = 2_000_000_000
"""A part must have a whole second between two readings of the driver."""
MOST_WINDOW_PARTS = 20
"""Parts of a measurement window in which requests in flight are compared with users."""
ONE_EACH = Remedy(
    "Look for requests that the load generator logs twice, and for the unit of its times",
    imported="Look in the log for rows that are there twice, times in another unit, and a clock "
    "that was set back",
)
UNREAD = (
    "the load generator's own count of requests in flight could not be read, so throughput and "
    "response "
    "times could not be checked against each other"
)


@dataclass(frozen=True)
class _Counted:
    """A part of the load for which the driver reported its requests in flight.

    Attributes:
        place: Where it is, as the beginning of a sentence; empty for a hold.
        window: The stretch that the driver's readings are of.
        mean: Requests in flight by its clock.
        margin: By how much the mean may be wrong, since its threads counted at different instants.
    """

    place: str
    window: Window
    mean: float
    margin: float


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether requests in flight, throughput and times agree."""
    return of_trial(NAME, tables.recording, _findings(tables, limits), SOURCE)


def _findings(tables: Tables, limits: Limits) -> list[Finding]:
    windows = [(hold.start_ns, hold.end_ns) for hold in tables.recording.holds]
    users = users_of.most_at_once(tables.recording, tables.usage)
    if users and not tables.usage.of("driver", "in_flight_mean"):
        return _within_users(tables, limits, users)
    holds = [one for window in windows if (one := _counted(tables, window, "")) is not None]
    if not holds or len(holds) < len(windows):
        return [unknown(limits.of(ACCOUNTED_RATIO), UNREAD, REPEAT)]
    parts = [*holds, *_in_ramps(tables)]
    reported = tables.in_flight([part.window for part in parts])
    findings = [
        one
        for part, by_rows in zip(parts, reported, strict=True)
        for one in _accounted(limits, part, by_rows)
    ]
    last = len(holds) - 1
    return [*findings, *_occupied(tables, limits, holds[last], reported[last])]


def _within_users(tables: Tables, limits: Limits, users: float) -> list[Finding]:
    """Whether no more requests were in flight than users were active."""
    limit = limits.of(USERS_RATIO)
    driver = tables.recording.driver
    if driver is not None and driver.users_bound == "none":
        sentence = "the log may count the users of one of its load generators only"
        return [not_checked(limit, sentence)]
    window = tables.holds[-1] if tables.holds else (0, 0)
    length_ns = window[1] - window[0]
    if length_ns < SHORTEST_NS:
        sentence = "the measurement window is too short to compare requests in flight with users"
        return [not_checked(limit, sentence)]
    step_ns = 0 if driver is None else round(driver.instants_step_s * SECOND_NS)
    parts = [] if step_ns else _equal_parts(window)
    whole, *each = tables.in_flight([window, *parts])
    mean = whole.mean * length_ns / (length_ns + step_ns)
    findings = [_of_users(limit, users, mean, whole, "")]
    if each and findings[0].level == "sound":
        worst = max(each, key=lambda one: one.mean)
        start_s = parts[each.index(worst)][0] / SECOND_NS
        place = f"from {wording.seconds(round(start_s, 1))} on, "
        limit = limits.of(USERS_PART_RATIO)
        findings.append(_of_users(limit, users, worst.mean, worst, place))
    if driver is None or driver.users_bound != "certain":
        return [_at_most_doubtful(one) for one in findings]
    return findings


def _equal_parts(window: Window) -> list[Window]:
    """Parts of a window of a second or longer, no more than `MOST_WINDOW_PARTS`."""
    length_ns = window[1] - window[0]
    count = min(max(length_ns // SECOND_NS, 1), MOST_WINDOW_PARTS)
    edges = [window[0] + length_ns * place // count for place in range(count + 1)]
    return list(pairwise(edges))


def _of_users(limit: Limit, users: float, mean: float, by_rows: InFlight, place: str) -> Finding:
    ratio = mean / users
    sentence = (
        f"{place}{wording.rate(by_rows.ended_per_s)} requests/s × "
        f"{wording.seconds(by_rows.time_s)} gives {wording.amount(mean)} requests in flight, "
        f"with {wording.count(users)} active users"
    )
    excess = "" if limit.level(ratio) == "sound" else ": more than possible"
    return found(limit, ratio, sentence + excess, ONE_EACH)


def _at_most_doubtful(finding: Finding) -> Finding:
    """The finding where a user may have several requests in flight."""
    if finding.level == "sound":
        return finding
    sentence = finding.sentence.replace("more than possible", "more than one for each of them")
    return replace(finding, level="doubtful", sentence=sentence)


def _in_ramps(tables: Tables) -> Iterator[_Counted]:
    """The parts of each ramp in which something was in flight."""
    for stage in tables.recording.stages:
        windows = _parts(stage) if stage.kind == "ramp" else []
        for number, window in enumerate(windows, 1):
            of = f" {number} of {len(windows)}" if len(windows) > 1 else ""
            place = f"in part{of} of the ramp, " if of else "in the ramp, "
            counted = _counted(tables, window, place)
            if counted is not None and counted.mean > 0:
                yield counted


def _parts(ramp: RecordedStage) -> list[Window]:
    """The steps of a ramp, so many together that each part lasts long enough."""
    length_ns = ramp.end_ns - ramp.start_ns
    steps = max(ramp.steps, 1)
    together = max(-(-steps // MOST_PARTS), -(-SHORTEST_NS * steps // max(length_ns, 1)))
    firsts = range(0, max(steps - together, 0) + 1, together)
    edges = [ramp.start_ns + length_ns * first // steps for first in firsts]
    return list(zip(edges, [*edges[1:], ramp.end_ns], strict=True))


def _counted(tables: Tables, part: Window, place: str) -> _Counted | None:
    """Stretch and mean of the driver's readings of a part; None when there are none."""
    inside = [
        (interval, value)
        for interval, value in tables.usage.intervals("driver", "in_flight_mean")
        if overlap(interval, part) > HALF * (interval[1] - interval[0])
    ]
    if not inside:
        return None
    end_ns = tables.recording.stages[-1].end_ns
    lengths = [min(end, end_ns) - start for (start, end), _ in inside]
    mean = sum(n * value for n, (_, value) in zip(lengths, inside, strict=True)) / sum(lengths)
    window = inside[0][0][0], min(inside[-1][0][1], end_ns)
    return _Counted(place, window, mean, _margin(tables, window))


def _margin(tables: Tables, window: Window) -> float:
    """Requests in flight that may have come or gone between the counts of several threads."""
    load = tables.recording.load
    places = (load.peak_connections or 0) * load.in_flight_each
    edges_ns = (edge_ns for edge_ns in window if edge_ns)  # at zero nothing is in flight
    apart_ns = sum(_apart_ns(tables, edge_ns) for edge_ns in edges_ns)
    return places * apart_ns / (window[1] - window[0])


def _apart_ns(tables: Tables, edge_ns: int) -> float:
    """How far from an instant some thread counted; 0 where the load generator does not say."""
    end_ns = tables.recording.stages[-1].end_ns
    of_hosts = (
        zip(series.at_ns.tolist(), series.values.tolist(), strict=True)
        for series in tables.usage.of("driver", "counts_apart_s")
    )
    nearest_ns = (
        min(abs(min(at_ns, end_ns) - edge_ns) + apart_s * SECOND_NS for at_ns, apart_s in readings)
        for readings in of_hosts
    )
    return max(nearest_ns, default=0.0)


def _accounted(limits: Limits, part: _Counted, by_rows: InFlight) -> Sequence[Finding]:
    """The rows against the driver's clock."""
    low, high = limits.of(ACCOUNTED_RATIO), limits.of(EXCESS_RATIO)
    if part.mean <= 0:
        sentence = "no request was in flight in the measurement window"
        return [not_checked(low, sentence)]
    counted, margin = by_rows.mean / part.mean, part.margin / part.mean
    ratio = min(max(1.0, counted - margin), counted + margin)
    sentence = part.place + _sentence(part.mean, by_rows, counted, margin)
    lack = "" if low.level(ratio) == "sound" else ": rows or times are missing"
    excess = "" if high.level(ratio) == "sound" else ": more than possible"
    return [
        found(low, ratio, sentence + lack, REPEAT),
        found(high, ratio, sentence + excess, REPEAT),
    ]


def _sentence(counted: float, reported: InFlight, ratio: float, margin: float) -> str:
    share = wording.percent(round(ratio, 3))
    if round(margin, 3):
        share += f" ± {wording.percent(round(margin, 3))}"
    return (
        f"the load generator counted {wording.amount(counted)} requests in flight; "
        f"{wording.rate(reported.ended_per_s)} requests/s × {wording.seconds(reported.time_s)} "
        f"gives {wording.amount(reported.mean)} ({share})"
    )


def _occupied(
    tables: Tables, limits: Limits, hold: _Counted, by_rows: InFlight
) -> Sequence[Finding]:
    """The places of open connections against what was in flight, or waited to be sent."""
    load, recording = tables.recording.load, tables.recording
    # Without a turn in the window no request began in it, which `trial_completed` tells.
    none_began = recording.turns and not recording.held_turns
    if none_began or not (load.is_saturating and load.keeps_connections):
        return []
    limit = limits.of(OCCUPIED_RATIO)
    if closed_connections.closes_each(tables):
        return [not_checked(limit, "connections carry one request each")]
    is_open = tables.usage.mean("driver", "connections_open", tables.holds[-1:])
    if not is_open:
        sentence = "how many connections were open could not be read"
        return [unknown(limit, sentence, REPEAT)]
    taken = tables.usage.mean("driver", "places_open", tables.holds[-1:])
    offered = is_open * load.in_flight_each if taken is None else taken
    places = offered * _filled_ratio(recording)
    if not places:
        return [not_checked(limit, "the server takes no streams")]
    ratio = (hold.mean + by_rows.waiting) / places + tail_ratio(tables)
    sentence = (
        f"of {wording.amount(places)} requests that the open connections can carry, "
        f"{wording.amount(hold.mean)} were in flight and {wording.amount(by_rows.waiting)} waited "
        "to be sent "
        f"({wording.percent(round(ratio, 3))})"
    )
    finding = found(limit, ratio, sentence, REPEAT)
    unused = _may_be_unused(load, is_counted=taken is not None)
    if unused and finding.level != "sound":
        return [not_checked(limit, sentence, unused)]
    return [meaning(finding, "the other connections were idle")]


def _may_be_unused(load: Load | UnknownLoad, *, is_counted: bool) -> str:
    """Why places of open connections may hold no request; empty where each must hold one."""
    if load.events:
        return "a stream may end some time after its last event"
    if not is_counted and load.protocol == "http2" and load.in_flight_each > 1:
        return "the server may take fewer streams than requested"
    return ""


def _filled_ratio(recording: Recording) -> float:
    """Share of the time in which requests began, so that no place had to be empty."""
    lasted_ns = sum(turn.duration_ns for turn in recording.held_turns)
    if recording.begun_ns is None or not lasted_ns:
        return 1.0
    return min(recording.begun_ns / lasted_ns, 1.0)
