"""The edge: where the share of misses reaches what is allowed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from plimsoll.statistics.edge import Count, count, edge

ALLOWED = 0.01


def tries(
    luck: np.random.Generator, slope: float, clumps: int, arrivals: float = 0.0
) -> list[Count]:
    """Tries around an edge at 1,000/s; misses come in clumps of a size.

    What is due scatters around the rate by `arrivals`, on logarithms, and misses with it.
    """
    found: list[Count] = []
    for rate in 1000 * np.exp(luck.uniform(-2, 2, 14) / slope):
        due = rate * math.exp(luck.normal(0, arrivals)) if arrivals else rate
        usual = ALLOWED * math.exp(-((slope * arrivals) ** 2) / 2)
        odds = usual / (1 - usual) * (due / 1000) ** slope
        blocks = np.full(20, 1000)
        missed = clumps * luck.binomial(blocks // clumps, odds / (1 + odds))
        found.append(count(float(rate), float(due), blocks.tolist(), missed.tolist()))
    return found


@pytest.mark.parametrize("slope", [8.0, 80.0])
@pytest.mark.parametrize("clumps", [1, 20])
def test_the_interval_holds_the_edge_in_95_of_100(slope: float, clumps: int) -> None:
    held = 0
    for seed in range(100):
        found = edge(tries(np.random.default_rng(seed), slope, clumps), ALLOWED)
        held += found is not None and found.interval.holds(1000)
    assert held >= 90


def test_chance_arrivals_neither_widen_nor_shift_the_edge() -> None:
    """Where 1 % more arrivals double the misses: what is due says more than what was requested."""
    drawn = [tries(np.random.default_rng(seed), 80, 20, arrivals=0.01) for seed in range(40)]
    unaware = [[replace(each, due_per_s=each.rate_per_s) for each in one] for one in drawn]
    known, unknown = (
        [found for one in each if (found := edge(one, ALLOWED)) is not None]
        for each in (drawn, unaware)
    )
    assert np.median([one.reach for one in known]) < 0.7 * np.median([one.reach for one in unknown])
    assert np.median([one.rate_per_s for one in known]) == pytest.approx(1000, rel=0.002)
    assert sum(one.interval.holds(1000) for one in known) >= 36


def test_misses_in_clumps_say_less() -> None:
    single = [edge(tries(np.random.default_rng(one), 20, 1), ALLOWED) for one in range(10)]
    clumped = [edge(tries(np.random.default_rng(one), 20, 20), ALLOWED) for one in range(10)]
    narrow, wide = ([one.reach for one in each if one] for each in (single, clumped))
    assert np.median(wide) > 1.5 * np.median(narrow)


def test_there_is_no_edge_without_both_sides() -> None:
    good, bad = count(100, 100, [1000], [0]), count(200, 200, [1000], [900])
    assert edge([good], ALLOWED) is None
    assert edge([bad], ALLOWED) is None
    found = edge([good, bad], ALLOWED)
    assert found is not None
    assert 100 <= found.rate_per_s <= 200
    assert found.interval.high - found.interval.low > 50


def test_a_try_is_sure_only_by_as_many_misses_as_are_by_themselves() -> None:
    spread = count(100, 100, [1000] * 20, [15] * 20)
    clumped = count(100, 100, [1000] * 20, [300, *[0] * 19])
    assert spread.chance_above(ALLOWED) > 0.99
    assert 0.05 < clumped.chance_above(ALLOWED) < 0.95
    assert clumped.effect > 50 * spread.effect
