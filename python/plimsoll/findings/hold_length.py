"""Hold length: whether longer holds or more repetitions would tell smaller differences apart.

Scatter has two levels, seconds within a trial and trials among each other (`best_hold_s`). Seconds
are taken as independent; where they are not, longer holds pay a little more than is stated here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, variance
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from plimsoll import wording
from plimsoll.statistics.repetitions import best_hold_s

if TYPE_CHECKING:
    from plimsoll.findings.trial import TrialFindings

FEWEST_SECONDS = 5
"""Whole seconds of a hold below which their scatter is not reported."""


@dataclass(frozen=True)
class HoldLength:
    """How long holds were and should be.

    Attributes:
        scatter: Standard deviation of one trial on logarithms.
        second_scatter: Standard deviation of one second within a trial on logarithms.
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
                "between trials than between seconds"
            )
        between = 1 - self.second_scatter**2 / self.hold_s / self.scatter**2
        if best_s <= self.hold_s:
            lies = f"{wording.percent(between)} of the variance lies between trials"
            return f"More repetitions help, longer windows do not: {lies}"
        lengths = (
            f"{wording.seconds(round(best_s))} instead of {wording.seconds(round(self.hold_s))}"
        )
        return (
            f"Windows of {lengths} would narrow intervals most: throughput varies more between "
            "seconds than between trials"
        )


def hold_length(trials: Sequence[TrialFindings], scatter: float | None) -> HoldLength | None:
    """Whether longer holds would pay; None where too little is known.

    Args:
        trials: Trials of one endpoint and load, by one driver, that count.
        scatter: Standard deviation of one of them on logarithms.
    """
    logarithms = [found for trial in trials if len(found := _seconds(trial)) >= FEWEST_SECONDS]
    if not scatter or not logarithms:
        return None
    hold_s = mean(float(trial.summary.duration_s) for trial in trials if trial.summary)
    second_scatter = math.sqrt(mean(variance(found) for found in logarithms))
    overhead_s = mean(_overhead_s(trial, hold_s) for trial in trials)
    return HoldLength(scatter, second_scatter, hold_s, overhead_s)


def _seconds(trial: TrialFindings) -> list[float]:
    """Logarithms of the responses in each second of the holds but the last, which may be a part."""
    seconds = trial.data.seconds
    held = seconds.filter(pc.equal(seconds["stage"].cast("string"), "hold"))
    return [math.log(count) for count in held["completed"].to_pylist()[:-1] if count]


def _overhead_s(trial: TrialFindings, hold_s: float) -> float:
    """Start of the server, warm-up and ramps."""
    recording = trial.recording
    end_s = max((stage.end_ns for stage in recording.stages), default=0) / 1e9
    start_s = recording.server.start_s if recording.server else None
    return max(end_s - hold_s, 0.0) + (start_s or 0.0)
