"""Little's law on published figures: connections in use = throughput × mean time.

    L = λ · W

If each connection sends its next request as soon as it has the last response, nearly all
connections have a request in flight all the time. Throughput and mean time give their number. Fewer
means that connections were not open, waited for the load tool, or waited for requests whose times
are left out. All of that happens: a tool without a core sends nothing, and begins late. So some
idle connections are doubtful; if more than half were idle, the result is void, because it is not of
so many connections. More than there are is impossible.

Times are as exact as they were printed: a mean of 1 ms in whole milliseconds is anything from 0 to
2 ms. Requests in flight when the measurement ended count nowhere; among few requests the check
allows for their share. If a tool mixes its measured times with others, as wrk does, the mean is too
high, which explains an excess and contradicts nothing.

In a run below a second, connections that begin later than others, and those that wait for the last
response of another, are idle for a part that counts. By the time that a start takes, and by the
longest time, fewer connections may seem busy.

A tool that prints the requested duration and waits for the last responses ran longer, by its
longest time at most. By that share, more than all connections may seem busy.

Source: J. D. C. Little, A proof for the queuing formula L = λW, Operations Research 9(3), 1961.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics import laws
from plimsoll.verdicts.checks.littles_law import EXCESS_RATIO
from plimsoll.verdicts.finding import Finding, explained_by_several, found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "littles_law"
TITLE = "Little's law"
PROBLEM = "Little's law violated"
NEEDS = "connections, throughput and the mean time of a load without a fixed rate"
COMPARES: FigureComparison = "rate_and_times"
SOURCE = "J. D. C. Little, Operations Research 9(3), 1961"
BUSY_RATIO = Limit(
    NAME,
    "busy_ratio",
    "below",
    0.95,
    0.5,
    "ratio",
    "connections that throughput and mean time of published figures keep busy / connections",
    PROPOSAL,
)
LIMITS = (BUSY_RATIO,)

SHORT_S = 1.0
"""Seconds below which the ends of a run count, where some connections are idle."""

START_S = 5e-3
"""Seconds that a tool may take to open its connections and to send their first requests."""


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether connections, throughput and mean time agree; None where one of them is missing."""
    mean_s, rate = figures.times_s.get("mean"), figures.timed_per_s
    if mean_s is None or not rate or not figures.in_flight:
        return None
    ratio = _ratio(figures, figures.in_flight, rate, mean_s)
    reported = _reported(figures, figures.in_flight, rate, mean_s)
    findings = [_low(figures, limits, ratio, reported), _high(figures, limits, ratio, reported)]
    return verdict(NAME, figures.label, findings, SOURCE)


def _ratio(figures: ReportedStatistics, in_flight: float, rate: float, mean_s: float) -> float:
    """Connections in use / connections, as near to 1 as the rounding of the mean allows."""
    step_s = figures.times_step_s
    slowest = rate / (1.0 + figures.overrun_ratio)
    least = laws.in_flight(slowest, max(mean_s - step_s, 0.0)) / in_flight
    most = laws.in_flight(rate, mean_s + step_s) / in_flight + figures.unfinished_ratio
    return min(max(1.0, least), most + _at_ends(figures))


def _at_ends(figures: ReportedStatistics) -> float:
    """Share of a short run in which a connection may be idle.

    It is before its first request, and while the last of another takes its time. Without a maximum
    nothing is known of the latter.
    """
    length_s = figures.duration_s or (figures.ended or 0.0) / (figures.timed_per_s or 1.0)
    if not 0.0 < length_s < SHORT_S:
        return 0.0
    return (START_S + figures.times_s.get("max", length_s)) / length_s


def _reported(figures: ReportedStatistics, in_flight: float, rate: float, mean_s: float) -> str:
    used, step_s = laws.in_flight(rate, mean_s), figures.times_step_s
    times = wording.seconds(mean_s)
    if step_s:
        low = laws.in_flight(rate, max(mean_s - step_s, 0.0))
        span = f"{wording.amount(low)} to {wording.amount(laws.in_flight(rate, mean_s + step_s))}"
        times = f"({wording.seconds(mean_s)} ± {wording.seconds(step_s)})"
        if mean_s < step_s:
            times = f"({wording.seconds_in_steps(mean_s, step_s)})"
    else:
        span = wording.amount(used)
    each = figures.in_flight_each
    if each == 1:
        kept, requested = "connections busy", ""
    else:
        kept = "requests in flight"
        requested = f" ({wording.amount(in_flight / each)} connections × {wording.amount(each)})"
    return (
        f"{wording.rate(rate)} requests/s × {times} keep {span} {kept}; "
        f"{wording.amount(in_flight)} were requested{requested}"
    )


def _low(figures: ReportedStatistics, limits: Limits, ratio: float, reported: str) -> Finding:
    limit = limits.of(BUSY_RATIO)
    needed_s = laws.mean_time_s(figures.in_flight or 0.0, figures.timed_per_s or 1.0)
    lack = (
        "the others were not open, or waited for the load generator or for requests whose times "
        "are missing"
        f"{_failures(figures)}",
        f"with all of them in use the mean would be {wording.seconds(needed_s)}",
    )
    further = () if limit.level(ratio) == "sound" else lack
    streams = "the server's limit of streams (SETTINGS_MAX_CONCURRENT_STREAMS), "
    remedy = (
        f"Check {'' if figures.in_flight_each == 1 else streams}how many connections were open, "
        "whether the load generator had a core at all times, and whether its rate was limited"
    )
    return _unless_paced(figures, found(limit, ratio, reported, remedy, *further))


def _unless_paced(figures: ReportedStatistics, finding: Finding) -> Finding:
    """If it is unknown whether a rate was requested, idle connections may be intended."""
    if finding.level == "void" and figures.model == "unknown":
        return replace(finding, level="doubtful")
    return finding


def _failures(figures: ReportedStatistics) -> str:
    if not figures.failures:
        return ""
    kinds = [f"{kind} {wording.count(number)}" for kind, number in figures.failures.items()]
    return f" (failures that were printed: {wording.listed(kinds)})"


def _high(figures: ReportedStatistics, limits: Limits, ratio: float, reported: str) -> Finding:
    limit = limits.of(EXCESS_RATIO)
    most_s = laws.mean_time_s(figures.in_flight or 0.0, figures.timed_per_s or 1.0)
    truth = f"the mean can have been {wording.seconds(most_s)} at most"
    if figures.times == "synthetic":
        made_up = (
            "the printed mean is too high, because the tool computed times for requests it could "
            f"not send; {truth}"
        )
        remedy = "Do not quote mean and percentiles of this run; its maximum is as measured"
        finding = found(limit, ratio, reported, remedy, made_up)
        return replace(finding, level="doubtful") if finding.level == "void" else finding
    remedy = "Throughput and times are not of the same requests, or one of them is wrong"
    if figures.may_be_several:
        return explained_by_several(found(limit, ratio, reported, remedy))
    return found(limit, ratio, f"{reported}: more than possible", remedy, truth)
