import math
from itertools import product

import numpy as np
import pytest

from plimsoll.statistics.block_design import BlockDesign
from plimsoll.statistics.repetitions import (
    best_hold_s,
    beyond_chance,
    detectable_ratio,
    needed,
)


@pytest.mark.parametrize(("servers", "repetitions"), [(2, 3), (2, 8), (6, 2), (6, 5), (20, 3)])
def test_what_is_told_apart_is_what_the_model_reaches(servers, repetitions):
    """The typical half width of simulated tables; at few repetitions their scatter is uncertain."""
    design = BlockDesign(*zip(*product(range(servers), range(repetitions)), strict=True))
    logarithms = 0.05 * np.random.default_rng(2).standard_normal((400, len(design.entries)))
    reach = math.expm1(float(np.median(design.differences(logarithms).reaches)))
    assert detectable_ratio(repetitions, 0.05, servers) == pytest.approx(reach, rel=0.25)


def test_more_repetitions_tell_less_apart():
    reaches = [detectable_ratio(number, 0.05, 6) for number in range(2, 40)]
    assert reaches == sorted(reaches, reverse=True)
    assert detectable_ratio(200, 0.05, 6) == pytest.approx(4.03 * 0.05 / math.sqrt(200), rel=0.05)


@pytest.mark.parametrize("ratio", [0.02, 0.1, 0.5])
def test_so_many_are_needed_and_no_fewer(ratio):
    found = needed(ratio, 0.03, 6)
    assert found is not None
    assert detectable_ratio(found, 0.03, 6) <= ratio
    assert found == 2 or detectable_ratio(found - 1, 0.03, 6) > ratio


def test_what_nobody_would_measure_is_not_said():
    assert needed(1e-6, 0.5, 6) is None


def test_the_hold_that_pays_best_gives_the_least_variance_for_its_time():
    """Kalibera and Jones: trials of any other length, as many as fit, are no better."""
    between, second, overhead_s, total_s = 0.02, 0.15, 5.0, 3600.0
    scatter = math.sqrt(between**2 + second**2 / 10)
    best_s = best_hold_s(scatter, second, 10.0, overhead_s)
    assert best_s is not None

    def variance(hold_s):
        return (between**2 + second**2 / hold_s) * (hold_s + overhead_s) / total_s

    assert best_s == pytest.approx(math.sqrt(overhead_s) * second / between)
    assert all(variance(best_s) <= variance(best_s * factor) for factor in (0.3, 0.8, 1.2, 3))


def test_where_all_scatter_is_that_of_seconds_no_length_is_too_long():
    assert best_hold_s(0.01, 0.2, 10.0, 5.0) is None


def test_scatter_that_the_errors_of_repetitions_make_is_seldom_found_and_other_scatter_is():
    draw = np.random.default_rng(7)
    errors, numbers = 0.05, draw.normal(0, 0.05, (20_000, 3))
    alone = [beyond_chance(found, errors, 3) for found in numbers.std(axis=1, ddof=1)]
    assert 0.0003 <= np.mean(np.array(alone) > 0) <= 0.002
    more = numbers + draw.normal(0, 0.5, numbers.shape)
    seen = [beyond_chance(found, errors, 3) for found in more.std(axis=1, ddof=1)]
    assert np.mean(np.array(seen) > 0) > 0.9
    assert np.sqrt(np.mean(np.square(seen))) == pytest.approx(0.5, rel=0.03)
