"""Loads of several holds: each is judged within itself, and those of one level are compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from plimsoll.verdicts.checks import steady
from plimsoll.verdicts.limits import Limits
from recordings import as_open, simulate, with_speeds

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables

EACH_S = 5.0


def in_holds(speeds: dict[float, float], *levels: float) -> Tables:
    """A load after a second of warm-up, cut into holds of five seconds at these levels."""
    trial = simulate(ramp_s=0, warm_up_s=1.0, hold_s=EACH_S * len(levels), speeds=speeds)
    return cut(trial, *levels)


def cut(trial: Tables, *levels: float) -> Tables:
    """The trial with its one hold cut into as many equal ones."""
    warm_up, hold = trial.recording.stages
    length_ns = round(EACH_S * 1e9)
    stages = [
        replace(
            hold,
            start_ns=hold.start_ns + place * length_ns,
            end_ns=hold.start_ns + (place + 1) * length_ns,
            start=level,
            end=level,
        )
        for place, level in enumerate(levels)
    ]
    return replace(trial, recording=replace(trial.recording, stages=(warm_up, *stages)))


def test_steady_holds_of_one_level_are_sound() -> None:
    given = steady.judge(in_holds({}, 20, 20), Limits())
    assert given.level == "sound", given
    assert "Throughput was steady" in given.text
    assert "This is about measurement window" in given.text


@pytest.mark.parametrize(("factor", "level"), [(0.95, "sound"), (0.7, "doubtful"), (0.3, "void")])
def test_a_server_that_does_not_recover_between_holds_is_found(factor: float, level: str) -> None:
    given = steady.judge(in_holds({6.0: factor}, 20, 20), Limits())
    assert given.level == level, given
    words = "between measurement windows 1 and 2, which have the same load"
    assert (words in given.text) is (level != "sound")


def test_the_two_holds_of_a_level_that_differ_the_most_are_named() -> None:
    given = steady.judge(in_holds({6.0: 0.8, 11.0: 0.6}, 20, 20, 20), Limits())
    assert given.level == "doubtful", given
    assert given.text.count("between measurement windows") == 1
    assert "windows 1 and 3" in given.text


def test_holds_at_different_levels_are_not_compared() -> None:
    given = steady.judge(in_holds({6.0: 0.5}, 20, 10), Limits())
    assert given.level == "sound", given


def test_holds_of_an_open_load_are_not_compared() -> None:
    trial = simulate(ramp_s=0, warm_up_s=1.0, hold_s=2 * EACH_S, speeds={6.0: 0.5})
    given = steady.judge(cut(as_open(trial, 1500.0), 1500.0, 1500.0), Limits())
    assert given.level == "sound", given


def test_a_machine_that_slows_between_holds_is_not_told_as_the_server() -> None:
    trial = with_speeds(in_holds({6.0: 0.7}, 20, 20), *(1.0,) * 6, 0.7)
    given = steady.judge(trial, Limits())
    assert "because the speed of the machine changed" in given.text
    assert given.level == "sound", given


@pytest.mark.parametrize("levels", [(20, 20), (20, 10)])
def test_a_fall_within_the_first_of_two_holds_is_found(levels: tuple[float, float]) -> None:
    given = steady.judge(in_holds({3.5: 0.6, 6.0: 1.0}, *levels), Limits())
    assert given.level == "doubtful", given
    assert given.text.startswith("Throughput fell within")
    assert "This is about measurement window 1 of 2." in given.text


def test_levels_of_throughput_and_of_latency_are_those_of_each_hold() -> None:
    trial = simulate(ramp_s=0, warm_up_s=1.0, hold_s=24.0, speeds={3.0: 1.5, 5.0: 1.0, 13.0: 0.8})
    warm_up, hold = trial.recording.stages
    middle = hold.start_ns + 12 * 10**9
    stages = (warm_up, replace(hold, end_ns=middle), replace(hold, start_ns=middle, start=9, end=9))
    given = steady.judge(
        replace(trial, recording=replace(trial.recording, stages=stages)), Limits()
    )
    assert given.level == "doubtful", given
    assert given.text.startswith("Throughput went from")
    assert "measurement window 1 of 2." in given.text
    assert "measurement window 2 of 2." not in given.text
