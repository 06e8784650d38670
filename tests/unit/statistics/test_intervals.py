import math

import numpy as np
import pytest

from plimsoll.statistics.intervals import interval, ratio_interval, slope


def test_a_single_repetition_has_no_interval():
    assert interval([]) is None
    assert interval([5.0]) is None
    assert ratio_interval([1.0, 2.0], [3.0]) is None


def test_a_few_repetitions_have_students_interval_of_their_logarithms():
    found = interval([100.0, 110.0, 121.0])
    assert found is not None
    reach = math.log(1.1) / math.sqrt(3) * 4.302653
    assert found.low == pytest.approx(110 * math.exp(-reach), rel=1e-6)
    assert found.high == pytest.approx(110 * math.exp(reach), rel=1e-6)


def test_numbers_that_cannot_be_negative_have_no_negative_interval():
    found = interval([0.0, 0.0, 0.01])
    assert found is not None
    assert found.low == 0.0
    assert found.high > 0.01


def draws(kind, count, tables):
    rng = np.random.default_rng(20_260_101)
    drawn = {
        "normal": rng.standard_normal((tables, count)),
        "heavy tails": rng.standard_t(3, (tables, count)),
    }
    return np.exp(0.05 * drawn[kind])


@pytest.mark.parametrize("kind", ["normal", "heavy tails"])
@pytest.mark.parametrize("count", [2, 3, 5, 8, 10, 15, 30])
def test_ninety_five_of_a_hundred_intervals_hold_the_true_median(kind, count):
    """1,500 tries have a standard error of 0.56 points."""
    found = [interval(values.tolist()) for values in draws(kind, count, 1500)]
    share = np.mean([one is not None and one.holds(1.0) for one in found])
    assert 0.935 < share < (0.97 if kind == "normal" else 0.99)


def test_repetitions_that_are_all_alike_have_an_interval_of_one_value():
    found = interval([3.0] * 9)
    assert found is not None
    assert (found.low, found.high) == (3.0, 3.0)


def test_a_ratio_and_its_inverse_have_inverse_intervals():
    above, below = [200.0, 202, 198], [100.0, 101, 103]
    one, other = ratio_interval(above, below), ratio_interval(below, above)
    assert one is not None
    assert other is not None
    assert one.low == pytest.approx(1 / other.high)
    assert one.holds(200 / 101)
    assert not one.holds(1.0)


def test_a_ratio_of_what_is_not_positive_has_no_interval():
    assert ratio_interval([0.0, 1.0], [1.0, 2.0]) is None


def test_a_slope_is_common_to_groups_of_different_levels():
    found = slope([0, 1, 2, 0, 1, 2], [5.0, 7.0, 9.1, 100.0, 102.1, 104.0], [0, 0, 0, 1, 1, 1])
    assert found is not None
    assert found.slope == pytest.approx(2.0, abs=0.05)
    assert found.is_beyond_chance


def test_scatter_is_no_slope():
    found = slope([0, 1, 2, 3, 4, 5], [1.0, 2.0, 1.0, 2.0, 1.0, 2.0], [0] * 6)
    assert found is not None
    assert not found.is_beyond_chance


def test_of_too_few_numbers_there_is_no_slope():
    assert slope([0, 1], [1.0, 2.0], [0, 0]) is None
    assert slope([3, 3, 3], [1.0, 2.0, 3.0], [0, 0, 0]) is None
