"""Intervals: how precisely a few repetitions determine a number.

The unit of repetition is a trial with a fresh server, never a second or a request. Intervals are
Student's, on logarithms where the numbers are positive: their coverage is 95 % from two repetitions
on, and that of a bootstrap of the median, which has few values to draw from, is not.

Source:
    Student, The probable error of a mean, Biometrika 6, 1908; B. L. Welch, Biometrika 34, 1947; T.
    Kalibera and R. Jones, *Rigorous Benchmarking in Reasonable Time*, ISMM 2013 (ratios with
    intervals). Coverage at 2 to 30 repetitions: `benches/ranking_errors.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

CONFIDENCE = 0.95
"""Share of intervals that hold the true value."""


@dataclass(frozen=True)
class Interval:
    """A 95 % interval.

    Attributes:
        low: Its lower end.
        high: Its upper end.
    """

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Whether a value lies in it, its ends included."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Estimate:
    """A number over repetitions, or a ratio of two.

    Attributes:
        value: Median, or ratio of medians.
        interval: Its 95 % interval; None where something was measured once.
    """

    value: float
    interval: Interval | None = None


def estimate(values: Sequence[float]) -> Estimate:
    """The median of what was measured, with its interval.

    Args:
        values: One number for each repetition; at least one.
    """
    return Estimate(median(values), interval(values))


def interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """The 95 % interval of the typical repetition; None below two repetitions.

    It is Student's interval of the geometric mean (of the mean where a value is not positive). It
    is that of the median as far as repetitions scatter evenly to both sides on logarithms. Where no
    value is negative the interval is not, either.

    Args:
        values: One number for each repetition.
        confidence: Share of intervals that hold the true value, where it is not 95 %.
    """
    if len(values) < 2:  # noqa: PLR2004
        return None
    if min(values) == max(values):
        return Interval(values[0], values[0])
    if min(values) > 0:
        low, high = _about_mean([math.log(value) for value in values], confidence)
        return Interval(math.exp(low), math.exp(high))
    low, high = _about_mean(values, confidence)
    return Interval(max(low, 0.0) if min(values) >= 0 else low, high)


def ratio_interval(numerators: Sequence[float], denominators: Sequence[float]) -> Interval | None:
    """The 95 % interval of the ratio of two typical repetitions.

    Welch's interval of the difference of logarithms, so it is one of the ratio of geometric means,
    and the same whichever is divided by the other.

    Args:
        numerators: One positive number for each repetition.
        denominators: The same of what it is divided by.

    Returns:
        The interval; None when one side has fewer than two repetitions or a number that is not
        positive.
    """
    if min(len(numerators), len(denominators)) < 2:  # noqa: PLR2004
        return None
    if min(*numerators, *denominators) <= 0:
        return None
    above, below = np.log(numerators), np.log(denominators)
    difference = float(above.mean() - below.mean())
    found = difference_interval(above.tolist(), below.tolist(), difference)
    return found and Interval(math.exp(found.low), math.exp(found.high))


def difference_interval(
    values: Sequence[float], others: Sequence[float], difference: float
) -> Interval | None:
    """Welch's 95 % interval of the difference of two means.

    Args:
        values: What scatters about the first mean.
        others: What scatters about the second one.
        difference: The difference, about which the interval lies.

    Returns:
        The interval; None when one side has fewer than two numbers.
    """
    if min(len(values), len(others)) < 2:  # noqa: PLR2004
        return None
    counts = len(values), len(others)
    parts = (
        float(np.var(values, ddof=1)) / counts[0],
        float(np.var(others, ddof=1)) / counts[1],
    )
    error = math.sqrt(sum(parts))
    reach = 0.0 if error == 0 else error * quantile(_freedom(parts, counts))
    return Interval(difference - reach, difference + reach)


@dataclass(frozen=True)
class Slope:
    """A straight line through numbers that each have a level of their own.

    Attributes:
        slope: How much they rise for each unit of their place.
        is_beyond_chance: Whether the 99 % interval of the slope excludes 0.
    """

    slope: float
    is_beyond_chance: bool


def slope(
    places: Sequence[float],
    values: Sequence[float],
    groups: Sequence[int],
    least_freedom: int = 1,
) -> Slope | None:
    """The common slope of groups of numbers, by least squares.

    Args:
        places: Where each number was taken.
        values: The numbers.
        groups: Which of them share a level.
        least_freedom: With fewer degrees of freedom there is no interval.

    Returns:
        The slope; None when there are too few numbers, or all of a group were taken in one place.
    """
    inside = np.array(groups)
    x, y = _centred(np.array(places), inside), _centred(np.array(values), inside)
    freedom = len(y) - len(set(groups)) - 1
    square = float(x @ x)
    if freedom < least_freedom or square == 0:
        return None
    found = float(x @ y) / square
    rest = y - found * x
    error = math.sqrt(float(rest @ rest) / freedom / square)
    return Slope(found, abs(found) > quantile(freedom, 0.99) * error)


def _centred(values: np.ndarray[Any, Any], groups: np.ndarray[Any, Any]) -> Any:
    """Values less the mean of their group."""
    means = {group: values[groups == group].mean() for group in set(groups.tolist())}
    return values - np.array([means[group] for group in groups.tolist()])


def _freedom(parts: tuple[float, float], counts: tuple[int, int]) -> float:
    """Degrees of freedom by Welch and Satterthwaite."""
    shares = (part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    return sum(parts) ** 2 / sum(shares)


def quantile(freedom: float, confidence: float = CONFIDENCE) -> float:
    """The value that Student's t does not exceed in size with some probability.

    Args:
        freedom: Degrees of freedom; need not be whole.
        confidence: The probability.
    """
    from scipy.special import stdtrit  # noqa: PLC0415 - most reports have no repetitions

    return float(stdtrit(freedom, (1 + confidence) / 2))


def _about_mean(values: Sequence[float], confidence: float) -> tuple[float, float]:
    array = np.array(values, dtype=np.float64)
    reach = float(array.std(ddof=1)) / math.sqrt(len(array)) * quantile(len(array) - 1, confidence)
    return float(array.mean()) - reach, float(array.mean()) + reach
