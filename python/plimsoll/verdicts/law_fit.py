"""How well the universal scalability law fits, as a finding of the checks that fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, found
from plimsoll.verdicts.limits import PROPOSAL, Limit

if TYPE_CHECKING:
    from plimsoll.statistics.scalability import Fit
    from plimsoll.verdicts.finding import Remedy


def limits(check: str) -> tuple[Limit, Limit]:
    """The limits of a check that fits the law: of the variance it explains, and of what it misses.

    Args:
        check: Name of the check.
    """
    r_squared = Limit(
        check,
        "r_squared",
        "below",
        0.95,
        None,
        "ratio",
        "variance of throughput over levels of connections that the law explains / all of it",
        PROPOSAL,
    )
    missed_ratio = Limit(
        check,
        "missed_ratio",
        "above",
        0.1,
        None,
        "ratio",
        "greatest difference between a level and the law / the level; below it, the law fits",
        PROPOSAL,
    )
    return r_squared, missed_ratio


def finding(
    over: str,
    fit: Fit,
    limit: Limit,
    width: Limit,
    remedy: Remedy | str,
    *,
    beside: str = "",
    close: str,
) -> Finding:
    """The finding on a fit: a share of variance, unless the law misses no point by much.

    Args:
        over: What was fitted, as the beginning of a sentence.
        fit: The law that comes nearest.
        limit: The limit of the variance that the law explains.
        width: The limit of what it misses.
        remedy: What to do where it does not fit.
        beside: What stands behind the parameters of the law.
        close: The sentence's end if it misses no point by much.
    """
    sentence = (
        f"{over} the universal scalability law explains "
        f"{wording.percent(round(max(fit.r_squared, 0.0), 3))} of the variance "
        f"(contention {wording.number(fit.contention, 2)}, coherency "
        f"{wording.number(fit.coherency, 2)}{beside})"
    )
    if width.level(fit.farthest_ratio) == "sound":
        return found(limit, 1.0, f"{sentence}{close}", "")
    worst = (
        f"at {wording.count(fit.farthest)} connections it is off by "
        f"{wording.percent(round(fit.farthest_ratio, 3))}"
    )
    return found(limit, fit.r_squared, sentence, remedy, worst)
