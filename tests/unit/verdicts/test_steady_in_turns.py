"""Scatter that servers share because they take turns is no doubt."""

from dataclasses import replace

import pytest

from plimsoll.recording.turns import Turn
from plimsoll.statistics.drift import Drift
from plimsoll.verdicts.checks import steady
from plimsoll.verdicts.limits import Limits
from recordings import simulate

TURN = Turn(1, 1, "go", 0, 250_000_000, 1_000, 0, None, None, None, None)


@pytest.mark.parametrize(("turns", "level"), [((), "doubtful"), ((TURN,), "sound")])
def test_a_mean_that_is_known_to_20_percent_is_doubtful_without_turns_only(
    turns: tuple[Turn, ...], level: str
) -> None:
    trial = simulate()
    trial = replace(trial, recording=replace(trial.recording, turns=turns))
    scattered = Drift(100.0, 100.0, 40.0, 0.0, 0.2, (0.0,))
    found = steady._scattered(trial, scattered, Limits({}))
    assert found.level == level
    assert "±20 %" in found.sentence
