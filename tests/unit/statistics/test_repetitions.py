import math
from itertools import product

import numpy as np
import pytest

from plimsoll.statistics.block_design import BlockDesign
from plimsoll.statistics.repetitions import best_hold_s, detectable_ratio, needed


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
