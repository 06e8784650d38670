"""Did requests arrive at the rate, and at the instants, that the load asks for?

Only in the open model, where a schedule says when each request is due, whatever the server does.

- rate: requests sent in the holds against those that the schedule asks for in them. Where arrivals
  are drawn at random, four standard deviations of a Poisson count are no difference.
- lag: the 99th percentile of sent − due, divided by the median service time or 10 ms, whichever is
  longer. What waits in the driver is part of the response time, which counts from due; but the
  server then saw other arrivals than the load says, fewer at a time and later.

A driver that slows down together with its server asks less of it just when it is slow.

Source: B. Schroeder, A. Wierman, M. Harchol-Balter, Open Versus Closed: A Cautionary Tale,
NSDI 2006; G. Tene on coordinated omission.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, not_asked, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import RecordedStage
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "arrivals_as_asked"
UNKNOWN_LOAD = "Put on the load with Plimsoll, or with another tool as its driver"
SOURCE = "requests sent against the schedule of an open load; Schroeder et al., NSDI 2006"
CHANCE = 4.0
"""Poisson counts differ by so many standard deviations by chance."""
EDGES = 2
"""Arrivals that may fall on this or that side of the ends of a hold, for each thread."""
LEAST_SERVICE_NS = 10_000_000
"""Where answers are faster, lag is compared with this instead."""
MORE_POOL = (
    "Give the load more connections, or the driver more cores; where the server was at its limit, "
    "ask for fewer arrivals"
)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether requests arrived as the load asks for."""
    if tables.recording.load.get("model") == "unknown":
        sentence = "nobody wrote down which arrivals were asked for"
        findings = [unknown(limits.of(NAME, "rate_difference"), sentence, UNKNOWN_LOAD)]
    elif tables.recording.load.get("model") != "open":
        sentence = "the load is closed: requests follow answers, and no arrivals were asked for"
        findings = [not_asked(limits.of(NAME, "rate_difference"), sentence)]
    else:
        findings = [_rate(tables, limits), _lag(tables, limits)]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _rate(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "rate_difference")
    duration_s = sum(end - start for start, end in tables.holds) / 1e9
    asked = sum(map(_asked, tables.recording.holds))
    if not asked or not duration_s:
        return unknown(limit, "no arrivals were asked for in a hold", "Hold the load for longer")
    sent = sum(kind.held for kind in tables.kind_counts)
    difference = max(abs(sent - asked) - _by_chance(tables, asked), 0.0) / asked
    sentence = (
        f"{wording.amount(asked / duration_s)} arrivals per second were asked for and "
        f"{wording.amount(sent / duration_s)} requests per second were sent in the hold"
    )
    return found(limit, difference, sentence, MORE_POOL)


def _asked(stage: RecordedStage) -> float:
    """Arrivals that the schedule has in a stage: its mean level times its length."""
    share = (stage.steps + 1) / (2 * stage.steps) if stage.steps else 0.5
    level = stage.start + (stage.end - stage.start) * share
    return level * (stage.end_ns - stage.start_ns) / 1e9


def _by_chance(tables: Tables, asked: float) -> float:
    driver = tables.recording.driver
    edges = EDGES * max(driver.threads if driver else 1, 1)
    drawn = tables.recording.load.get("arrivals") == "poisson"
    return edges + (CHANCE * sqrt(asked) if drawn else 0.0)


def _lag(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "lag_ratio")
    exact, longest = tables.summary["lag_p99_ns"], tables.summary["lag_max_ns"]
    lag_ns = longest if exact is None else exact
    service_ns = tables.summary["service_time_p50_ns"] or tables.summary["service_time_mean_ns"]
    if lag_ns is None or service_ns is None:
        sentence = "nothing was answered in the hold, so nobody knows how late requests were sent"
        return unknown(limit, sentence, "Hold the load for longer")
    which = "the latest of all requests was" if exact is None else "one request in a hundred was"
    sentence = (
        f"{which} sent {wording.seconds(lag_ns / 1e9)} after it was due or later; the median "
        f"service time is {wording.seconds(service_ns / 1e9)}"
    )
    return found(limit, lag_ns / max(service_ns, LEAST_SERVICE_NS), sentence, MORE_POOL)
