import math
from itertools import pairwise

import numpy as np
import pytest

from plimsoll.statistics.changes import FEWEST, PENALTY, _edges, are_alike, stretches


def noisy(*levels, seed=1, scatter=0.01):
    """Ten or so numbers about each level."""
    draw = np.random.default_rng(seed)
    return [
        float(level * (1 + scatter * draw.standard_normal()))
        for level, n in levels
        for _ in range(n)
    ]


def test_a_series_on_one_level_is_one_stretch():
    (only,) = stretches(noisy((1000, 60)))
    assert (only.start, only.end, only.length) == (0, 60, 60)
    assert only.level == pytest.approx(1000, rel=0.01)


def test_a_change_of_level_is_found_where_it_is():
    first, second = stretches(noisy((800, 20), (1000, 40)))
    assert first.end == second.start == 20
    assert (first.level, second.level) == pytest.approx((800, 1000), rel=0.01)


def test_a_level_that_comes_back_is_a_stretch_of_its_own():
    found = stretches(noisy((1000, 20), (700, 20), (1000, 20)))
    assert [(one.start, one.end) for one in found] == [(0, 20), (20, 40), (40, 60)]


@pytest.mark.parametrize("stopped", [[30], [30, 31], [10, 30, 50], [0], [59]])
def test_stops_are_no_levels(stopped):
    series = noisy((1000, 60))
    for place in stopped:
        series[place] = 0.0
    assert len(stretches(series)) == 1


def test_a_stop_of_three_numbers_is_a_level():
    assert len(stretches(noisy((1000, 30), (100, 3), (1000, 30)))) == 3


def test_levels_closer_than_a_hundredth_are_one():
    assert len(stretches([1000.0, 1000.1] * 10 + [1005.0, 1005.1] * 10)) == 1
    assert are_alike(1000, 1009)
    assert not are_alike(1000, 1012)


def test_levels_closer_than_two_standard_deviations_are_one():
    assert are_alike(1000, 1150, deviation=100)
    assert not are_alike(1000, 1250, deviation=100)


def test_numbers_that_never_change_and_short_ones_are_one_stretch():
    assert len(stretches([5.0] * 30)) == 1
    assert len(stretches([1.0, 9.0, 1.0, 9.0])) == 1
    assert len(stretches([7.0])) == 1


def test_a_change_between_numbers_that_never_change_is_found():
    assert [one.level for one in stretches([5.0] * 15 + [9.0] * 15)] == [5.0, 9.0]


def test_numbers_that_wander_rarely_have_levels():
    draw = np.random.default_rng(3)
    several = 0
    for _ in range(100):
        value, series = 0.0, []
        for step in draw.normal(0, 0.016, 60):
            value = 0.6 * value + step
            series.append(1000 * (1 + value))
        several += len(stretches(series)) > 1
    assert several <= 12


def cost(values, edges):
    """What a division costs, by the formula."""
    parts = [values[start:end] for start, end in pairwise(edges)]
    inside = sum(((part - part.mean()) ** 2).sum() for part in parts)
    return inside + PENALTY * math.log(len(values)) * (len(parts) - 1)


def divisions(count):
    """Every division into stretches that are long enough."""

    def after(start):
        yield [count]
        for edge in range(start + FEWEST, count - FEWEST + 1):
            for rest in after(edge):
                yield [edge, *rest]

    return ([0, *edges] for edges in after(0))


@pytest.mark.parametrize("seed", range(12))
def test_no_division_costs_less_than_the_one_that_is_found(seed):
    draw = np.random.default_rng(seed)
    values = np.repeat(draw.normal(0, 4, 4), [4, 3, 6, 3]) + draw.normal(0, 1, 16)
    least = min(cost(values, edges) for edges in divisions(16))
    assert cost(values, _edges(values)) == pytest.approx(least)
