"""Intervals that are looked at again and again still hold; ordinary ones do not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from plimsoll.statistics import sequential

SETS = 20_000


def held(planned: int, error: float, *, ordinary: bool = False) -> float:
    """Share of sets of normal numbers whose mean, 0, is in the interval of every look."""
    looks = sequential.looks(planned)
    numbers = np.random.default_rng(planned).standard_normal((SETS, planned))
    inside = np.ones(SETS, dtype=bool)
    for place, count in enumerate(looks, 1):
        reach = sequential.reach(looks[:place], planned, error)
        if ordinary:
            reach = float(stats.t.ppf(1 - error / 2, count - 1))
        found = numbers[:, :count]
        inside &= np.abs(found.mean(1)) <= reach * found.std(1, ddof=1) / math.sqrt(count)
    return float(inside.mean())


@pytest.mark.parametrize("planned", [3, 5, 12, 30])
@pytest.mark.parametrize("error", [0.05, 0.025])
def test_all_looks_together_hold_as_often_as_they_say(planned: int, error: float) -> None:
    chance = 4 * math.sqrt(error * (1 - error) / SETS)
    assert abs(held(planned, error) - (1 - error)) < chance + 0.05 * error


def test_ordinary_intervals_do_not_hold_when_each_look_may_end_it() -> None:
    assert held(12, 0.05, ordinary=True) < 0.88


def test_a_single_look_is_an_ordinary_interval() -> None:
    assert sequential.reach((12,), 12, 0.05) == pytest.approx(stats.t.ppf(0.975, 11), rel=0.03)


@pytest.mark.parametrize("planned", [3, 4, 7, 12, 60])
def test_looks_end_with_what_is_planned_and_grow_apart(planned: int) -> None:
    found = sequential.looks(planned)
    assert found[0] == sequential.LEAST
    assert found[-1] == planned
    assert list(found) == sorted(set(found))


def test_two_numbers_are_never_looked_at() -> None:
    assert sequential.looks(2) == ()


def test_the_interval_of_a_look_does_not_depend_on_later_ones() -> None:
    assert sequential.reach((3, 4), 12, 0.05) == sequential.reach((3, 4), 12, 0.05)
    early, late = sequential.reach((3,), 12, 0.05), sequential.reach((3, 4), 12, 0.05)
    assert early > late
