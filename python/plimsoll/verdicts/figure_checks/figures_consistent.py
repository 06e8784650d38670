"""Does a tool agree with itself: its rate with its count, its bytes with their rate?

Rate × duration is the number of requests, and bytes per second × duration are the bytes. Tools
print both, rounded, so they agree within that rounding. wrk also prints the rate of a thread, as
the mean over short intervals, and the greatest of these, which all threads together cannot exceed.
It cuts the decimals off each interval's rate, so both may be up to 1 per second higher.
The "time per request" of ab is connections / rate by definition, so it agrees whatever happened. If
it does not, the two come from different runs.

Most tools print more figures twice: a histogram adds up to the responses, parts last no longer than
the whole. A standard deviation is bounded by mean and maximum, and by the fewest numbers that it
can be of. Each reader lists those of its tool (`tool_output/restated.py`). They agree within the
rounding of the print, or are not of one run.

Source: arithmetic; each tool's own documentation defines what it prints; R. Bhatia and C. Davis,
A better bound on the variance, American Mathematical Monthly 107(4), 2000.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.tool_output import restated
from plimsoll.tool_output.restated import Figure
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.tool_output.restated import Restated, Unit
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "figures_consistent"
TITLE = "Figures consistent"
PROBLEM = "Inconsistent figures"
NEEDS = "throughput, and requests with the duration; or figures that the tool prints twice"
COMPARES: FigureComparison = "one_run"
SOURCE = "rate × duration against the tool's own count"
APART_RATIO = Limit(
    NAME,
    "apart_ratio",
    "above",
    0.01,
    0.05,
    "ratio",
    "difference between rate × duration and the tool's own count / the greater",
    PROPOSAL,
)
THREADS_APART_RATIO = Limit(
    NAME,
    "threads_apart_ratio",
    "above",
    0.1,
    None,
    "ratio",
    "rate of all threads by the mean of one, up to 1/s higher, against that by the whole: "
    "difference / greater",
    PROPOSAL,
)
THREADS_MOST_RATIO = Limit(
    NAME,
    "threads_most_ratio",
    "above",
    None,
    1.2,
    "ratio",
    "rate / (threads × (the greatest rate of one thread in a short stretch + 1/s))",
    PROPOSAL + "; wrk samples each thread every 100 ms, so it rarely misses the best interval",
)
CONTRADICTIONS = Limit(
    NAME,
    "contradictions",
    "above",
    None,
    0.0,
    "pairs",
    "figures that differ by more than rounding from what other printed figures make of them",
    "arithmetic, within the rounding of the print",
)
LIMITS = (
    APART_RATIO,
    THREADS_APART_RATIO,
    THREADS_MOST_RATIO,
    CONTRADICTIONS,
)
SHOWN = 3
"""Maximum number of listed contradictions."""
CUT_OFF_PER_S = 1.0
"""wrk cuts the decimals off the rate of each interval of a thread."""
SLACK_RATIO = 0.01
"""Times are printed with three digits or so."""
REMEDY = "Check that the figures are of one run"


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether a tool's figures agree with each other; None where none can be compared."""
    findings = [
        *_unless_told(figures, figures.throughput_per_s, _requests(figures, limits)),
        *_unless_told(figures, figures.received_per_s, _bytes(figures, limits)),
        *_threads(figures, limits),
        *_unless_told(figures, figures.time_per_request_s, _time_per_request(figures, limits)),
        *_restated(figures, limits),
    ]
    return verdict(NAME, figures.label, findings, SOURCE) if findings else None


def _unless_told(
    figures: ReportedStatistics, value: float | None, findings: list[Finding]
) -> list[Finding]:
    """Findings about a figure; none if another figure contradicts it within rounding."""
    told = any(one.contradicts and one.printed == value for one in figures.restated)
    return [] if told else findings


def _apart(one: float, other: float) -> float:
    """How far apart two numbers are, as a share of the greater."""
    most = max(one, other)
    return abs(one - other) / most if most else 0.0


def _requests(figures: ReportedStatistics, limits: Limits) -> list[Finding]:
    return _over_time(figures, limits, "requests", figures.throughput_per_s, figures.requests)


def _bytes(figures: ReportedStatistics, limits: Limits) -> list[Finding]:
    rate_per_s, counted = figures.received_per_s, figures.received_bytes
    return _over_time(figures, limits, "bytes", rate_per_s, counted)


def _over_time(
    figures: ReportedStatistics,
    limits: Limits,
    what: str,
    rate_per_s: float | None,
    counted: float | None,
) -> list[Finding]:
    """A rate × the length of the measurement, against what was counted."""
    lasted_s = figures.duration_s
    if rate_per_s is None or lasted_s is None or counted is None:
        return []
    sentence = (
        f"{wording.count(rate_per_s)} {what}/s × {wording.seconds(lasted_s)} gives "
        f"{wording.count(rate_per_s * lasted_s)}; {wording.count(counted)} were counted"
    )
    finding = found(
        limits.of(APART_RATIO), _apart(rate_per_s * lasted_s, counted), sentence, REMEDY
    )
    return [_unless_sampled(figures, finding)]


def _unless_sampled(figures: ReportedStatistics, finding: Finding) -> Finding:
    """A rate that is the mean of short stretches need not be the count / the time."""
    if not figures.sampled or finding.level == "sound":
        return finding
    mean = "the tool prints the mean rate of short intervals, and these differed"
    return replace(finding, level="doubtful", further=(mean,))


def _threads(figures: ReportedStatistics, limits: Limits) -> list[Finding]:
    each, rate, threads = figures.thread_throughput_per_s, figures.throughput_per_s, figures.threads
    if each is None or rate is None or not threads:
        return []
    sentence = (
        f"{wording.several(threads, 'thread')} × {wording.amount(each)} requests/s gives "
        f"{wording.amount(each * threads)}; the rate of all is {wording.amount(rate)}"
    )
    remedy = "The rate was not steady, or some threads had less to do; use a longer run"
    limit = limits.of(THREADS_APART_RATIO)
    nearest = min(max(rate, each * threads), (each + CUT_OFF_PER_S) * threads)
    finding = found(limit, _apart(nearest, rate), sentence, remedy)
    return [finding, *_threads_at_most(figures, limits, threads, rate)]


def _threads_at_most(
    figures: ReportedStatistics, limits: Limits, threads: int, rate: float
) -> list[Finding]:
    """All threads together did no more than each did in its best stretch."""
    most = figures.thread_most_per_s
    if not most:
        return []
    limit = limits.of(THREADS_MOST_RATIO)
    ratio = rate / ((most + CUT_OFF_PER_S) * threads)
    sentence = (
        f"{wording.several(threads, 'thread')} with at most {wording.amount(most)} requests/s each "
        f"complete at most {wording.amount(most * threads)}, not {wording.amount(rate)}"
    )
    return [found(limit, ratio, sentence, REMEDY)] if limit.level(ratio) != "sound" else []


def _time_per_request(figures: ReportedStatistics, limits: Limits) -> list[Finding]:
    each_s, rate, requested = (
        figures.time_per_request_s, figures.throughput_per_s, figures.connections
    )  # fmt: skip
    if each_s is None or rate is None or not requested:
        return []
    sentence = (
        f"{wording.amount(rate)} requests/s × {wording.seconds(each_s)} gives "
        f"{wording.amount(rate * each_s)}; {wording.amount(requested)} connections were requested"
    )
    derived = "the tool derives this time from the other two, so agreement proves nothing"
    limit = limits.of(APART_RATIO)
    return [found(limit, _apart(rate * each_s, requested), sentence, REMEDY, derived)]


def _restated(figures: ReportedStatistics, limits: Limits) -> list[Finding]:
    """Each figure that contradicts others; one that says how many agree, if none does."""
    pairs = (*figures.restated, *_spread(figures))
    if not pairs:
        return []
    limit = limits.of(CONTRADICTIONS)
    wrong = [one for one in pairs if one.contradicts]
    if not wrong:
        agree = f"{wording.several(len(pairs), 'figure')} agree with others of the same output"
        return [found(limit, 0, agree, "")]
    more = f", and {len(wrong) - SHOWN} more contradict each other" if len(wrong) > SHOWN else ""
    stated = [_contradiction(one) for one in wrong[:SHOWN]]
    stated[-1] += more
    return [found(limit, len(wrong), sentence, REMEDY) for sentence in stated]


def _spread(figures: ReportedStatistics) -> tuple[Restated, ...]:
    """The standard deviation of the times, which mean and maximum bound."""
    times, step_s = figures.times_s, figures.times_step_s
    held = ("stddev", times.get("stddev")), ("mean", times.get("mean")), ("max", times.get("max"))
    stddev, mean, most = (Figure(name, one, _rounding(one, step_s)) for name, one in held)
    least_s, count = times.get("min", 0.0), figures.fewest_timed
    name = "the standard deviation of the times"
    named = replace(mean, name="the mean"), replace(most, name="the maximum")
    return restated.spread(name, stddev, *named, least_s, count)


def _rounding(value: float | None, step_s: float) -> float:
    """What a printed time may be off by: its step, or the last of about three digits."""
    return max(step_s, SLACK_RATIO * (value or 0.0))


def _contradiction(one: Restated) -> str:
    printed, derived = _quantity(one.printed, one.unit), _quantity(one.derived, one.unit)
    if printed == derived:
        printed, derived = wording.every_digit(one.printed), wording.every_digit(one.derived)
    if one.relation == "equals":
        return f"{one.name} is {printed}, but {one.by} gives {derived}"
    bound = "at most" if one.relation == "at_most" else "at least"
    return f"{one.name} is {printed}, but by {one.by} it is {derived} {bound}"


def _quantity(value: float, unit: Unit) -> str:
    match unit:
        case "s":
            return wording.seconds(value) if value else "0 s"
        case "percent":
            return wording.percent(value / 100)
        case "bytes":
            return f"{wording.amount(value)} bytes"
        case _:
            return wording.amount(value)
