"""Do the times hide how long a user would have waited?

A server that stalls for a second sends no response in it. A load tool that waits for each response
before it sends again has then sent hardly anything, so its percentiles, which count requests, hide
that second. But the time is in the figures: at a random instant the requests in flight still take

    E[T²] / 2 E[T]

on average, because long ones are in flight for longer. If that is many times the mean, a few
requests hold most of the waiting. The mean is the printed one or, if it was rounded away,
connections / throughput. The deviation is the printed one or, if none is printed, the least that
the longest request allows.

Source: the residual life of a renewal process, Feller 1971; coordinated omission, G. Tene.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics import laws
from plimsoll.verdicts.finding import found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import FigureComparison

if TYPE_CHECKING:
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "hidden_stalls"
TITLE = "Hidden stalls"
PROBLEM = "Hidden stalls"
NEEDS = "mean and standard deviation, or maximum and number, of times from sending"
COMPARES: FigureComparison = "one_run"
SOURCE = "the residual life of a renewal process; Feller, volume II, 1971"
LEFT_RATIO = Limit(
    NAME,
    "left_ratio",
    "above",
    10.0,
    None,
    "ratio",
    "mean residual time of a request in flight / mean time of a request",
    PROPOSAL + "; times of steady servers stay below 5",
)
LIMITS = (LEFT_RATIO,)
COARSE = 10
"""A mean of fewer steps than this was rounded too much."""


def judge(figures: ReportedStatistics, limits: Limits) -> Verdict | None:
    """Whether waiting is spread over the requests; None if the times do not show it."""
    mean_s = _mean_s(figures)
    if figures.times != "service" or figures.is_open or not mean_s:
        return None
    stddev_s = _stddev_s(figures, mean_s)
    if stddev_s is None:
        return None
    left_s = laws.left_to_wait_s(mean_s, stddev_s)
    limit = limits.of(LEFT_RATIO)
    ratio = left_s / mean_s
    sentence = (
        f"mean latency is {wording.seconds(mean_s)}, yet a request in flight at a random instant "
        "has "
        f"{wording.seconds(left_s)} to go{_longest(figures)}"
    )
    if limit.level(ratio) != "sound":
        sentence += ": a few stalls hold most of the waiting, and percentiles hide them"
    remedy = (
        "Look for stalls of the server; measure at a fixed rate, with latency from the intended "
        "start"
    )
    return verdict(NAME, figures.label, [found(limit, ratio, sentence, remedy)], SOURCE)


def _mean_s(figures: ReportedStatistics) -> float | None:
    """The mean time, as exactly as it is known."""
    mean_s, rate = figures.times_s.get("mean"), figures.timed_per_s
    if mean_s is not None and mean_s > COARSE * figures.times_step_s:
        return mean_s
    if rate and figures.in_flight and figures.model == "closed":
        return laws.mean_time_s(figures.in_flight, rate)
    return None if mean_s is None else mean_s + figures.times_step_s


def _stddev_s(figures: ReportedStatistics, mean_s: float) -> float | None:
    """The standard deviation, or the least that it can be."""
    printed_s, longest_s = figures.times_s.get("stddev"), figures.times_s.get("max")
    if printed_s is not None:
        return printed_s
    if longest_s is None or longest_s < mean_s or not figures.ended:
        return None
    return laws.least_stddev_s(mean_s, longest_s, figures.ended)


def _longest(figures: ReportedStatistics) -> str:
    longest_s = figures.times_s.get("max")
    return "" if longest_s is None else f" (the longest took {wording.seconds(longest_s)})"
