"""A limit is crossed or kept beyond doubt, or it is open."""

from __future__ import annotations

import pytest

from plimsoll.comparison import regression_limit
from plimsoll.comparison.difference import difference
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
        (1.0, 1.1, "crossed"),
    ],
)
def test_the_whole_interval_decides(rate: float, cost: float | None, found: str) -> None:
    assert state(rate, cost) == found


def test_a_blurred_throughput_leaves_it_to_the_cost() -> None:
    assert state(0.9, 1.1, scatter=60) == "crossed"
    assert state(0.99, None, scatter=60) == "open"


def test_a_cost_that_is_kept_alone_is_not_enough() -> None:
    assert state(0.97, 1.0, scatter=60) == "open"


def test_failures_and_too_few_groups_leave_it_open() -> None:
    assert state(0.5, 2.0, failures=200) == "open"
    assert state(0.5, 2.0, count=2) == "open"
