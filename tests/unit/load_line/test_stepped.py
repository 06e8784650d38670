"""A search that is told its tries: the same as one that measures them, from any point on."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

from plimsoll.load_line import goal, limits, search
from plimsoll.load_line.goal import SearchGoal
from plimsoll.load_line.limits import LineLimit
from plimsoll.load_line.search import Searched, SteppedSearch
from plimsoll.load_line.tries import Try
from queues import BESIDE_S, Queue, fixed

CAPACITY = 5000.0
LIMIT = limits.latency(99, 0.002)
ERRORS = limits.errors(0.001)
GOAL = SearchGoal((LIMIT,), ERRORS, 20.0, try_s=1.0, has_processes=True)


def queue(seed: int) -> Queue:
    judged: tuple[LineLimit, ...] = (LIMIT, ERRORS, limits.SENDING)
    return Queue(fixed(1 / CAPACITY), judged, np.random.default_rng(seed))


@cache
def measured(seed: int) -> Searched:
    """A search that measures its own tries, made once for all tests of the file."""
    server = queue(seed)
    return search.searched(
        server.measure, GOAL, CAPACITY, random.Random(seed), clock_s=server.clock_s
    )


def took_s(one: Try) -> float:
    return goal.warm_up_s(one.hold_s) + one.hold_s + BESIDE_S


def stepped(seed: int) -> SteppedSearch:
    return SteppedSearch(GOAL, CAPACITY, random.Random(seed))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (1, 2))]
)
def test_tries_that_are_told_give_the_next_ones_and_the_lines_of_a_search(seed: int) -> None:
    found = measured(seed)
    again = stepped(seed)
    for one in found.tries:
        assert again.following is not None
        assert again.following.rate_per_s == one.rate_per_s
        assert again.following.hold_s == pytest.approx(one.hold_s)
        again.take(one, took_s(one))
    assert again.following is None
    (line,), (expected,) = again.end().lines, found.lines
    assert line.edge is not None and expected.edge is not None
    assert line.edge.interval == expected.edge.interval
    assert line.is_confirmed == expected.is_confirmed


def test_a_try_at_another_rate_than_was_wanted_counts() -> None:
    """It was recorded again after a change, when others had come before it."""
    search_ = stepped(1)
    server = queue(7)
    one = server.measure(0.6 * CAPACITY, 1.0)
    search_.take(one, took_s(one))
    assert search_.end().tries == (one,)
    assert search_.following is not None and search_.following.rate_per_s == 0.5 * CAPACITY


def test_a_try_after_the_end_counts() -> None:
    found = measured(0)
    again = stepped(0)
    for one in (*found.tries, queue(3).measure(0.5 * CAPACITY, 1.0)):
        again.take(one, took_s(one))
    assert len(again.end().tries) == len(found.tries) + 1
