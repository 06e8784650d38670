"""Were there as many requests per second as the time limit demands?

No request lasts longer than the time limit *T*. If *C* connections are always in use and a share
*f* of their requests ends in time, there are at least

    C · f / T

requests per second. 80,000 connections with a limit of 2 s and 98 % in time make at least 39,200.
If a tool keeps waiting for late responses, the sentence gives the time that these would have to
take.

Source: Little's law with W ≤ T; J. D. C. Little, Operations Research 9(3), 1961.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics import laws
from plimsoll.verdicts.finding import found, verdict
from plimsoll.verdicts.limits import Limit, capped_ratio
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "timeout_floor"
TITLE = "Timeout floor"
PROBLEM = "Below the timeout floor"
NEEDS = "connections, throughput, the time limit and the share of requests that kept it"
COMPARES: FigureComparison = "one_run"
SOURCE = "connections × share in time / time limit; Little, 1961"
FLOOR_RATIO = Limit(
    NAME,
    "floor_ratio",
    "below",
    None,
    1.0,
    "ratio",
    "published throughput / the least that time limit and share in time demand",
    "a bound",
)
LIMITS = (FLOOR_RATIO,)


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether throughput reaches what the time limit demands; None where figures are missing."""
    rate, timeout_s, ratio = figures.throughput_per_s, figures.timeout_s, _in_time(figures)
    if not rate or not timeout_s or not figures.in_flight or ratio is None:
        return None
    limit = limits.of(FLOOR_RATIO)
    least = laws.least_per_s(figures.in_flight, ratio, timeout_s)
    reached = capped_ratio(rate, least)
    sentence = (
        f"with {wording.percent(ratio)} of requests inside a timeout of "
        f"{wording.seconds(timeout_s)}, {wording.amount(figures.in_flight)} connections complete "
        f"at least {wording.amount(least)} requests/s; {wording.amount(rate)} were published"
    )
    further = (
        ()
        if limit.level(reached) == "sound"
        else (_instead(figures.in_flight, rate, ratio, timeout_s),)
    )
    remedy = "Check how many connections were in use: both figures cannot be true"
    finding = found(limit, reached, sentence, remedy, *further)
    if finding.level == "void" and figures.model == "unknown":
        finding = replace(finding, level="doubtful")
    return verdict(NAME, figures.label, [finding], SOURCE)


def _in_time(figures: ReportedStatistics) -> float | None:
    """Share of the requests that ended in time; None if unknown."""
    if figures.right_ratio is not None:
        return figures.right_ratio
    if not figures.counts_failures or not figures.ended:
        return None
    kinds = [*figures.failures.items(), *figures.wrong_responses.items()]
    late = sum(number for kind, number in kinds if "time" in kind.lower())
    return max(1.0 - late / figures.ended, 0.0)


def _instead(in_flight: float, rate: float, ratio: float, timeout_s: float) -> str:
    """What would have to be true instead."""
    used = laws.in_flight(rate, timeout_s)
    clause = f"at most {wording.amount(used)} connections were in use"
    if ratio >= 1.0:
        return clause
    late_s = (laws.mean_time_s(in_flight, rate) - ratio * timeout_s) / (1.0 - ratio)
    return (
        f"{clause}, unless late requests held theirs for {wording.seconds(late_s)} each on average"
    )
