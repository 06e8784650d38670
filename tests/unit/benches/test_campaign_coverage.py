"""The simulated campaigns of the bench, fewer of them, from the same seeds."""

from __future__ import annotations

import math

import pytest

import campaign_coverage as bench

COUNT = 400
CHANCE = 3 * math.sqrt(0.05 * 0.95 / COUNT)


@pytest.mark.parametrize("machine", bench.MACHINES, ids=lambda machine: machine.name)
@pytest.mark.parametrize("servers", [2, 3])
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
