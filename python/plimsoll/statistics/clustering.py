"""Clustering: do events come together more often than independent events would?

*In time.* Some of n events in a time T end at about the same instant by chance as well: within a
tenth of their median length m, (n − 1) 0.2 m / T others on average. The number of such pairs is
compared with those of 999 draws, in which each event ends at a random instant, whatever the others
do. It is beyond chance if no draw reaches it (p ≤ 0.001). Then those events are named whose own
number k of neighbours is rare for independent ones: P(X ≥ k) ≤ 0.05 by Poisson's distribution. Its
mean is (n − 1 − k) 0.2 m / T, without the neighbours themselves.

*In places.* Each of n independent events is in a place with the share p of all opportunities for
it. Then c or more are there with the binomial probability P(X ≥ c). It is beyond chance if that,
times the number of places, is at most 0.001.

Source:
    Draws: G. A. Barnard, discussion in *Journal of the Royal Statistical Society B* 25, 1963
    (Monte Carlo test). Numbers of neighbours against those of independent events: B. D. Ripley,
    *Modelling Spatial Patterns*, ibid. 39, 1977. Times the number of places: the inequality of
    Bonferroni.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc, gammainc

if TYPE_CHECKING:
    import numpy.typing as npt

    Numbers = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

RARE = 0.001
"""What independent events do no more often than this is not taken for their work."""

UNUSUAL = 0.05
"""So many of independent events, at most, are named beside those that come together."""

NEAR = 0.1
"""Events end together that end within this share of their median length."""

_DRAWS = 999
_SEED = 1963
_MOST_DRAWN = 1000
"""So many events are compared with draws, the longest: lengths say nothing about ends."""


def in_time(ends: Numbers, lengths: Numbers, duration: float) -> Mask | None:
    """Which events end together with more others than independent ones would.

    Args:
        ends: When each ends.
        lengths: How long each lasts.
        duration: Length of the time in which they may end.

    Returns:
        None where they are too few to tell: independent ones may as well all end together.
    """
    near = NEAR * float(np.median(lengths))
    longest = np.argsort(-lengths, kind="stable")[:_MOST_DRAWN]
    most = _most_by_chance(longest.size, near, duration)
    if most >= longest.size * (longest.size - 1):
        return None
    if _neighbours(ends[longest], near).sum() <= most:
        return np.zeros(ends.size, np.bool_)
    return _are_unusual(ends, near, duration)


def in_places(counts: Numbers, shares: Numbers) -> Mask:
    """Which places have more events than independent ones would make there.

    Args:
        counts: Events in each place.
        shares: Share of all opportunities for an event that each place has; the sum is 1.
    """
    some = np.maximum(counts, 1.0)
    tails = betainc(some, np.maximum(counts.sum() - some + 1, 1.0), shares)
    return (counts > 0) & (tails * counts.size <= RARE)


def _most_by_chance(events: int, near: float, duration: float) -> float:
    """The most neighbours that so many events have together in any draw of their ends."""
    draw = np.random.default_rng(_SEED)
    drawn = (draw.random(events) * duration for _ in range(_DRAWS))
    return max(float(_neighbours(ends, near).sum()) for ends in drawn)


def _are_unusual(ends: Numbers, near: float, duration: float) -> Mask:
    """Which events end together with more others than by what ends at other times."""
    found = _neighbours(ends, near)
    expected = (ends.size - 1 - found) * 2 * near / duration
    return (found > 0) & (gammainc(np.maximum(found, 1.0), expected) <= UNUSUAL)


def _neighbours(ends: Numbers, near: float) -> Numbers:
    """How many others end together with each event."""
    ordered = np.sort(ends)
    until = np.searchsorted(ordered, ends + near, side="right")
    before = np.searchsorted(ordered, ends - near, side="left")
    return (until - before - 1).astype(np.float64)
