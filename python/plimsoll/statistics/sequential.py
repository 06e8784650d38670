"""Sequential intervals: looked at again and again while numbers come in, and still 95 %.

Who stops as soon as an ordinary interval excludes 0 finds a difference too often: each look is
another chance to be wrong. Here the chance is spent over the looks (α-spending), in proportion to
the square of the share of the planned numbers that are there: in proportion to the share itself,
fewer differences were found: 74 % instead of 83 % of 1.5 standard deviations by 8 numbers. The mean
number needed was the same. The interval of a look is wider than an ordinary one by as much as that
costs. All intervals of one comparison hold the truth *together* with the confidence stated, so any
rule may decide when to stop.

Bounds are exact for normal numbers with unknown variance but for the error of the simulation that
finds them: their joint distribution depends on nothing but how many numbers each look has. For 3 to
30 numbers they are narrower than confidence sequences, which hold for any number of looks without a
plan (`benches/comparison_coverage.py`).

Source:
    K. K. G. Lan and D. L. DeMets, *Discrete sequential boundaries for clinical trials*, Biometrika
    70, 1983 (spending); C. Jennison and B. W. Turnbull, *Group Sequential Methods*, 2000, 4.4
    (unknown variance), 9.2 (repeated confidence intervals). Alternative: S. R. Howard et al.,
    *Time-uniform, nonparametric, nonasymptotic confidence sequences*, Annals of Statistics 49,
    2021.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST = 3
"""Numbers at the first look; two say too little about their variance."""

_EACH_UP_TO = 6
_GROWTH = 1.2
_WALKS = 100_000
_SEED = 1983


def looks(planned: int) -> tuple[int, ...]:
    """After how many numbers to look: after each at first, then after each 20 % more.

    Args:
        planned: The most numbers that there will be.
    """
    found = list(range(LEAST, min(planned, _EACH_UP_TO) + 1))
    while found and found[-1] < planned:
        found.append(min(planned, math.ceil(found[-1] * _GROWTH)))
    return tuple(found)


def reach(taken: Sequence[int], planned: int, error: float) -> float:
    """Half the width of the interval of a mean, in standard errors.

    Args:
        taken: Numbers there were at each look so far, the present one last; at least 2 each.
        planned: The most numbers that there will be, at least those of the present look.
        error: Share of comparisons in which any interval may miss the truth, such as 0.05.
    """
    return _bounds(tuple(taken), planned, error)[-1]


@lru_cache(maxsize=512)
def _bounds(taken: tuple[int, ...], planned: int, error: float) -> tuple[float, ...]:
    """The bound of each look: of the walks within all bounds before, its share lies beyond it."""
    numbers = np.random.default_rng(_SEED).standard_normal((taken[-1], _WALKS))
    spent = [round(_WALKS * error * (number / planned) ** 2) for number in (0, *taken)]
    inside = np.ones(_WALKS, dtype=np.bool_)
    bounds: list[float] = []
    for count, (before, now) in zip(taken, pairwise(spent), strict=True):
        found = numbers[:count]
        statistic = np.abs(found.mean(axis=0)) / (found.std(axis=0, ddof=1) / math.sqrt(count))
        left = np.sort(statistic[inside])
        bounds.append(float(left[-1 - max(now - before, 1)]))
        inside &= statistic <= bounds[-1]
    return tuple(bounds)
