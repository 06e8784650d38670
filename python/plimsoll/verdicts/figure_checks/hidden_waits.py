"""Do the times hide how long a user would have waited?

A server that stands still for a second answers nobody in it. A load tool that waits for each answer
before it sends again has then sent hardly anything, so its percentiles, which count requests, know
nothing of that second. But the time is in the figures: at an instant picked at random the requests
in flight still take

    E[T²] / 2 E[T]

on average, long ones being in flight for longer. Where that is many times the mean, most of the
waiting lies in few requests. The mean is the printed one or, where it was rounded away, connections
/ throughput; the deviation is the printed one or, where none is printed, the least that the longest
request allows.

Source: the residual life of a renewal process, Feller 1971; coordinated omission, G. Tene.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate import laws
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import found, verdict

if TYPE_CHECKING:
    from plimsoll.published.figures import Figures
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "hidden_waits"
NEEDS = "mean and standard deviation, or maximum and number, of times from sending"
SOURCE = "the residual life of a renewal process; Feller, volume II, 1971"
COARSE = 10
"""A mean of fewer steps than this was rounded too much."""


def judge(figures: Figures, limits: Limits) -> Verdict | None:
    """Whether waiting is spread over the requests; None where the times do not tell."""
    mean_s = _mean_s(figures)
    if figures.times != "service" or figures.is_open or not mean_s:
        return None
    stddev_s = _stddev_s(figures, mean_s)
    if stddev_s is None:
        return None
    left_s = laws.left_to_wait_s(mean_s, stddev_s)
    limit = limits.of(NAME, "left_ratio")
    ratio = left_s / mean_s
    sentence = (
        f"requests take {wording.seconds(mean_s)} on average, and at an instant picked at random "
        f"those in flight still take {wording.seconds(left_s)}{_longest(figures)}"
    )
    if limit.level(ratio) != "sound":
        sentence += (
            "; so most of the waiting lies in few requests, and hardly any percentile shows it: "
            "whoever came then would have waited that long"
        )
    remedy = (
        "Look for a server that stands still now and then; measure at a rate, with times from when "
        "a request was due"
    )
    return verdict(NAME, figures.label, [found(limit, ratio, sentence, remedy)], SOURCE)


def _mean_s(figures: Figures) -> float | None:
    """The mean time, as exactly as it is known."""
    mean_s, rate = figures.times_s.get("mean"), figures.timed_per_s
    if mean_s is not None and mean_s > COARSE * figures.times_step_s:
        return mean_s
    if rate and figures.in_flight and figures.model == "closed":
        return laws.mean_time_s(figures.in_flight, rate)
    return None if mean_s is None else mean_s + figures.times_step_s


def _stddev_s(figures: Figures, mean_s: float) -> float | None:
    """The standard deviation, or the least that it can be."""
    printed_s, longest_s = figures.times_s.get("stddev"), figures.times_s.get("max")
    if printed_s is not None:
        return printed_s
    if longest_s is None or longest_s < mean_s or not figures.ended:
        return None
    return laws.least_stddev_s(mean_s, longest_s, figures.ended)


def _longest(figures: Figures) -> str:
    longest_s = figures.times_s.get("max")
    return "" if longest_s is None else f" (the longest took {wording.seconds(longest_s)})"
