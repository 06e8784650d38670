"""Did requests arrive at the rate and at the instants that the load specifies?

This check applies to the open model only, where a schedule sets when each request is due, whatever
the server does.

- rate: requests sent in the measurement windows against those scheduled in them. For random
  arrivals, a difference within four standard deviations of a Poisson count is chance. In turns no
  arrival is due in the wait for the last responses of a turn.
- lag: the 99th percentile of sent − due (of fewer than 1,000 requests, the highest percentile that
  they support), divided by the median service time or 10 ms, whichever is longer. Waiting in the
  load generator is part of the response time, which counts from due. But the server then saw
  arrivals that were later and less concurrent than the load specifies.

Another tool's log does not contain its schedule. If it has the number of requests that the tool
dropped instead of sending them, as k6 counts, these are compared with all.

A load generator that slows down together with its server sends less just when the server is slow.

While other programs have the load generator's cores, requests are late through no fault of the
load; `undisturbed` judges that. Only waits in the seconds with late requests count. They explain
these if none was later than three times the longest stall of the load generator in those seconds.
They must also make up half of the time that as many arrivals take. After a stall at the end of a
measurement window, the requests due in it are sent after the window. Waits about that end explain
them.

While the server stalls, all connections wait and arrivals wait for one of them. If the longest
stall is as long as requests were late, it is named, and late requests are doubtful at most: their
response times contain the wait, and only the arrivals behind the stall are fewer at a time.

Source: B. Schroeder, A. Wierman, M. Harchol-Balter, Open Versus Closed: A Cautionary Tale,
NSDI 2006; G. Tene on coordinated omission.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from plimsoll import wording
from plimsoll.aggregate import disturbance, stalls
from plimsoll.aggregate.rates import offered_s
from plimsoll.aggregate.usage import second_window
from plimsoll.verdicts.finding import Finding, Remedy, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import PACE, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Window
    from plimsoll.recording import RecordedStage
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "offered_rate_met"
TITLE = "Offered rate met"
PROBLEM = "Offered rate missed"
SOURCE = "requests sent against the schedule of an open load; Schroeder et al., NSDI 2006"
RATE_DIFFERENCE = Limit(
    NAME,
    "rate_difference",
    "above",
    0.01,
    0.05,
    "ratio",
    "difference between requests sent and requests due in the measurement window / due",
    PROPOSAL,
)
LAG_RATIO = Limit(
    NAME,
    "lag_ratio",
    "above",
    0.1,
    1.0,
    "ratio",
    "99th percentile of sent − due, or the highest known / median service time or 10 ms, "
    "whichever is longer",
    PROPOSAL,
)
NEVER_SENT_RATIO = Limit(
    NAME,
    "never_sent_ratio",
    "above",
    0.001,
    0.05,
    "ratio",
    "requests that another tool dropped instead of sending them / those and the rows of its log",
    PROPOSAL + "; as for failed requests of published figures",
)
LIMITS = (
    RATE_DIFFERENCE,
    LAG_RATIO,
    NEVER_SENT_RATIO,
)
NEEDS = None
ROLE = Role(
    misled_by=PACE,
    blames_server=frozenset({RATE_DIFFERENCE.name}),
    by_overload=frozenset({LAG_RATIO.name}),
)
CHANCE = 4.0
"""Poisson counts differ by so many standard deviations by chance."""
EDGES = 2
"""Arrivals that may fall on this or that side of the ends of a hold, for each thread."""
LEAST_SERVICE_NS = 10_000_000
"""If responses are faster, lag is compared with this instead."""
LATEST = {
    "p99": "one request in a hundred",
    "p95": "one request in twenty",
    "p90": "one request in ten",
    "p50": "every second request",
}
"""Percentiles of the lag, the highest first, and who was as late; one late request is none."""
LATE_RATIOS = {"p99": 0.01, "p95": 0.05, "p90": 0.1, "p50": 0.5}
"""Share of the requests that are as late as a percentile, or later."""
LIKELY = 0.5
"""Waits for a core explain late requests where they take this share of the time or more."""
CAUGHT_UP = 3.0
"""A request is sent within so many times the longest stall, if stalls are all it waited for."""
LEAST_STALL_S = 0.05
"""A shorter time without a response is no stall that would be named."""
PAUSES = Remedy(
    "Look for pauses of the server; with more `connections` arrivals do not wait for them",
    "Look for pauses of the server; with more connections (`-c`) arrivals do not wait for them",
)
MORE_USERS = Remedy(
    "Give the load generator more connections or users, or request a lower rate",
    imported="Give the load generator more users (`maxVUs`), or request a lower rate",
)
MORE_POOL = Remedy(
    "Give the load more `connections`, or the load generator more `driver_cores`; request a lower "
    "rate if the server was saturated",
    "Give the load more connections (`-c`) or threads (`-t`), or request a lower rate (`-R`)",
    hosts="Give the load more connections, add hosts, or give them more `cores` or `threads` in "
    "the file of hosts; request a lower rate if the server was saturated",
)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether requests arrived as the load specifies."""
    if tables.recording.load.model == "unknown":
        findings = [_never_sent(tables, limits)]
    elif tables.recording.load.model != "open":
        sentence = "closed load: requests follow responses, so there is no requested rate"
        findings = [inapplicable(limits.of(RATE_DIFFERENCE), sentence)]
    else:
        findings = [_rate(tables, limits), _lag(tables, limits)]
    return of_trial(NAME, tables.recording, findings, SOURCE)


def _never_sent(tables: Tables, limits: Limits) -> Finding:
    """Requests that another tool dropped by its own count; nothing else of its rate is known."""
    driver = tables.recording.driver
    never_sent = 0 if driver is None else driver.never_sent
    due = never_sent + sum(row.requests for row in tables.outcome_counts)
    ratio = never_sent / due if due else 0.0
    sentence = (
        f"{wording.count(never_sent)} requests were never sent ({wording.percent(ratio)}): the "
        "offered load was lower than requested, and the time they waited is missing from every "
        "latency"
    )
    finding = found(limits.of(NEVER_SENT_RATIO), ratio, sentence, MORE_USERS)
    if finding.level != "sound":
        return finding
    return not_checked(limits.of(RATE_DIFFERENCE), "the requested arrivals are not recorded")


def _rate(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(RATE_DIFFERENCE)
    whole_s, duration_s = tables.held_s, offered_s(tables.recording)
    scheduled = sum(map(_requested, tables.recording.holds))
    requested = scheduled * duration_s / whole_s if whole_s else 0.0
    if not requested or not duration_s:
        return inapplicable(limit, "no rate was requested in the measurement window")
    if any(one.kept is not None for one in tables.recording.hosts):
        return not_checked(limit, "rows stayed on their hosts: when each request was sent is there")
    sent = sum(kind.held for kind in tables.kind_counts)
    chance = _by_chance(tables, requested) + _left_by_a_stall(tables, requested / duration_s)
    difference = max(abs(sent - requested) - chance, 0.0) / requested
    sentence = (
        f"{wording.amount(requested / duration_s)} arrivals per second were requested and "
        f"{wording.amount(sent / duration_s)} requests per second were sent in the measurement "
        "window"
    )
    return found(limit, difference, sentence, MORE_POOL)


def _requested(stage: RecordedStage) -> float:
    """Arrivals that the schedule has in a stage: its mean level times its length."""
    return stage.mean_level * (stage.end_ns - stage.start_ns) / 1e9


def _by_chance(tables: Tables, requested: float) -> float:
    driver = tables.recording.driver
    edges = EDGES * max(driver.threads if driver else 1, 1)
    load = tables.recording.load
    drawn = load.model == "open" and load.arrivals == "poisson"
    return edges + (CHANCE * sqrt(requested) if drawn else 0.0)


def _left_by_a_stall(tables: Tables, per_s: float) -> float:
    """Arrivals of stalls that other programs made, which fall behind the ends of the holds."""
    return per_s * sum(_stalled_at_s(tables, hold) for hold in tables.holds)


def _stalled_at_s(tables: Tables, hold: Window) -> float:
    """How long the load generator stalled about the end of a hold, as far as it lacked a core."""
    end_ns = hold[1]
    told = [
        (window, length_s)
        for window, length_s in tables.usage.intervals("driver", "longest_pause_s")
        if window[0] < end_ns + disturbance.MARGIN_NS and window[1] > end_ns - disturbance.MARGIN_NS
    ]
    if not tables.usage.of("driver", "longest_pause_s"):
        told = [(hold, _longest_stall_s(tables, [hold]))]
    explained_s = (min(length_s, _waited_s(tables, [window])) for window, length_s in told)
    return max(explained_s, default=0.0)


def _waited_s(tables: Tables, windows: Sequence[Window]) -> float:
    """How long the load generator waited for cores that others had, about some stretches."""
    return disturbance.driver_waited_s(tables.recording, tables.usage, windows)


def _longest_stall_s(tables: Tables, windows: Sequence[Window]) -> float:
    """The longest stall of the load generator about some stretches, or of all if it tells no more.

    Args:
        tables: The tables of the trial.
        windows: The stretches of time.
    """
    driver = tables.recording.driver
    if not tables.usage.of("driver", "longest_pause_s"):
        return 0.0 if driver is None else (driver.longest_pause_ns or 0) / 1e9
    starts, ends = np.array(windows, np.int64).reshape(-1, 2).T
    return float(disturbance.longest_pauses_s(tables.usage, starts, ends).max(initial=0.0))


def _waited_while_late_s(tables: Tables, limit: Limit, service_ns: float) -> float | None:
    """How long the load generator waited for cores while requests were sent too late.

    None where that does not explain every percentile that is too late.
    """
    late = [
        (LATE_RATIOS[name], lag_ns)
        for name in LATEST
        if (lag_ns := tables.summary.lag.of(name)) is not None
        and limit.level(lag_ns / max(service_ns, LEAST_SERVICE_NS)) != "sound"
    ]
    if not late:
        return None
    ratio, lags_ns = max(ratio for ratio, _ in late), [lag_ns for _, lag_ns in late]
    windows = [second_window(one) for one in tables.late_seconds(int(min(lags_ns)))]
    waited_s = _waited_s(tables, windows)
    is_short = max(lags_ns) / 1e9 <= CAUGHT_UP * _longest_stall_s(tables, windows)
    return waited_s if is_short and waited_s >= LIKELY * ratio * tables.held_s else None


def _lag(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(LAG_RATIO)
    known = ((name, tables.summary.lag.of(name)) for name in LATEST)
    quantile, lag_ns = next((one for one in known if one[1] is not None), ("", None))
    service_ns = tables.summary.service_time.p50_ns or tables.summary.service_time.mean_ns
    if lag_ns is None or service_ns is None:
        return not_checked(limit, "too few responses to compute how late requests were sent")
    sentence = (
        f"{LATEST[quantile]} was sent {wording.seconds(lag_ns / 1e9)} or more after its intended "
        "start; "
        f"the median service time is {wording.seconds(service_ns / 1e9)}"
    )
    if waited_s := _waited_while_late_s(tables, limit, service_ns):
        sentence = (
            f"{LATEST[quantile]} was sent {wording.seconds(lag_ns / 1e9)} or more late, because "
            f"the load generator waited for a core for {wording.seconds(waited_s)} about that time"
        )
        return not_checked(limit, sentence)
    finding = found(limit, lag_ns / max(service_ns, LEAST_SERVICE_NS), sentence, MORE_POOL)
    stalls_s = _stalls_s(tables)
    if finding.level == "sound" or max(stalls_s, default=0.0) < lag_ns / 1e9:
        return finding
    sentence = (
        f"the server stalled {wording.several(len(stalls_s), 'time')}, for up to "
        f"{wording.seconds(max(stalls_s))}, while all connections waited: {LATEST[quantile]} was "
        f"sent {wording.seconds(lag_ns / 1e9)} late or more"
    )
    return Finding("doubtful", finding.measured, limit, sentence, PAUSES)


def _stalls_s(tables: Tables) -> list[float]:
    """How long no response came, where the load generator itself did not stop for half of it."""
    of_server = stalls.of_server(tables.recording, tables.usage, tables.stalls)
    lengths = ((end - start) / 1e9 for start, end in of_server)
    return [one for one in lengths if one >= LEAST_STALL_S]
