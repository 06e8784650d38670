"""How much one quantity may grow with another."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.statistics import student

if TYPE_CHECKING:
    from collections.abc import Sequence

CONFIDENCE = 0.9
"""Of the two-sided interval: 5 % of slopes are above its end."""

FEWEST = 4


def greatest_slope(x: Sequence[float], y: Sequence[float]) -> float | None:
    """The greatest slope of y over x that the pairs agree with, at 95 %.

    Args:
        x: What may explain y.
        y: What is explained.

    Returns:
        None for fewer than four pairs, or where x or y never changes.

    Source:
        Upper end of the interval of a least-squares slope; N. R. Draper, H. Smith, *Applied
        Regression Analysis*, 3rd edition, section 1.4.
    """
    given, found = np.asarray(x, float), np.asarray(y, float)
    if len(given) < FEWEST or not np.ptp(given) or not np.ptp(found):
        return None
    centred = given - given.mean()
    spread = float(centred @ centred)
    slope = float(centred @ found) / spread
    left = found - found.mean() - slope * centred
    error = math.sqrt(float(left @ left) / (len(given) - 2) / spread)
    return slope + student.two_sided(len(given) - 2, CONFIDENCE) * error
