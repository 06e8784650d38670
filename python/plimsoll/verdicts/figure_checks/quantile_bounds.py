"""Do the percentiles allow the mean that throughput and connections imply?

If each connection sends its next request as soon as it has the last response, the mean time is
connections / throughput, whatever the tool prints. Percentiles bound the mean from both sides:
requests between the median and p90 took at least the median and at most p90, and so on,

    Σ (q[i+1] − q[i]) · t[i]  ≤  mean  ≤  Σ (q[i+1] − q[i]) · t[i+1]

A mean above the upper bound means that requests were slower than the percentiles show, or that
connections were idle. A mean below the lower bound means that requests were faster than they show.

Without a published maximum there is no upper bound. The check then gives the mean time that the
requests above the highest percentile must have taken, which is a lower bound of the maximum. "The
mean cannot exceed p99" would be wrong: one request in a hundred may be very slow.

Requests in flight when the measurement ended count nowhere: each connection may have waited for one
for as long as the maximum. Connections begin one after another, so each may have been idle for the
time of one request before.

The computed times that wrk adds can raise the lower bound, but the median hardly beyond twice
connections / throughput (`laws.most_corrected_median_s`). A higher one is impossible if requests
were sent one at a time; wrk does not print whether a script pipelined them.

Source: Little's law, and the definition of a quantile; arithmetic of this project.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics import laws
from plimsoll.verdicts.finding import Finding, explained_by_several, found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit, capped_ratio
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

REMEDY = "Do not quote these percentiles; measure with a tool that logs every request"
UNLESS_PIPELINED = (
    "Give the command above the output, or `--set in_flight_each=1` if it had no script (`-s`)"
)
ROUNDING_RATIO = 0.01
"""Times are printed with three digits or so."""
NAME = "quantile_bounds"
TITLE = "Quantile bounds"
PROBLEM = "Impossible quantiles"
NEEDS = "connections, throughput and percentiles of a load without a fixed rate"
COMPARES: FigureComparison = "rate_and_times"
SOURCE = "Little, 1961, and the definition of a quantile"
UPPER_RATIO = Limit(
    NAME,
    "upper_ratio",
    "above",
    1.0,
    1.02,
    "ratio",
    "mean time by connections and throughput / the most that percentiles allow",
    "a bound; 2 % for rounding",
)
LOWER_RATIO = Limit(
    NAME,
    "lower_ratio",
    "below",
    1.0,
    0.98,
    "ratio",
    "mean time by connections and throughput / the least that percentiles allow",
    "a bound; 2 % for rounding",
)
NEEDED_MAX_RATIO = Limit(
    NAME,
    "needed_max_ratio",
    "above",
    10.0,
    None,
    "ratio",
    "least possible value of the unpublished maximum / the highest published percentile",
    PROPOSAL,
)
LIMITS = (
    UPPER_RATIO,
    LOWER_RATIO,
    NEEDED_MAX_RATIO,
)


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether percentiles, throughput and connections agree; None where one is missing."""
    rate = figures.timed_per_s
    inner = [share for share, _ in figures.quantiles_s if 0.0 < share < 1.0]
    if not rate or not figures.in_flight or not inner:
        return None
    implied_s = laws.mean_time_s(figures.in_flight, rate)
    findings = [_upper(figures, limits, implied_s), _lower(figures, limits, implied_s)]
    return verdict(NAME, figures.label, findings, SOURCE)


def _shifted(figures: ReportedStatistics, step_s: float) -> list[tuple[float, float]]:
    """The quantiles, each as much greater or less as rounding may have made it."""
    return [(share, max(time_s + step_s, 0.0)) for share, time_s in figures.quantiles_s]


def _demand(figures: ReportedStatistics, implied_s: float) -> str:
    return (
        f"{wording.amount(figures.in_flight or 0.0)} busy connections at "
        f"{wording.count(figures.timed_per_s or 0.0)} requests/s imply a mean latency of "
        f"{wording.seconds(implied_s)}"
    )


def _upper(figures: ReportedStatistics, limits: Limits, implied_s: float) -> Finding:
    quantiles = _shifted(figures, figures.quantiles_step_s)
    most_s = laws.most_mean_s(quantiles)
    if most_s is None:
        return _without_maximum(figures, limits, implied_s, quantiles)
    limit = limits.of(UPPER_RATIO)
    finished_s = implied_s - _at_ends_s(figures, implied_s, quantiles[-1][1])
    ratio = capped_ratio(finished_s, most_s)
    demand = _demand(figures, implied_s)
    if limit.level(ratio) == "sound":
        sentence = f"{demand}; the printed percentiles allow up to {wording.seconds(most_s)}"
        return found(limit, ratio, sentence, "")
    busy = _busy(figures.in_flight or 0.0, most_s / finished_s)
    sentence = (
        f"{demand}, but the percentiles allow {wording.seconds(most_s)} at most: "
        f"only {busy} connections were busy, or latencies are missing"
    )
    remedy = "Check how many connections were open, and whether the times include all requests"
    finding = found(limit, ratio, sentence, remedy)
    if finding.level == "void" and figures.model == "unknown":
        return replace(finding, level="doubtful")
    return finding


def _at_ends_s(figures: ReportedStatistics, implied_s: float, longest_s: float) -> float:
    """What both ends may add to the mean: of each connection a usual request and the longest."""
    if not figures.in_flight or not figures.ended:
        return 0.0
    return min(figures.in_flight * (implied_s + longest_s) / figures.ended, implied_s)


def _busy(in_flight: float, share: float) -> str:
    """`23.5 of 1,600`; with as many digits as show that it is fewer."""
    used, every = in_flight * share, wording.amount(in_flight)
    shown = wording.amount(used)
    return f"{wording.number(used, 4) if shown == every else shown} of {every}"


def _without_maximum(
    figures: ReportedStatistics, limits: Limits, implied_s: float, quantiles: laws.Quantiles
) -> Finding:
    """What the maximum must have been."""
    limit = limits.of(NEEDED_MAX_RATIO)
    share, highest_s = quantiles[-1]
    finished_s = implied_s * (1.0 - figures.unfinished_ratio)
    needed_s = laws.needed_max_s(finished_s, quantiles) or 0.0
    ratio = max(needed_s, 0.0) / highest_s if highest_s else 0.0
    demand = _demand(figures, implied_s)
    if ratio <= 1.0:
        sentence = f"{demand}, which the printed percentiles allow"
        return found(limit, ratio, sentence, "")
    sentence = (
        f"{demand}; with p{wording.exact(share * 100)} at {wording.seconds(highest_s)}, the "
        "slower requests "
        f"need {wording.seconds(needed_s)} on average, and so does the unpublished maximum"
    )
    remedy = "Publish the maximum: it decides whether these figures can be true"
    finding = found(limit, ratio, sentence, remedy)
    if figures.timeout_s is None or needed_s <= figures.timeout_s:
        return finding
    over = f"but no request may take longer than {wording.seconds(figures.timeout_s)}"
    return replace(finding, level="void", further=(over,))


def _lower(figures: ReportedStatistics, limits: Limits, implied_s: float) -> Finding:
    limit = limits.of(LOWER_RATIO)
    least_s = laws.least_mean_s(_shifted(figures, -figures.quantiles_step_s))
    most_s = implied_s * (1.0 + figures.overrun_ratio)
    ratio = capped_ratio(most_s, least_s)
    demand = _demand(figures, implied_s)
    if limit.level(ratio) == "sound":
        return found(limit, ratio, f"{demand}, which the printed percentiles allow", "")
    sentence = (
        f"{demand}, but by the printed percentiles it was {wording.seconds(least_s)} at least"
    )
    if figures.times == "synthetic":
        return _of_corrected(figures, found(limit, ratio, sentence, REMEDY))
    if figures.may_be_several:
        return explained_by_several(found(limit, ratio, sentence, REMEDY))
    return found(
        limit, ratio, f"{sentence}: the throughput is impossible with these latencies", REMEDY
    )


def _of_corrected(figures: ReportedStatistics, finding: Finding) -> Finding:
    """What computed times explain of it: a median of twice the mean, if nothing was pipelined."""
    most_s, median_s = _most_median_s(figures), figures.times_s.get("p50", 0.0)
    is_beyond = median_s * (1.0 - ROUNDING_RATIO) > most_s and figures.in_flight_each == 1.0
    level = "doubtful" if finding.level == "void" else finding.level
    if not is_beyond:
        made_up = "the tool computed times for requests that it did not send"
        return replace(finding, level=level, further=(made_up,))
    bound = (
        f"computed times raise p50 to {wording.seconds(most_s)} at most, not to "
        f"{wording.seconds(median_s)}"
    )
    if figures.in_flight_known:
        return replace(finding, further=(bound,))
    open_ = f"{bound}; only requests that a script sent together explain it, which is not printed"
    return replace(finding, level=level, further=(open_,), remedy=UNLESS_PIPELINED)


def _most_median_s(figures: ReportedStatistics) -> float:
    """The bound; wrk expects times by the requested connections, less than one more per thread."""
    requested = (figures.in_flight or 0.0) + max((figures.threads or 1) - 1, 0)
    longest_s = figures.times_s.get("max", float("inf"))
    return laws.most_corrected_median_s(requested, figures.timed_per_s or 1.0, longest_s)
