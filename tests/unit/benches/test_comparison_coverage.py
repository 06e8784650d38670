"""The simulated comparisons of the bench, fewer of them, from the same seeds."""

from __future__ import annotations

import math

import pytest

import comparison_coverage as bench
from plimsoll.statistics import sequential

COUNT = 60
ALLOWED = 0.05 + 3 * math.sqrt(0.05 * 0.95 / COUNT)


@pytest.mark.parametrize(
    "machine",
    [
        pytest.param(one, id=one.name, marks=pytest.mark.thorough if place else ())
        for place, one in enumerate(bench.MACHINES)
    ],
)
def test_intervals_hold_where_the_machine_wanders_and_an_answer_ends_it(
    machine: bench.Machine,
) -> None:
    found = bench.found(machine, 0.03, COUNT)
    assert found.held >= 1 - ALLOWED
    assert found.wrong <= ALLOWED


def test_three_percent_are_found_on_a_steady_machine_and_nothing_where_nothing_is() -> None:
    different, same = (bench.found(bench.MACHINES[0], slower, COUNT) for slower in (0.03, 0.0))
    assert different.decided >= 0.9
    assert same.wrong <= ALLOWED


@pytest.mark.parametrize("groups", [4, 8, 30])
def test_the_intervals_are_narrower_than_a_confidence_sequence(groups: int) -> None:
    own = sequential.reach(sequential.looks(groups), groups, 0.025)
    assert own < bench.anytime_reach(groups, 0.025)


@pytest.mark.parametrize("slowdown", [0.03, 0.1, 0.3])
def test_the_load_generators_cost_as_covariate_hides_a_slowdown_or_changes_nothing(
    slowdown: float,
) -> None:
    assert bench.kept_after_adjustment(slowdown, centred=False) < 0.7
    raw = bench.kept_unadjusted(slowdown)
    assert bench.kept_after_adjustment(slowdown, centred=True) == pytest.approx(raw, rel=1e-9)
