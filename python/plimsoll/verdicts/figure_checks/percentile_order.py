"""Are the times in order, and does the mean lie where the percentiles allow?

A higher percentile is never shorter than a lower one, the minimum is the shortest time of all and
the maximum the longest. The mean lies between the bounds that percentiles set. Times count as equal
if they differ by no more than their rounding, which keeps the order of percentiles.

Source: the definition of a quantile.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics import laws
from plimsoll.verdicts.finding import found, verdict
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "percentile_order"
TITLE = "Percentile order"
PROBLEM = "Percentiles out of order"
NEEDS = "two or more times of one result"
COMPARES: FigureComparison = "one_run"
SOURCE = "the definition of a quantile"
DISORDER = Limit(
    NAME,
    "disorder",
    "above",
    None,
    0.0,
    "pairs",
    "percentiles that are shorter than a lower percentile",
    "the definition of a quantile",
)
LIMITS = (DISORDER,)
TWO = 2
SLACK = 1.01
"""Times are printed with three digits or so; what differs by less is not out of order."""


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether the times are in order; None where there are fewer than two."""
    if len([name for name in figures.times_s if name != "stddev"]) < TWO:
        return None
    limit = limits.of(DISORDER)
    wrong = [*_disorder(figures), *_misplaced_mean(figures)]
    if not wrong:
        finding = found(limit, 0, "the times are in order, from the shortest to the longest", "")
    else:
        remedy = "Check whether columns were mixed up, or came from different runs"
        finding = found(limit, len(wrong), wording.listed(wrong), remedy)
    return verdict(NAME, figures.label, [finding], SOURCE)


def _name(share: float) -> str:
    if share in (0.0, 1.0):
        return "the maximum" if share else "the minimum"
    return f"p{wording.exact(share * 100)}"


def _disorder(figures: ReportedStatistics) -> list[str]:
    step_s = figures.times_step_s
    return [
        f"{_name(high)} ({wording.seconds_in_steps(late, step_s)}) is shorter than {_name(low)} "
        f"({wording.seconds_in_steps(early, step_s)})"
        for (low, early), (high, late) in pairwise(figures.quantiles_s)
        if early > late * SLACK + _apart_s(figures, low, high)
    ]


def _apart_s(figures: ReportedStatistics, low: float, high: float) -> float:
    """By how much rounding can have put two times out of order.

    Percentiles are rounded alike, which keeps their order. Minimum and maximum may be exact.
    """
    are_percentiles = low > 0.0 and high < 1.0
    return figures.percentiles_step_s if are_percentiles else figures.quantiles_step_s


def _misplaced_mean(figures: ReportedStatistics) -> list[str]:
    """The mean where it is not between the bounds of the percentiles."""
    mean_s, quantiles = figures.times_s.get("mean"), figures.quantiles_s
    if mean_s is None or not quantiles or _disorder(figures):
        return []
    least_s, most_s = laws.least_mean_s(quantiles), laws.most_mean_s(quantiles)
    step_s = figures.quantiles_step_s
    if mean_s * SLACK + 2 * step_s < least_s:
        stated = f"by the percentiles it is {wording.seconds(least_s)} at least"
    elif most_s is not None and mean_s > most_s * SLACK + 2 * step_s:
        stated = f"by the percentiles it is {wording.seconds(most_s)} at most"
    else:
        return []
    mean = wording.seconds_in_steps(mean_s, figures.times_step_s)
    return [f"the mean is given as {mean}, but {stated}"]
