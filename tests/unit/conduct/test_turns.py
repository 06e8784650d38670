"""Turns of a recording: which of them lie within the measurement window."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import pytest

import recordings
from plimsoll.recording import RecordedStage, Recording
from plimsoll.recording.turns import Turn

MS = 1_000_000
STAGES = (
    RecordedStage("warm_up", 0, 500 * MS, 4, 4, 1),
    RecordedStage("hold", 500 * MS, 1000 * MS, 4, 4, 1),
    RecordedStage("ramp", 1000 * MS, 1500 * MS, 4, 8, 1),
    RecordedStage("hold", 1500 * MS, 2000 * MS, 8, 8, 1),
)


def turn(number: int, start_ns: int, duration_ns: int) -> Turn:
    return Turn(1, number, "go", start_ns, duration_ns, 10, 0, 1, 1, 0, 0)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return replace(recordings.simulate().recording, stages=STAGES)


def held(recording: Recording, *durations_ms: int) -> list[tuple[int, int]]:
    """Number and begin, in milliseconds of the load, of the turns that are summarised.

    By the clock of the host they begin at instants of no use: ten times as late.
    """
    durations = [each * MS for each in durations_ms]
    begins = [0, *accumulate(durations)]
    turns = [turn(n, 10 * begins[n], each) for n, each in enumerate(durations)]
    found = replace(recording, turns=tuple(turns)).held_turns
    return [(one.round, begins[one.round] // MS) for one in found]


def test_turns_of_holds_are_those_that_begin_in_them(recording: Recording) -> None:
    expected = [(2, 500), (3, 750), (6, 1500), (7, 1750)]
    assert held(recording, *[250] * 8) == expected


def test_a_turn_that_ends_in_a_hold_and_begins_before_it_is_left_out(recording: Recording) -> None:
    assert held(recording, 400, 400, 400, 400, 400) == [(2, 800), (4, 1600)]


def test_a_turn_that_began_after_the_schedule_is_left_out(recording: Recording) -> None:
    assert held(recording, 1000, 990, 20, 30) == [(2, 1990)]


def test_a_load_without_turns_has_none(recording: Recording) -> None:
    assert held(recording) == []
    assert recording.turns == recording.held_turns == ()


def test_a_load_without_holds_has_none_that_count(recording: Recording) -> None:
    assert held(replace(recording, stages=STAGES[:1]), 250, 250) == []
