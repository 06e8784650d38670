"""A limit is crossed or kept beyond doubt, or it is open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plimsoll.comparison import regression_limit
from plimsoll.comparison.difference import (
    AT_A_RATE,
    AT_FULL_SPEED,
    Difference,
    Failed,
    Metric,
    difference,
)
from plimsoll.comparison.turn_pairs import A, B, GroupTimes
from plimsoll.statistics.paired import Plan
from turns import Pair, turns

WOBBLE = (0.998, 1.001, 1.002, 0.999, 1.0, 1.001, 0.999, 1.0)


def state(
    rate: float, cost: float | None, scatter: float = 1.0, failures: int = 0, count: int = 8
) -> str:
    pairs = [
        Pair(
            rate * (1 + scatter * (one - 1)),
            None if cost is None else cost * one,
            failures=failures,
        )
        for one in WOBBLE[:count]
    ]
    return regression_limit.state(difference(turns(pairs), Plan((count,), count)), 0.03)


@pytest.mark.parametrize(
    ("rate", "cost", "found"),
    [
        (1.0, 1.0, "kept"),
        (1.2, 0.8, "kept"),
        (0.98, 1.02, "kept"),
        (0.97, 1.031, "open"),
        (0.92, 1.09, "crossed"),
        (0.92, None, "crossed"),
        (1.0, 1.5, "kept"),
    ],
)
def test_the_whole_interval_decides(rate: float, cost: float | None, found: str) -> None:
    assert state(rate, cost) == found


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [
        (0.0, 1.0, "crossed"),
        (0.0, 0.0011, "crossed"),
        (0.0009, 0.01, "crossed"),
        (0.0009, 0.0011, "open"),
        (0.01, 1.0, "open"),
        (0.5, 0.0, "open"),
    ],
)
def test_a_limit_is_crossed_where_only_b_fails(a: float, b: float, found: str) -> None:
    fails = difference(turns([Pair()] * 8), Plan((8,), 8))
    failed = replace(fails, failed=Failed(a, b))
    assert regression_limit.state(failed, 0.5) == found


@pytest.mark.parametrize(
    ("a", "b", "found"),
    [((), (B,), "crossed"), ((A,), (), "open"), ((A,), (B,), "open")],
)
def test_a_limit_is_crossed_where_only_b_returns_nothing(
    a: tuple[str, ...], b: tuple[str, ...], found: str
) -> None:
    made = difference(turns([Pair()] * 8), Plan((8,), 8))
    assert regression_limit.state(replace(made, silent=(*a, *b)), 0.5) == found
    assert regression_limit.state(replace(made, silent=a, silent_side_by_side=b), 0.5) == found
    assert regression_limit.state(replace(made, silent=b, void=a), 0.5) == found


@pytest.mark.parametrize(
    ("rate", "deciding", "found"),
    [
        (0.6, AT_A_RATE, "crossed"),
        (1.0, AT_A_RATE, "open"),
        (0.6, ("p99",), "open"),
        (0.6, ("cpu_per_request",), "kept"),
    ],
)
def test_a_limit_is_crossed_at_a_rate_that_only_a_carries(
    rate: float, deciding: tuple[Metric, ...], found: str
) -> None:
    """Whatever its latency scatters: a named quantity decides alone."""
    some = turns([Pair(rate * one, one) for one in WOBBLE])
    times = [GroupTimes(at, 1e6, 1e7 * (1 + 0.9 * (-1) ** at)) for at in range(8)]
    made = difference(some, Plan((8,), 8), 0.02, times, deciding)
    assert regression_limit.state(made, 0.2) == found


def test_a_blurred_throughput_leaves_it_to_the_cost() -> None:
    assert state(0.9, 1.1, scatter=60) == "crossed"
    assert state(0.99, None, scatter=60) == "open"


def test_a_cost_that_throughput_contradicts_crosses_nothing() -> None:
    assert state(0.97, 1.5) == "open"
    assert state(0.97, 1.5, scatter=10) == "open"


@pytest.mark.parametrize(
    ("rate", "scatter", "is_by_cost"), [(0.9, 60.0, True), (0.9, 1.0, False), (1.0, 60.0, False)]
)
def test_the_limit_is_by_cost_where_throughput_leaves_it_open(
    rate: float, scatter: float, is_by_cost: bool
) -> None:
    pairs = [Pair(rate * (1 + scatter * (one - 1)), one / rate) for one in WOBBLE]
    found = difference(turns(pairs), Plan((8,), 8))
    assert regression_limit.is_by_cost(found, 0.03) is is_by_cost


@pytest.mark.parametrize(
    ("cost", "in_turns", "found", "is_denied"),
    [
        (1.1, 1.1, "crossed", False),
        (1.1, 1.05, "crossed", False),
        (1.1, 1.02, "open", True),
        (1.1, None, "crossed", False),
        (1.0, 1.0, "kept", False),
        (1.0, 1.05, "open", True),
    ],
)
def test_a_cost_side_by_side_settles_a_limit_that_the_cost_in_turns_does_not_deny(
    cost: float, in_turns: float | None, found: str, is_denied: bool
) -> None:
    """Work of a fixed amount weighs twice as much where two servers share a core."""
    seen = beside(cost, in_turns)
    assert regression_limit.state(seen, 0.03) == found
    assert regression_limit.is_denied_in_turns(seen, 0.03) is is_denied


@pytest.mark.parametrize(("in_turns", "found"), [(1.1, "crossed"), (1.02, "open")])
def test_a_cost_that_is_named_must_be_beyond_the_limit_in_turns_too(
    in_turns: float, found: str
) -> None:
    assert regression_limit.state(beside(1.1, in_turns, ("cpu_per_request",)), 0.03) == found


def test_a_limit_that_throughput_settles_is_settled_whatever_the_costs_are() -> None:
    seen = beside(1.3, 1.0, rates=tuple(0.8 * one for one in WOBBLE))
    assert regression_limit.state(seen, 0.03) == "crossed"


def beside(
    cost: float,
    in_turns: float | None,
    deciding: tuple[Metric, ...] = AT_FULL_SPEED,
    rates: tuple[float, ...] = tuple(0.95 + 60 * (one - 1) for one in WOBBLE),
) -> Difference:
    """A comparison with another cost side by side than in turns, whose throughput is blurred."""
    pairs = [
        Pair(rate, in_turns, None if in_turns is None else 1.2 / rate - 1, a_delay=0.2)
        for rate in rates
    ]
    both = turns([Pair(0.5, cost * one) for one in WOBBLE])
    return difference(turns(pairs), Plan((8,), 8), 0.02, (), deciding, (), both)


def test_a_cost_that_is_kept_alone_is_not_enough() -> None:
    assert state(0.97, 1.0, scatter=60) == "open"


@pytest.mark.parametrize(
    ("longer", "cost", "found"),
    [
        (1.0, 1.0, "kept"),
        (1.1, 1.0, "crossed"),
        (1.0, 1.1, "crossed"),
        (0.9, 0.9, "kept"),
        (1.03, 1.0, "open"),
        (None, 1.0, "open"),
    ],
)
def test_at_a_rate_both_must_keep_it(longer: float | None, cost: float, found: str) -> None:
    assert regression_limit.state(at_a_rate(longer, cost, AT_A_RATE), 0.03) == found


@pytest.mark.parametrize(
    ("metric", "found"), [("throughput", "kept"), ("cpu_per_request", "crossed"), ("p99", "kept")]
)
def test_a_quantity_that_is_named_must_keep_it_alone(metric: Metric, found: str) -> None:
    assert regression_limit.state(at_a_rate(1.0, 1.1, (metric,)), 0.03) == found


def at_a_rate(longer: float | None, cost: float, deciding: tuple[Metric, ...]) -> Difference:
    pairs = [Pair(1.0, cost * one) for one in WOBBLE]
    times = (
        []
        if longer is None
        else [GroupTimes(group, 1e6, 1e6 * longer * one) for group, one in enumerate(WOBBLE)]
    )
    return difference(turns(pairs), Plan((8,), 8), 0.02, times, deciding)


WIDE = (0.9, 1 / 0.9) * 4
"""Scatter whose interval is symmetric about 1 on logarithms, so that half of it is a loss."""


def blurred(rate: tuple[float, ...], delay: tuple[float, ...] | None) -> Difference:
    """A against A at full speed: each factor of throughput with its own scatter."""
    pairs = [
        Pair(one, quiet, place / one - 1, a_delay=0.2)
        for one, quiet, place in zip(rate, WOBBLE, delay or rate, strict=True)
    ]
    if delay is None:
        pairs = [Pair(one, None) for one in rate]
    return difference(turns(pairs), Plan((8,), 8))


def at_a_rate_with(longer: tuple[float, ...], cost: tuple[float, ...]) -> Difference:
    """A against A at a rate: p99 and the cost of a request with a scatter of their own."""
    times = [GroupTimes(group, 1e6, 1e6 * one) for group, one in enumerate(longer)]
    some = turns([Pair(1.0, one) for one in cost])
    return difference(some, Plan((8,), 8), 0.02, times, AT_A_RATE)


@pytest.mark.parametrize(
    ("found", "metric", "is_growth"),
    [
        (blurred(WIDE, None), "throughput", False),
        # The cost of a request keeps the limit in place of a throughput that others blur.
        (blurred(WIDE, tuple(1.2 * one**0.3 for one in WIDE)), "throughput", False),
        (at_a_rate_with(WIDE, WOBBLE), "p99", True),
        (at_a_rate_with(WOBBLE, WIDE), "cpu_per_request", True),
    ],
)
def test_limits_are_settled_from_the_smallest_loss_on(
    found: Difference, metric: str, is_growth: bool
) -> None:
    smallest = regression_limit.smallest_loss(found)
    assert smallest is not None
    assert (smallest.metric, smallest.grows) == (metric, is_growth)
    assert regression_limit.state(found, 1.02 * smallest.loss) == "kept"
    assert regression_limit.state(found, 0.98 * smallest.loss) == "open"


def test_a_loss_that_is_a_growth_is_greater_than_the_loss_of_the_same_factor() -> None:
    fallen = regression_limit.SmallestLoss("throughput", 0.2, grows=False)
    grown = regression_limit.SmallestLoss("p99", 0.2, grows=True)
    assert fallen.loss == pytest.approx(0.181, abs=1e-3)
    assert grown.loss == pytest.approx(0.221, abs=1e-3)
    assert fallen.times_as_long(fallen.loss) == pytest.approx(1)
    assert grown.times_as_long(grown.loss) == pytest.approx(1)
    assert grown.times_as_long(0.105) == pytest.approx(4, rel=0.01)


def test_no_loss_is_known_without_every_quantity_that_must_keep_the_limit() -> None:
    assert regression_limit.smallest_loss(at_a_rate(None, 1.0, AT_A_RATE)) is None
    assert regression_limit.smallest_loss(difference(turns([Pair()]), Plan((1,), 9))) is None


def test_too_few_groups_leave_it_open() -> None:
    assert state(0.5, 2.0, count=2) == "open"
