"""Proportions: the share of wrong ones among all, from a sample.

Source:
    C. J. Clopper, E. S. Pearson, *The Use of Confidence or Fiducial Limits Illustrated in the Case
    of the Binomial*, Biometrika 26(4), 1934; J. A. Hanley, A. Lippman-Hand, *If Nothing Goes Wrong,
    Is Everything All Right?*, JAMA 249(13), 1983 (the rule of three).
"""

from __future__ import annotations

from plimsoll.statistics.intervals import CONFIDENCE, Interval


def proportion_interval(found: int, drawn: int) -> Interval:
    """The exact 95 % interval of a share, by Clopper and Pearson.

    Args:
        found: How many of those drawn have a property.
        drawn: How many were drawn; at least 1.
    """
    from scipy.special import betaincinv  # noqa: PLC0415 - few trials need it

    tail = (1 - CONFIDENCE) / 2
    low = float(betaincinv(found, drawn - found + 1, tail)) if found else 0.0
    high = float(betaincinv(found + 1, drawn - found, 1 - tail)) if found < drawn else 1.0
    return Interval(low, high)


def excluded_from(drawn: int) -> float:
    """The share from which on one at least would have been drawn, with 95 %, when none was.

    It is about 3 / `drawn`, the rule of three.

    Args:
        drawn: How many were drawn; at least 1.
    """
    return 1.0 - (1.0 - CONFIDENCE) ** (1.0 / drawn)
