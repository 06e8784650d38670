"""How steady a trial was, as repetitions are compared by it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pytest

import sample
from plimsoll.aggregate import steady_state
from plimsoll.aggregate.silence import NOTHING, Silence
from plimsoll.aggregate.steady_state import FLAT, SHORT, SLOWDOWN, SteadyState
from plimsoll.aggregate.trial import Tables
from plimsoll.comparison.comparisons import ComparedTrial
from plimsoll.findings.trial import TrialFindings
from plimsoll.statistics.drift import PARTS
from plimsoll.verdicts.campaign_checks import repetitions_agree
from plimsoll.verdicts.checks import steady
from plimsoll.verdicts.limits import Limits
from plimsoll.verdicts.verdict import Sentence, Verdict
from recordings import simulate, with_speeds

HOLD_S = 12.0
WINDOWS = 24
EACH = 4000
REPETITIONS = 5
ENTRIES = 100


def doubted_by(limit: str) -> Verdict:
    doubt = Sentence("doubtful", "It was not steady.", "Repeat it.", limit)
    return Verdict("steady", "go", "doubtful", 1.0, 0.1, "ratio", (doubt,), "a page")


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        ([], FLAT),
        (["change_ratio"], SLOWDOWN),
        (["start_ratio"], SLOWDOWN),
        (["levels_ratio"], SLOWDOWN),
        (["silent_ratio"], SLOWDOWN),
        (["mean_error_ratio"], FLAT),
        (["compared_mean_error_ratio"], FLAT),
        (["times_start_ratio"], FLAT),
        (["times_levels_ratio"], FLAT),
    ],
)
def test_a_change_counts_only_where_throughput_itself_is_doubted(
    limits: list[str], name: str
) -> None:
    changed = SteadyState(SLOWDOWN, (8000.0, 7900.0), 7950.0, 7900.0)
    verdicts = tuple(doubted_by(limit) for limit in limits)
    found = replace(sample.sound_trial(), verdicts=verdicts, steady_state=changed)
    assert found.steadiness == name


@pytest.mark.parametrize(("name", "steadiness"), [(None, ""), (SHORT, SHORT)])
def test_what_was_not_classified_is_not_called_flat(name: str | None, steadiness: str) -> None:
    state = None if name is None else SteadyState(name, (), 8000.0, None)
    assert replace(sample.sound_trial(), steady_state=state).steadiness == steadiness


def repetition(number: int, tables: Tables) -> ComparedTrial:
    """A repetition as a campaign compares it."""
    recording = replace(tables.recording, repetition=number, trial=f"go.{number}")
    data = sample.trial_data(recording=recording, summary=None)
    verdicts = (steady.judge(tables, Limits()),)
    found = TrialFindings(data, verdicts, steady_state=tables.steady_state)
    return ComparedTrial(recording, tables.summary, False, steady_state=found.steadiness)


def is_inconsistent(repetitions: list[ComparedTrial]) -> bool:
    (found,) = repetitions_agree.judge(repetitions, Limits())
    return "disagree on the steady state" in found.text


@dataclass(frozen=True)
class Paced(Tables):
    """A trial of which only the responses in each of its windows are known.

    Attributes:
        counts: Responses in each half second of its hold.
    """

    counts: tuple[float, ...] = ()

    def pace(self, window: tuple[int, int], parts: int) -> list[int]:
        assert window == self.holds[0]
        cells = np.repeat(np.array(self.counts) / PARTS, PARTS)
        return [round(float(part.sum())) for part in np.split(cells, parts)]

    @cached_property
    def steady_state(self) -> SteadyState:
        return steady_state.classified(self.counts, HOLD_S)

    @cached_property
    def steady_state_of_times(self) -> None:
        return None

    @cached_property
    def silence(self) -> Silence:
        return NOTHING


def with_paces(paces: np.ndarray) -> Tables:
    """A trial with so many responses in each half second, in units of their usual number."""
    made = simulate(warm_up_s=0, ramp_s=0, hold_s=HOLD_S)
    counts = tuple(float(one) for one in np.rint(paces * EACH))
    paced = Paced(made.recording, made.requests, made.connections, made.readings, counts)
    paced.__dict__["summary"] = made.summary
    return paced


def test_repetitions_on_a_machine_whose_speed_changes_by_some_percent_agree() -> None:
    """Its speed scatters by 1 % and changes once by N(0, 2 %): many repetitions are not flat."""
    draw, names = np.random.default_rng(1), set()
    inconsistent = 0
    for _ in range(ENTRIES):
        made = []
        for number in range(REPETITIONS):
            paces = 1 + draw.normal(0, 0.01, WINDOWS)
            paces[draw.integers(4, 20) :] *= 1 + draw.normal(0, 0.02)
            tables = with_paces(paces)
            names |= {tables.steady_state.name} if tables.steady_state else set()
            made.append(repetition(number, tables))
        inconsistent += is_inconsistent(made)
    assert len(names) > 1
    assert inconsistent == 0


def in_part(speeds: dict[float, float]) -> list[Tables]:
    """Repetitions of which the second and the fourth have these speeds of the server."""
    return [
        simulate(warm_up_s=0, ramp_s=0, hold_s=HOLD_S, speeds=speeds if number % 2 else {})
        for number in range(REPETITIONS)
    ]


def compared(trials: list[Tables]) -> list[ComparedTrial]:
    return [repetition(number, one) for number, one in enumerate(trials)]


@pytest.mark.parametrize(("factor", "is_doubted"), [(0.97, False), (0.8, True)])
def test_a_server_that_slows_in_some_repetitions_is_inconsistent(
    factor: float, is_doubted: bool
) -> None:
    assert is_inconsistent(compared(in_part({6.0: factor}))) is is_doubted


def test_a_machine_that_slows_in_some_repetitions_makes_none_inconsistent() -> None:
    slower = in_part({6.0: 0.8})
    trials = [
        with_speeds(replace(one), *(1.0,) * 6, 0.8) if number % 2 else one
        for number, one in enumerate(slower)
    ]
    assert not is_inconsistent(compared(trials))
