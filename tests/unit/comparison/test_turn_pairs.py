"""Turns of one round are compared with each other, and with no other."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from plimsoll.comparison import turn_pairs
from plimsoll.comparison.turn_pairs import B
from turns import Pair, turns


def test_what_both_have_in_a_round_falls_out() -> None:
    (found,) = turn_pairs.groups(turns([Pair(rate=1.2)]), turn_pairs.throughput)
    assert found.total == pytest.approx(math.log(1.2), abs=1e-4)
    assert found.rounds == pytest.approx([math.log(1.2)] * 8, abs=1e-4)


def test_a_round_without_one_of_them_is_left_out() -> None:
    some = [turn for turn in turns([Pair()]) if (turn.round, turn.entry) != (0, B)]
    (found,) = turn_pairs.groups(some, turn_pairs.throughput)
    assert len(found.rounds) == 7


def test_a_turn_without_a_response_is_left_out() -> None:
    some = [replace(turn, requests=0) if turn.round == 1 else turn for turn in turns([Pair()])]
    (found,) = turn_pairs.groups(some, turn_pairs.throughput)
    assert len(found.rounds) == 7


def test_a_stall_in_one_turn_counts_in_full() -> None:
    some = [
        replace(turn, requests=turn.requests // 2) if (turn.round, turn.entry) == (0, B) else turn
        for turn in turns([Pair()], rounds=10)
    ]
    (found,) = turn_pairs.groups(some, turn_pairs.throughput)
    assert found.total == pytest.approx(math.log(0.95), abs=5e-3)


def test_what_was_not_measured_has_no_group() -> None:
    some = turns([Pair(cost=None)])
    assert turn_pairs.groups(some, turn_pairs.cpu_per_request) == []
    assert turn_pairs.groups(some, turn_pairs.undisturbed) == []


def test_time_that_a_server_waited_for_a_core_is_given_back() -> None:
    (found,) = turn_pairs.groups(turns([Pair(rate=0.8, delay=0.25)]), turn_pairs.undisturbed)
    assert found.total == pytest.approx(0, abs=1e-3)


def test_failures_are_a_share_of_all_requests() -> None:
    some = turns([Pair(failures=100)], rounds=2)
    assert turn_pairs.failure_ratio(some, B) == pytest.approx(100 / 10_600, rel=1e-3)
    assert turn_pairs.failure_ratio(some, "A") == 0
    assert turn_pairs.failure_ratio([], "A") == 0
