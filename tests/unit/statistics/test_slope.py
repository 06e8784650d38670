"""The greatest slope that pairs agree with."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import linregress, t

from plimsoll.statistics.slope import CONFIDENCE, greatest_slope


def test_it_is_the_upper_end_of_the_interval_of_a_regression() -> None:
    x, y = [0.0, 0.3, 0.7, 0.1, 0.9], [0.2, 0.3, 0.1, 0.25, 0.15]
    found = linregress(x, y)
    most = found.slope + t.ppf((1 + CONFIDENCE) / 2, 3) * found.stderr
    assert greatest_slope(x, y) == pytest.approx(most)


def test_one_slope_in_twenty_is_above_it() -> None:
    rng = np.random.default_rng(7)
    x = rng.random(10)
    found = [greatest_slope([*x], [*(0.4 * x + rng.normal(0, 0.3, 10))]) for _ in range(4000)]
    above = np.mean([most is not None and most < 0.4 for most in found])
    assert 0.04 < above < 0.06


@pytest.mark.parametrize(
    ("x", "y"), [([1, 2, 3], [1, 2, 3]), ([1, 1, 1, 1], [1, 2, 3, 4]), ([1, 2, 3, 4], [2] * 4)]
)
def test_of_few_or_equal_values_nothing_is_known(x: list[float], y: list[float]) -> None:
    assert greatest_slope(x, y) is None
