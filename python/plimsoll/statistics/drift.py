"""Drift: whether a series changes from its beginning to its end, by how much, how surely.

Equal parts of a stretch of time are fitted by a straight line, by one step, and by curves that
level off. The best of these shapes is a drift if it explains two thirds of the variance or more.
That limit, and not a test for independent numbers, is what keeps a machine whose speed wanders from
looking like a server that changes: neighbouring parts of such a series resemble each other, and
most tests count each of them as news.

How often a series without any drift passes the limit, in 3,000 simulated series of 20 parts
(first-order autoregressive, by the correlation of neighbours): 0: 0 %, 0.3: 0.2 %, 0.5: 2 %,
0.6: 4 %. Steps of 20 % and curves of 30 % are found in more than 99 % of the series whose parts
scatter by 3 %.

Source:
    Ordinary least squares over a fixed set of shapes; the limit is calibrated as above
    (`tests/unit/aggregate/test_drift.py` repeats it). Effective number of correlated observations:
    G. V. Bayley and J. M. Hammersley, *The "effective" number of independent observations in an
    autocorrelated time series*, JRSS Supplement 8, 1946.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.statistics import student

if TYPE_CHECKING:
    from collections.abc import Sequence

    Vector = np.ndarray[tuple[int], np.dtype[np.float64]]
    Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
    _Fit = tuple[float, float, float, float, tuple[float, ...]]

PARTS = 20
"""Equal parts that a hold is cut into."""

EXPLAINED = 2 / 3
"""Least share of the variance that a shape explains to be a drift."""

CONFIDENCE = 0.95
"""Of the intervals."""

_EDGE = 4
"""A step leaves as many parts on either side, so one or two odd parts are none."""

_LEVELS_OFF = (1, 2, 4)
"""Parts after which a curve has gone 63 % of its way."""

_MOST_RELATED = 0.8
"""Neighbours are taken to be correlated no more than this; fewer parts cannot tell more."""


@dataclass(frozen=True)
class Drift:
    """How a series changed, and how widely it scattered around that.

    Attributes:
        first: The fitted shape at the beginning, in the unit of the series.
        last: The fitted shape at the end.
        reach: Half width of the 95 % interval of `last - first`.
        explained_ratio: Share of the variance that the shape explains, 0 to 1.
        mean_error_ratio: Half width of the 95 % interval of the mean of the series / the mean.
        progress: The shape: 0 at its beginning, 1 at its end, for each part.
    """

    first: float
    last: float
    reach: float
    explained_ratio: float
    mean_error_ratio: float
    progress: tuple[float, ...]

    @property
    def is_real(self) -> bool:
        """Whether the series changed beyond its own scatter."""
        return self.is_beyond_scatter and self.explained_ratio >= EXPLAINED

    @property
    def rises(self) -> bool:
        """Whether it ended higher than it began."""
        return self.last > self.first

    @property
    def change_ratio(self) -> float:
        """Change / the higher end: -0.4 for a fall from 100 to 60, 0.4 for the way back."""
        return (self.last - self.first) / max(self.first, self.last)

    @property
    def is_beyond_scatter(self) -> bool:
        """Whether the interval of its change excludes 0, however much the shape explains."""
        return abs(self.last - self.first) > self.reach

    def same_shape(self, counts: Sequence[float]) -> Drift:
        """How another series of as many parts changed, fitted by the shape of this one.

        Args:
            counts: `PARTS` numbers at equal distances.
        """
        values = np.array(counts, dtype=np.float64)
        design = np.column_stack([np.ones(len(values)), np.array(self.progress)])
        return _of_fit(values, _fit(design, values))

    def along(self, values: Sequence[float]) -> float:
        """Change of another series along the same shape, in its own unit.

        Args:
            values: One number for each part; NaN where it is unknown.

        Returns:
            Slope of the values over `progress`; NaN when a value is unknown.
        """
        shape = np.array(self.progress)
        other = np.array(values, dtype=np.float64)
        apart = shape - shape.mean()
        spread = float(apart @ apart)
        return float(apart @ (other - other.mean())) / spread if spread else math.nan


def drift(counts: Sequence[float]) -> Drift | None:
    """The drift of a series.

    Args:
        counts: `PARTS` numbers at equal distances.

    Returns:
        The best shape and what it explains; None when the median of the numbers is 0.
    """
    values = np.array(counts, dtype=np.float64)
    if np.median(values) <= 0:
        return None
    fitted = [_fit(design, values) for design in _designs(len(values))]
    return _of_fit(values, min(fitted, key=lambda fit: fit[0]))


def mean_error_ratio(counts: Sequence[float] | Vector) -> float:
    """Half width of the 95 % interval of the mean of a series / the mean.

    Args:
        counts: Numbers at equal distances, whose mean is above 0.
    """
    values = np.array(counts, dtype=np.float64)
    return _mean_error(values - values.mean()) / float(values.mean())


def _of_fit(values: Vector, fit: _Fit) -> Drift:
    unexplained, first, last, error, shape = fit
    around = values - values.mean()
    whole = float(around @ around)
    explained = 1 - unexplained / whole if whole > 0 else 0.0
    return Drift(
        first=max(first, 0.0),
        last=max(last, 0.0),
        reach=student.two_sided(len(values) - 2, CONFIDENCE) * error,
        explained_ratio=explained,
        mean_error_ratio=mean_error_ratio(values),
        progress=shape,
    )


def _fit(design: Matrix, values: Vector) -> _Fit:
    """Sum of squares left, first and last value, standard error of their difference, the shape.

    The second column of a design goes from 0 to 1, so its coefficient is the change.
    """
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ values
    left = values - design @ coefficients
    squares = float(left @ left)
    variance = squares / (len(values) - 2) * _inflation(left)
    error = math.sqrt(variance * float(inverse[1, 1]))
    first, change = map(float, coefficients)
    return squares, first, first + change, error, tuple(map(float, design[:, 1]))


def _mean_error(around: Vector) -> float:
    """Half width of the interval of a mean, from the numbers less their mean."""
    count = len(around)
    variance = float(around @ around) / (count - 1) * _inflation(around)
    return student.two_sided(count - 1, CONFIDENCE) * math.sqrt(variance / count)


def _inflation(residuals: Vector) -> float:
    """By how much correlation of neighbours enlarges the variance of a mean.

    The correlation of few residuals comes out too small; the first-order bias is put back
    (M. G. Kendall, Biometrika 41, 1954).
    """
    count = len(residuals)
    squares = float(residuals @ residuals)
    if squares <= 0:
        return 1.0
    raw = float(residuals[1:] @ residuals[:-1]) / squares
    related = min(_MOST_RELATED, max(0.0, (count * raw + 1) / (count - 4)))
    return (1 + related) / (1 - related)


@cache
def _designs(count: int) -> tuple[Matrix, ...]:
    """Each shape as a constant beside a column from 0 to 1."""
    at = np.arange(count, dtype=np.float64)
    line = at / (count - 1)
    steps = [(at >= edge).astype(np.float64) for edge in range(_EDGE, count - _EDGE + 1)]
    curves = [1 - np.exp(-at / parts) for parts in _LEVELS_OFF]
    shapes = [line, *steps, *(curve / curve[-1] for curve in curves)]
    return tuple(np.column_stack([np.ones(count), shape]) for shape in shapes)
