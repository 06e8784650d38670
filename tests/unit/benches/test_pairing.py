"""Runs are compared within one repetition, whatever the machine did between two of them."""

from __future__ import annotations

import pytest

from workbench.pairing import Spread, paired, percent_more, rotated, spread, words


def test_a_ratio_is_taken_within_a_repetition_and_a_drift_of_the_machine_falls_out() -> None:
    wrk = {0: 8.0, 1: 16.0, 2: 12.0}
    own = {0: 4.0, 1: 8.0, 2: 6.0}
    assert paired(wrk, own) == {0: 2.0, 1: 2.0, 2: 2.0}


def test_the_ratio_of_medians_would_have_said_something_else() -> None:
    wrk = {0: 10.0, 1: 20.0, 2: 40.0}
    own = {0: 10.0, 1: 5.0, 2: 20.0}
    ratio = spread([*paired(wrk, own).values()])
    assert ratio == Spread(median=2.0, least=1.0, most=4.0)


def test_a_repetition_that_only_one_of_them_has_is_left_out() -> None:
    assert paired({0: 8.0, 2: 9.0}, {1: 4.0, 2: 3.0}) == {2: 3.0}


def test_without_values_there_is_neither_a_spread_nor_a_word() -> None:
    assert spread([]) is None
    assert words(None, str) == ""


def test_a_range_is_written_behind_its_median() -> None:
    assert words(spread([1.3, 1.28, 1.35]), "{:.2f}".format) == "1.30 (1.28–1.35)"


def test_a_range_that_cannot_be_seen_is_left_out() -> None:
    assert words(spread([1.301, 1.302]), "{:.2f}".format) == "1.30"


@pytest.mark.parametrize(("ratio", "said"), [(1.031, "+3.1 %"), (0.98, "−2.0 %"), (1, "+0.0 %")])
def test_a_ratio_in_percent_has_its_sign(ratio: float, said: str) -> None:
    assert percent_more(ratio) == said


def test_in_as_many_repetitions_as_there_are_tools_each_is_once_at_every_place() -> None:
    orders = [rotated("abc", turns) for turns in range(3)]
    assert orders == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]
    assert rotated("abc", 4) == rotated("abc", 1)


def test_nothing_can_be_rotated() -> None:
    assert rotated([], 3) == []
