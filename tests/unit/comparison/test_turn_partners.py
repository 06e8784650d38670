"""Trials that took turns with what they are compared with, and those that were repeated alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

import sample
from plimsoll.comparison.comparisons import ComparedTrial
from plimsoll.comparison.turn_partners import blocks_in_turns, groups
from plimsoll.recording.turns import Turn

TURN_S = 0.1
BEGAN = datetime(2026, 1, 2, tzinfo=UTC)


def trial(
    framework: str,
    at_s: float,
    block: int = 1,
    *,
    rounds: int = 5,
    booted_s: float = 0.0,
    endpoint: str = "json",
    is_void: bool = False,
) -> ComparedTrial:
    """A trial with a turn in every second tenth of a second from an instant on.

    `booted_s` is how long after the others its host was booted, for clocks of another boot.
    """
    turns = tuple(
        Turn(
            group=block,
            round=number,
            entry=framework,
            start_ns=round((at_s - booted_s + 2 * TURN_S * (number - 1)) * 1e9),
            duration_ns=round(TURN_S * 1e9),
            requests=100,
            failures=0,
            server_cpu_ns=None,
            driver_cpu_ns=None,
            server_delay_ns=None,
            driver_delay_ns=None,
        )
        for number in range(1, rounds + 1)
    )
    recording = replace(
        sample.recording(framework=framework, endpoint=endpoint, repetition=block),
        zero_utc=(BEGAN + timedelta(seconds=at_s)).isoformat(),
        turns=turns,
    )
    return ComparedTrial(recording, sample.summary(recording.trial, 1000), is_void)


def test_servers_that_took_turns_did_so_in_their_block() -> None:
    first = [trial("go", 10.0), trial("node", 10.1)]
    second = [trial("go", 60.0, 2), trial("node", 60.1, 2)]
    assert blocks_in_turns([*first, *second]) == {1, 2}


def test_a_trial_that_was_repeated_alone_took_turns_with_nobody() -> None:
    first = [trial("go", 10.0), trial("node", 10.1)]
    second = [trial("go", 60.0, 2), trial("node", 75.0, 2)]
    assert blocks_in_turns([*first, *second]) == {1}
    assert blocks_in_turns([trial("go", 60.0), trial("node", 20.0)]) == frozenset()


@pytest.mark.parametrize("at_s", [10.1, 500_000.0])
def test_clocks_of_another_boot_say_nothing(at_s: float) -> None:
    """By the monotonic clock both ran at the same time, or by the wall clock."""
    other = trial("node", at_s, booted_s=at_s - 10.1 if at_s > 11 else -400.0)
    assert blocks_in_turns([trial("go", 10.0), other]) == frozenset()


def test_tables_of_a_block_come_one_after_the_other() -> None:
    json = [trial("go", 10.0), trial("node", 10.1)]
    plain = [trial("go", 20.0, endpoint="2048"), trial("node", 20.1, endpoint="2048")]
    assert blocks_in_turns([*json, *plain]) == {1}
    alone = trial("axum", 90.0, endpoint="2048")
    assert blocks_in_turns([*json, *plain, alone]) == frozenset()


def test_loads_of_a_single_turn_are_side_by_side_within_a_round() -> None:
    whole = [trial(name, 10.0 + 0.15 * n, rounds=1) for n, name in enumerate("abc")]
    assert blocks_in_turns(whole) == {1}
    assert blocks_in_turns([*whole[:2], trial("c", 12.0, rounds=1)]) == frozenset()


def test_trials_that_do_not_count_are_compared_with_nothing() -> None:
    void = trial("node", 90.0, is_void=True)
    failed = replace(trial("axum", 10.0), summary=None)
    failed = replace(failed, recording=replace(failed.recording, turns=()))
    assert blocks_in_turns([trial("go", 10.0), void, failed]) == {1}


def test_groups_are_those_that_took_turns_with_each_other() -> None:
    one = [trial("go", 10.0), trial("node", 10.1)]
    two = [trial("php", 60.1), trial("axum", 60.0)]
    alone = trial("rails", 90.0)
    found = groups([each.recording for each in (alone, *two, *one)])
    assert [[each.framework for each in group] for group in found] == [
        ["go", "node"],
        ["axum", "php"],
        ["rails"],
    ]
    assert len(groups([each.recording for each in one])) == 1
    assert groups([replace(each.recording, turns=()) for each in one]) == ()


def test_a_load_in_one_piece_took_no_turns() -> None:
    one = trial("go", 10.0)
    assert (
        blocks_in_turns([replace(one, recording=replace(one.recording, turns=()))]) == frozenset()
    )
