"""The simulated campaigns of the bench, fewer of them, from the same seeds."""

from __future__ import annotations

import math

import pytest

import campaign_coverage as bench

COUNT = 400
CHANCE = 3 * math.sqrt(0.05 * 0.95 / COUNT)


@pytest.mark.parametrize(
    "machine",
    [
        pytest.param(one, id=one.name, marks=pytest.mark.thorough if place else ())
        for place, one in enumerate(bench.MACHINES)
    ],
)
@pytest.mark.parametrize("servers", [2, pytest.param(3, marks=pytest.mark.thorough)])
def test_intervals_hold_where_a_campaign_stops_as_soon_as_they_are_narrow(
    machine: bench.Machine, servers: int
) -> None:
    found = bench.found(machine, servers, COUNT)
    assert found.held >= 0.95 - CHANCE
    assert found.ordered >= 0.95 - CHANCE


def test_ordinary_intervals_of_two_servers_do_not_hold() -> None:
    assert bench.found(bench.MACHINES[0], 2, COUNT).ordinary < 0.95 - CHANCE


def test_narrower_intervals_take_more_blocks() -> None:
    found = bench.found(bench.MACHINES[0], 2, COUNT)
    assert bench.FEWEST < found.ordinary_blocks < found.blocks < bench.BLOCKS
