"""Hold length: whether longer holds or more repetitions would tell smaller differences apart.

Scatter has two levels, within a trial and among trials (`best_hold_s`). Within a trial it is that
of its seconds, or of its turns. Turns of one round have the speed of the machine in common; that is
left out, as it is where trials are compared. Seconds and rounds are taken as independent; where
they are not, longer holds pay a little more than is stated here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, variance
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from plimsoll import wording
from plimsoll.statistics.repetitions import best_hold_s

if TYPE_CHECKING:
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.recording import Recording

    Array = np.ndarray[Any, Any]

FEWEST_SECONDS = 5
"""Whole seconds of a hold, or rounds of turns, below which their scatter is not reported."""

NOTABLY = 1.5
"""Best length / length from which on a longer hold is advised: up to there it gains little."""


@dataclass(frozen=True)
class HoldLength:
    """How long holds were and should be.

    Attributes:
        scatter: Standard deviation of one trial on logarithms.
        second_scatter: Standard deviation of one second within a trial on logarithms; of trials in
            turns without what all servers of a round had in common.
        hold_s: How long the holds were, in seconds.
        overhead_s: What else a trial took, in seconds.
    """

    scatter: float
    second_scatter: float
    hold_s: float
    overhead_s: float

    @property
    def sentence(self) -> str:
        """In words: whether longer holds or more repetitions pay."""
        best_s = best_hold_s(self.scatter, self.second_scatter, self.hold_s, self.overhead_s)
        if best_s is None:
            return (
                "Longer windows would help as much as more repetitions: throughput varies no more "
                "between trials than within them"
            )
        between = 1 - self.second_scatter**2 / self.hold_s / self.scatter**2
        if best_s <= NOTABLY * self.hold_s:
            lies = f"{wording.percent(between)} of the variance lies between trials"
            return f"More repetitions help, longer windows do not: {lies}"
        lengths = (
            f"{wording.seconds(round(best_s))} instead of {wording.seconds(round(self.hold_s))}"
        )
        return (
            f"Windows of {lengths} would narrow intervals most: throughput varies more within "
            "trials than between them"
        )


def hold_length(trials: Sequence[TrialFindings], scatter: float | None) -> HoldLength | None:
    """Whether longer holds would pay; None where too little is known.

    Args:
        trials: Trials of one endpoint and load, by one driver, that count.
        scatter: Standard deviation of one of them on logarithms.
    """
    if not scatter or not trials:
        return None
    found = _within_rounds(trials) if trials[0].recording.turns else _within_seconds(trials)
    if found is None:
        return None
    hold_s = mean(float(trial.summary.duration_s) for trial in trials if trial.summary)
    overhead_s = mean(_overhead_s(trial, hold_s) for trial in trials)
    return HoldLength(scatter, math.sqrt(found), hold_s, overhead_s)


def _within_seconds(trials: Sequence[TrialFindings]) -> float | None:
    """Variance of a second within a trial; None where no trial has enough of them."""
    logarithms = [found for trial in trials if len(found := _seconds(trial)) >= FEWEST_SECONDS]
    return mean(variance(found) for found in logarithms) if logarithms else None


def _seconds(trial: TrialFindings) -> list[float]:
    """Logarithms of the responses in each second of the holds but the last, which may be a part."""
    seconds = trial.data.seconds
    held = seconds.filter(pc.equal(seconds["stage"].cast("string"), "hold"))
    return [math.log(count) for count in held["completed"].to_pylist()[:-1] if count]


def _within_rounds(trials: Sequence[TrialFindings]) -> float | None:
    """Variance of a second of turns, without that of rounds; None where too few are complete."""
    groups: dict[tuple[int, int], list[Recording]] = {}
    for trial in trials:
        if turns := trial.recording.held_turns:
            key = (trial.recording.repetition, turns[0].group)
            groups.setdefault(key, []).append(trial.recording)
    found = [one for group in groups.values() if (one := _within_group(group)) is not None]
    return mean(found) if found else None


def _within_group(recordings: Sequence[Recording]) -> float | None:
    """The same of trials that took turns with each other."""
    rates = [_rates(recording) for recording in recordings]
    shared: list[int] = sorted(set(rates[0]).intersection(*rates[1:]))
    if len(shared) < FEWEST_SECONDS:
        return None
    table: Array = np.array([[one[number] for number in shared] for one in rates])
    table -= table.mean(axis=1, keepdims=True)
    freedom = table.shape[1] - 1
    if len(table) > 1:
        table -= table.mean(axis=0)
        freedom *= len(table) - 1
    turn_s = mean(turn.duration_ns for one in recordings for turn in one.held_turns) / 1e9
    return float((table**2).sum()) / freedom * turn_s


def _rates(recording: Recording) -> dict[int, float]:
    """Logarithms of the throughput in turns of the hold, by round."""
    return {
        turn.round: math.log(turn.requests / turn.duration_ns)
        for turn in recording.held_turns
        if turn.requests
    }


def _overhead_s(trial: TrialFindings, hold_s: float) -> float:
    """What a trial took in addition to its hold; it is known whole where servers take turns."""
    recording = trial.recording
    if recording.turns and recording.took_s is not None:
        return max(recording.took_s - hold_s, 0.0)
    end_s = max((stage.end_ns for stage in recording.stages), default=0) / 1e9
    start_s = recording.server.start_s if recording.server else None
    return max(end_s - hold_s, 0.0) + (start_s or 0.0)
