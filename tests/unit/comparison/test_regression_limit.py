"""A limit is crossed or kept beyond doubt, or it is open."""

from __future__ import annotations

import pytest

from plimsoll.comparison import regression_limit
from plimsoll.comparison.difference import AT_A_RATE, Difference, Metric, difference
from plimsoll.comparison.turn_pairs import GroupTimes
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


def test_failures_and_too_few_groups_leave_it_open() -> None:
    assert state(0.5, 2.0, failures=200) == "open"
    assert state(0.5, 2.0, count=2) == "open"
