"""Groups of fresh processes are what an interval rests on, not the rounds within them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from plimsoll.statistics import paired
from plimsoll.statistics.paired import PairedGroup, Plan


def groups(totals: list[float], spread: float = 0.0) -> list[PairedGroup]:
    return [
        PairedGroup(total, tuple(total + spread * place for place in (-1, 0, 1)))
        for total in totals
    ]


def test_the_ratio_is_the_geometric_mean_of_groups() -> None:
    found = paired.ratio(groups([math.log(2), math.log(8), math.log(4)]), Plan((3,), 3))
    assert found is not None
    assert found.value == pytest.approx(4)
    assert found.holds_for_fresh_processes


def test_rounds_that_agree_do_not_narrow_the_interval_of_groups_that_do_not() -> None:
    wide = paired.ratio(groups([-0.02, 0.0, 0.02]), Plan((3,), 3))
    assert wide is not None and wide.interval is not None
    assert wide.interval.high > 1.04


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_groups_hold_for_these_processes_only(count: int) -> None:
    found = paired.ratio(groups([0.1] * count, 0.01), Plan((count,), 12))
    assert found is not None and found.interval is not None
    assert not found.holds_for_fresh_processes
    assert found.interval.low < math.exp(0.1) < found.interval.high


def test_one_round_has_no_interval() -> None:
    found = paired.ratio([PairedGroup(0.1, (0.1,))], Plan((1,), 12))
    assert found is not None
    assert found.interval is None


def test_an_interval_beyond_a_factor_of_a_thousand_is_not_told() -> None:
    few = [paired.ratio([PairedGroup(0.0, (one, -one))], Plan((1,), 12)) for one in (0.1, 0.5)]
    far = [paired.ratio([PairedGroup(0.0, (one, -one))], Plan((1,), 12)) for one in (5.0, 500.0)]
    more = paired.ratio(groups([-9.0, 0.0, 9.0]), Plan((3,), 3))
    assert [one is not None and one.told == one.interval for one in few] == [True, True]
    assert [one is not None and (one.interval is None, one.told) for one in (*far, more)] == [
        (False, None)
    ] * 3


def test_nothing_measured_is_no_ratio() -> None:
    assert paired.ratio([], Plan((), 12)) is None


def test_an_earlier_look_widens_a_later_interval() -> None:
    numbers = np.random.default_rng(4).standard_normal(12).tolist()
    once = paired.ratio(groups(numbers), Plan((12,), 12))
    often = paired.ratio(groups(numbers), Plan((3, 4, 6, 8, 12), 12))
    assert once is not None and often is not None
    assert (once.reach or 0) < (often.reach or 0)
