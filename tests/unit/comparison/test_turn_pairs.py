"""Turns of one round are compared with each other, and with no other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from plimsoll.comparison import turn_pairs
from plimsoll.comparison.turn_pairs import A, B
from plimsoll.recording.turns import Turn
from turns import TURN_NS, Pair, turns


def test_what_both_have_in_a_round_falls_out() -> None:
    (found,) = turn_pairs.groups(turns([Pair(rate=1.2)]), turn_pairs.throughput)
    assert found.total == pytest.approx(math.log(1.2), abs=1e-4)
    assert found.rounds == pytest.approx([math.log(1.2)] * 8, abs=1e-4)


def test_a_round_without_one_of_them_is_left_out() -> None:
    some = [turn for turn in turns([Pair()]) if (turn.round, turn.entry) != (0, B)]
    (found,) = turn_pairs.groups(some, turn_pairs.throughput)
    assert len(found.rounds) == 7


def hung(entry: str, places: Sequence[int], rounds: int = 8) -> list[Turn]:
    """A group in which a server returns nothing in some rounds, until its requests time out."""
    return [
        replace(turn, requests=0, server_cpu_ns=0, duration_ns=10 * TURN_NS, failures=64)
        if turn.entry == entry and turn.round in places
        else turn
        for turn in turns([Pair()], rounds)
    ]


def test_a_turn_without_a_response_counts_in_full_and_has_no_ratio_of_its_own() -> None:
    some = hung(B, [0, 2], rounds=12)
    (found,) = turn_pairs.groups(some, turn_pairs.throughput)
    responses, lengths = (10 + 0.1 * 6) / (12 + 0.1 * 6), (10 + 2 * 10) / 12
    assert found.total == pytest.approx(math.log(responses / lengths), abs=1e-3)
    assert len(found.rounds) == 10
    assert turn_pairs.rounds(some) == 12
    rates = turn_pairs.mean_rates(some)
    assert rates is not None
    assert math.log(rates[1] / rates[0]) == pytest.approx(found.total)


def test_throughput_without_waits_for_cores_has_such_a_turn_too() -> None:
    (found,) = turn_pairs.groups(hung(B, [0], rounds=12), turn_pairs.undisturbed)
    assert found.total < math.log(0.6)


def test_a_group_in_which_a_server_returns_nothing_has_no_ratio_and_is_named() -> None:
    for entry in (A, B):
        some = hung(entry, range(8))
        assert turn_pairs.groups(some, turn_pairs.throughput) == []
        assert turn_pairs.mean_rates(some) is None
        assert turn_pairs.silent(some) == (entry,)
    assert turn_pairs.silent(hung(B, range(7))) == ()


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


@pytest.mark.parametrize(("known", "found"), [(5, 1), (4, 0)])
def test_a_group_of_which_most_turns_lack_a_quantity_has_no_ratio(known: int, found: int) -> None:
    some = [
        replace(turn, server_cpu_ns=None) if turn.entry == B and turn.round >= known else turn
        for turn in turns([Pair()])
    ]
    assert len(turn_pairs.groups(some, turn_pairs.cpu_per_request)) == found
    assert turn_pairs.uncounted(some) == (() if found else (B,))


def test_time_that_a_server_waited_for_a_core_is_given_back() -> None:
    (found,) = turn_pairs.groups(turns([Pair(rate=0.8, delay=0.25)]), turn_pairs.undisturbed)
    assert found.total == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(("cores", "factor"), [(1, 1.0), (2, 2.0), (8, 4.0)])
def test_processes_that_wait_for_each_other_want_no_more_than_their_cores(
    cores: int, factor: float
) -> None:
    """Four processes have one core, which one alone keeps busy as well."""
    alone = [
        replace(
            turn,
            server_cpu_ns=TURN_NS,
            server_delay_ns=3 * TURN_NS if turn.entry == B else 0,
        )
        for turn in turns([Pair()])
    ]
    capped = [turn_pairs.within_cores(turn, cores) for turn in alone]
    for quantity in (turn_pairs.cpu_wanted, turn_pairs.undisturbed):
        (found,) = turn_pairs.groups(capped, quantity)
        assert found.total == pytest.approx(math.log(factor), abs=1e-3)


def test_waits_for_other_programs_are_within_the_cores() -> None:
    turn = replace(turns([Pair()])[0], server_cpu_ns=TURN_NS // 4, server_delay_ns=TURN_NS // 2)
    assert turn_pairs.within_cores(turn, 1) == turn
    unknown = replace(turn, server_delay_ns=None)
    assert turn_pairs.within_cores(unknown, 1) == unknown
    more = replace(turn, server_cpu_ns=TURN_NS + 1)
    assert turn_pairs.within_cores(more, 1).server_delay_ns == 0


def test_failures_are_a_share_of_all_requests() -> None:
    some = turns([Pair(failures=100)], rounds=2)
    assert turn_pairs.failure_ratio(some, B) == pytest.approx(100 / 10_600, rel=1e-3)
    assert turn_pairs.failure_ratio(some, "A") == 0
    assert turn_pairs.failure_ratio([], "A") == 0
