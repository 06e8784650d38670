"""A straight line through points that scatter by a share of their height, and whether it is one.

    y = intercept + slope · x, by weighted least squares with weights 1 / height of the line

The cost of a server scatters by a share of itself, since processes and moments differ by a share.
It also scatters by the grain of its clock, which is the same everywhere; these weights lie between
what either asks for. They are taken from the line, not from the points: a point that came out low
would weigh more. They only choose the estimate. Its intervals are those of the sandwich estimator
HC3, which holds for any scatter, with as many degrees of freedom as it has where the weights are
right.

Straightness is tested by a parabola: where the interval of its bend excludes 0, the intercept says
little of a server without load, since the line is not straight on its way there.

Source:
    J. G. MacKinnon and H. White, Some heteroskedasticity-consistent covariance matrix estimators
    with improved finite sample properties, Journal of Econometrics 29, 1985 (HC3); R. M. Bell and
    D. F. McCaffrey, Bias reduction in standard errors for linear regression with multi-stage
    samples, Survey Methodology 28, 2002, and G. W. Imbens and M. Kolesár, Robust standard errors
    in small samples, Review of Economics and Statistics 98, 2016 (degrees of freedom).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.statistics.intervals import Estimate, Interval, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    Numbers = np.ndarray[Any, np.dtype[np.float64]]

BEND_CONFIDENCE = 0.99
"""A bend is one if its interval of this confidence excludes 0, as with slopes of a drift."""

_ROUNDS = 10
_LOWEST = 0.05
"""A line that comes near 0, or below, weighs as if it had this share of the mean height."""
_WHOLE = 1 - 1e-9
"""A point with this leverage lies on the line whatever it is: its scatter is not known."""


@dataclass(frozen=True)
class StraightLine:
    """A straight line.

    Attributes:
        intercept: Its height at 0, with its interval; without one where points are too few.
        slope: By how much it rises for each unit of the place, likewise.
        bend: How much the slope of a parabola changes from the lowest place to the highest one, as
            a share of the steeper of both: −0.2 is a fifth less at the end. None where the line is
            straight as far as can be told, or where fewer than three places cannot tell.
    """

    intercept: Estimate
    slope: Estimate
    bend: float | None

    def height(self, place: float) -> float:
        """Its height at a place."""
        return self.intercept.value + self.slope.value * place


def weights(places: Sequence[float], values: Sequence[float]) -> Numbers | None:
    """Weights of points that scatter more the higher they are; None with fewer than two places.

    Args:
        places: Where each value was taken, 0 or more.
        values: The values, 0 or more.
    """
    x, y = np.asarray(places, np.float64), np.asarray(values, np.float64)
    if len(set(places)) < 2:  # noqa: PLR2004
        return None
    columns = np.column_stack([np.ones_like(x), x])
    lowest = _LOWEST * float(y.mean()) or 1.0
    found = np.ones_like(x)
    for _ in range(_ROUNDS):
        heights = columns @ _solved(columns, y, found)
        found = 1.0 / np.maximum(heights, lowest)
    return found / found.max()


def line(
    places: Sequence[float], values: Sequence[float], weighted: Numbers | None = None
) -> StraightLine | None:
    """The line through some points; None with fewer than two places.

    Args:
        places: Where each value was taken, 0 or more.
        values: The values.
        weighted: Weights of the points; None for those of `weights`. With the weights of a sum, the
            lines through its parts add up to the line through the sum.
    """
    chosen = weights(places, values) if weighted is None else weighted
    if chosen is None or len(set(places)) < 2:  # noqa: PLR2004
        return None
    x, y = np.asarray(places, np.float64), np.asarray(values, np.float64)
    columns = np.column_stack([np.ones_like(x), x])
    (intercept, slope), reaches = _fitted(columns, y, chosen)
    return StraightLine(
        _estimate(intercept, reaches[0]),
        _estimate(slope, reaches[1]),
        _bend(x, y, chosen),
    )


def _estimate(value: float, reach: float | None) -> Estimate:
    return Estimate(value, None if reach is None else Interval(value - reach, value + reach))


def _bend(x: Numbers, y: Numbers, weighted: Numbers) -> float | None:
    """How much the slope of a parabola changes on its way, if that is beyond chance."""
    if len(np.unique(x)) < 3:  # noqa: PLR2004
        return None
    columns = np.column_stack([np.ones_like(x), x, x**2])
    parts, reaches = _fitted(columns, y, weighted, BEND_CONFIDENCE)
    reach = reaches[2]
    if reach is None or abs(parts[2]) <= reach:
        return None
    first, last = (parts[1] + 2 * parts[2] * place for place in (float(x.min()), float(x.max())))
    return (last - first) / max(abs(first), abs(last))


def _solved(columns: Numbers, y: Numbers, weighted: Numbers) -> Numbers:
    root = np.sqrt(weighted)
    found: Numbers = np.linalg.pinv(columns * root[:, None]) @ (y * root)
    return found


def _fitted(
    columns: Numbers, y: Numbers, weighted: Numbers, confidence: float = 0.95
) -> tuple[list[float], list[float | None]]:
    """Coefficients, and how far the interval of each reaches; None where that is not known."""
    scales: Numbers = np.abs(columns).max(axis=0)
    root = np.sqrt(weighted)
    matrix, seen = columns / scales * root[:, None], y * root
    inverse = np.asarray(np.linalg.pinv(matrix), np.float64)
    projection: Numbers = matrix @ inverse
    leverages: Numbers = np.diag(projection)
    parts: list[float] = (inverse @ seen / scales).tolist()
    if len(y) <= columns.shape[1] or leverages.max() >= _WHOLE:
        return parts, [None] * len(parts)
    apart: Numbers = np.eye(len(y)) - projection
    rest: Numbers = apart @ seen
    reaches: list[float | None] = []
    for row, scale in zip(inverse, scales, strict=True):
        shares = row**2 / (1 - leverages) ** 2
        freedom = _freedom(apart, shares)
        error = math.sqrt(float(shares @ rest**2)) / float(scale)
        reaches.append(error * quantile(freedom, confidence))
    return parts, reaches


def _freedom(apart: Numbers, shares: Numbers) -> float:
    """Degrees of freedom of the sandwich where all weighted points scatter alike."""
    form = apart @ (shares[:, None] * apart)
    return float(np.trace(form)) ** 2 / float(np.sum(form * form.T))
