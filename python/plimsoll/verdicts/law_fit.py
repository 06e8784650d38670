"""How well the universal scalability law fits, as a finding of the checks that fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found

if TYPE_CHECKING:
    from plimsoll.aggregate.scalability import Fit
    from plimsoll.verdicts.limits import Limits


def finding(
    check: str, over: str, fit: Fit, limits: Limits, remedy: str, *, beside: str = "", close: str
) -> Finding:
    """What a fit says: a share of variance, unless the law misses no point by much.

    Args:
        check: Name of the check, whose limits are `r_squared` and `missed_ratio`.
        over: What was fitted, as the beginning of a sentence.
        fit: The law that comes nearest.
        limits: Limits of the trial, or of the campaign.
        remedy: What to do where it does not fit.
        beside: What stands behind the parameters of the law.
        close: What is said where it misses no point by much.
    """
    limit, width = limits.of(check, "r_squared"), limits.of(check, "missed_ratio")
    sentence = (
        f"{over} the universal scalability law explains "
        f"{wording.percent(round(max(fit.r_squared, 0.0), 3))} of how throughput differs "
        f"(contention {fit.contention:.2g}, coherency {fit.coherency:.2g}{beside})"
    )
    if width.level(fit.farthest_ratio) == "sound":
        return found(limit, 1.0, f"{sentence}{close}", "")
    sentence += (
        f"; at {wording.count(fit.farthest)} connections it is wrong by "
        f"{wording.percent(round(fit.farthest_ratio, 3))}"
    )
    return found(limit, fit.r_squared, sentence, remedy)
