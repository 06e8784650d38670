"""Student's distribution of whole degrees of freedom.

SciPy has it too, and takes half a second to load: more than all the rest of judging a load.

Source:
    M. Abramowitz and I. A. Stegun, *Handbook of Mathematical Functions*, 1964, 26.7.3 and 26.7.4.
"""

from __future__ import annotations

import math
from functools import cache
from statistics import NormalDist

_CLOSE = 1e-14
"""Relative size of a step of Newton's method that is the last one."""


@cache
def two_sided(freedom: int, confidence: float) -> float:
    """The value that Student's t does not exceed in size with some probability.

    Newton's method from the quantile of the normal distribution, which is below: the probability is
    concave in the value, so that every step stays below and comes closer.

    Args:
        freedom: Degrees of freedom; at least 1.
        confidence: The probability, above 0 and below 1.
    """
    value = NormalDist().inv_cdf((1 + confidence) / 2)
    while True:
        step = (confidence - probability(value, freedom)) / (2 * _density(value, freedom))
        value += step
        if step <= _CLOSE * value:
            return value


def probability(value: float, freedom: int) -> float:
    """The probability that Student's t does not exceed a value in size.

    Args:
        value: The value; 0 or more.
        freedom: Degrees of freedom; at least 1.
    """
    angle = math.atan2(value, math.sqrt(freedom))
    square = math.cos(angle) ** 2
    is_odd = freedom % 2 == 1
    term = math.cos(angle) if is_odd else 1.0
    total = 0.0
    for place in range(1, freedom // 2 + 1):
        total += term
        below, above = (2 * place, 2 * place + 1) if is_odd else (2 * place - 1, 2 * place)
        term *= square * below / above
    summed = math.sin(angle) * total
    return 2 / math.pi * (angle + summed) if is_odd else summed


def _density(value: float, freedom: int) -> float:
    half = (freedom + 1) / 2
    log = math.lgamma(half) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    return math.exp(log - half * math.log1p(value**2 / freedom))
