"""The search of a load line against queues whose line is known."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from plimsoll.load_line import limits, search
from plimsoll.load_line.goal import SearchGoal
from plimsoll.load_line.limits import LineLimit
from plimsoll.load_line.search import Searched
from queues import (
    Queue,
    Services,
    exponential,
    fixed,
    line_beside_stops,
    line_of_a_listen_queue,
    md1_quantile_s,
    mm1_quantile_s,
    mm1_refused,
)

SERVICE_S = 200e-6
CAPACITY = 1 / SERVICE_S
ERRORS = limits.errors(0.001)
BUDGET_S = 150.0

Quantile = Callable[[float, float, float], float]


def searched(
    services: Services,
    most: LineLimit | tuple[LineLimit, ...],
    seed: int,
    start_per_s: float = CAPACITY,
    budget_s: float = BUDGET_S,
    within: float = 0.02,
    **options: object,
) -> tuple[Searched, Queue]:
    """A search on a queue; it goes on until its interval is narrower than what is asserted."""
    wanted = most if isinstance(most, tuple) else (most,)
    judged = (*wanted, ERRORS, limits.SENDING)
    queue = Queue(services, judged, np.random.default_rng(seed), **options)  # pyright: ignore
    found = search.searched(
        queue.measure,
        SearchGoal(wanted, ERRORS, budget_s, within),
        start_per_s,
        random.Random(seed),
        clock_s=queue.clock_s,
    )
    return found, queue


THEORY = [(fixed, md1_quantile_s), (exponential, mm1_quantile_s)]
ALWAYS = {(fixed, 0.95), (exponential, 0.8)}


@pytest.mark.parametrize(
    ("services", "quantile", "load"),
    [
        pytest.param(*of, load, marks=() if (of[0], load) in ALWAYS else pytest.mark.thorough)
        for of in THEORY
        for load in (0.5, 0.8, 0.95)
    ],
)
def test_the_line_is_that_of_theory(
    services: Callable[[float], Services], quantile: Quantile, load: float
) -> None:
    limit = limits.latency(99, quantile(0.99, load * CAPACITY, SERVICE_S))
    off: list[float] = []
    covered = 0
    for seed in range(20):
        found, queue = searched(services(SERVICE_S), limit, seed)
        (line,) = found.lines
        assert line.rate_per_s is not None and line.edge is not None
        off.append(line.rate_per_s / (load * CAPACITY) - 1)
        covered += line.edge.interval.holds(load * CAPACITY)
        assert queue.now_s <= BUDGET_S + 1e-9
    assert sum(abs(one) <= 0.03 for one in off) >= 19
    assert covered >= 16


def test_a_limit_of_errors_binds_where_requests_fail() -> None:
    """Requests fail from 3,000/s on, long before they are late."""
    limit = limits.latency(99, 0.05)

    def share(rate: float) -> float:
        return 0.0001 if rate < 3000 else 0.02

    found, _ = searched(fixed(SERVICE_S), limit, 3, within=0.05, fails=share)
    (line,) = found.lines
    assert line.binding is not None and line.binding.name == "errors"
    assert line.rate_per_s == pytest.approx(3000, rel=0.1)


def test_a_server_whose_listen_queue_is_full_has_the_line_of_theory() -> None:
    """M/M/1 with eight places: it refuses one request in a thousand long before it is saturated."""
    low, high = 0.1, 0.9
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (middle, high) if mm1_refused(middle, 8) < 0.001 else (low, middle)
    truth = low * CAPACITY
    limit = limits.latency(99, 0.05)
    found = [searched(exponential(SERVICE_S), limit, seed, places=8)[0] for seed in range(5)]
    lines = [one.lines[0] for one in found]
    assert all(one.binding is not None and one.binding.name == "errors" for one in lines)
    assert all(one.rate_per_s == pytest.approx(truth, rel=0.05) for one in lines)
    assert sum(one.edge is not None and one.edge.interval.holds(truth) for one in lines) >= 4


def test_each_limit_has_its_line_from_the_same_tries() -> None:
    wanted = (
        limits.latency(50, mm1_quantile_s(0.5, 2500, SERVICE_S)),
        limits.latency(99, mm1_quantile_s(0.99, 4000, SERVICE_S)),
    )
    found, queue = searched(exponential(SERVICE_S), wanted, 5, within=0.03)
    for line, truth in zip(found.lines, (2500, 4000), strict=True):
        assert line.edge is not None and line.edge.interval.holds(truth)
        assert line.rate_per_s == pytest.approx(truth, rel=0.1)
    assert len(found.tries) == len(queue.rates)


def test_a_rare_limit_leaves_time_for_the_others() -> None:
    """Five misses of p99.9 take 10 s at 500/s: with those on the way up few tries are left."""
    service_s = 0.001
    wanted = (
        limits.latency(50, mm1_quantile_s(0.5, 500, service_s)),
        limits.latency(99.9, mm1_quantile_s(0.999, 800, service_s)),
    )
    found, _ = searched(exponential(service_s), wanted, 4, start_per_s=1000, budget_s=60.0)
    edge = found.lines[0].edge
    assert edge is not None
    assert edge.reach < 0.18
    assert len(found.tries) > len(search.CLIMB) + 2


@pytest.mark.parametrize("start", [0.2, 0.6, 1.4])
def test_a_wrong_start_is_made_up_for(start: float) -> None:
    limit = limits.latency(99, mm1_quantile_s(0.99, 4000, SERVICE_S))
    found, _ = searched(exponential(SERVICE_S), limit, 5, start_per_s=start * CAPACITY)
    edge = found.lines[0].edge
    assert edge is not None and edge.interval.holds(4000)
    assert edge.rate_per_s == pytest.approx(4000, rel=0.1)


def test_a_server_that_stops_for_200_ms_every_3_s_has_the_line_of_a_long_run() -> None:
    limit = limits.latency(90, 0.1)
    stops = (0.2, 3.0)
    truth = line_beside_stops(limit, SERVICE_S, stops, 0.005)
    found = [searched(fixed(SERVICE_S), limit, seed, vacation=stops)[0] for seed in range(10)]
    edges = [one.lines[0].edge for one in found]
    assert sum(one is not None and one.interval.holds(truth) for one in edges) >= 9
    assert all(one is not None and abs(one.rate_per_s / truth - 1) < 0.1 for one in edges)


def test_a_long_run_at_the_line_of_a_server_that_stops_misses_what_is_allowed() -> None:
    limit, stops = limits.latency(90, 0.1), (0.2, 3.0)
    queue = Queue(fixed(0.001), (limit,), np.random.default_rng(7), vacation=stops)
    found = queue.measure(line_beside_stops(limit, 0.001, stops, 0.001), 2000.0)
    assert found.counts[limit.name].share == pytest.approx(limit.allowed, rel=0.03)


def test_a_listen_queue_that_is_full_in_stops_drops_what_is_allowed_at_its_line() -> None:
    rate = line_of_a_listen_queue(0.01, 33, 0.1, 0.7)
    arrivals = np.random.default_rng(1).poisson(0.1 * rate, 200_000)
    dropped = np.maximum(arrivals - 33, 0).mean() / (0.7 * rate)
    assert dropped == pytest.approx(0.01, rel=0.02)


@pytest.mark.parametrize("peak", [0.9, 1.0])
def test_a_start_below_or_at_capacity_finds_the_same_line_of_a_server_that_stops(
    peak: float,
) -> None:
    """Tries beyond saturation, and those far below it, have odds that no straight line goes by."""
    limit, service_s, stops = limits.latency(90, 0.1), 0.001, (0.2, 3.0)
    loads = [
        _load_at_line(
            searched(fixed(service_s), limit, seed, peak / service_s, 600, 0.01, vacation=stops)
        )
        for seed in range(10)
    ]
    truth = line_beside_stops(limit, service_s, stops, 0.001) * service_s
    assert abs(np.median(loads) / truth - 1) < 0.015


def _load_at_line(found: tuple[Searched, Queue]) -> float:
    """The load at the line of a server that takes 1 ms for a request."""
    rate_per_s = found[0].lines[0].rate_per_s
    assert rate_per_s is not None
    return rate_per_s * 0.001


def test_the_line_of_a_median_is_not_below_that_of_theory() -> None:
    """Odds of a p50 rise slowly below saturation and fast near it."""
    truth = 0.5 * CAPACITY
    limit = limits.latency(50, mm1_quantile_s(0.5, truth, SERVICE_S))
    found = [
        searched(exponential(SERVICE_S), limit, seed, budget_s=90.0, within=0.01)[0].lines[0]
        for seed in range(12)
    ]
    assert np.median([(one.rate_per_s or 0.0) / truth - 1 for one in found]) == pytest.approx(
        0, abs=0.02
    )
    assert sum(one.edge is not None and one.edge.interval.holds(truth) for one in found) >= 9


def test_a_limit_shorter_than_the_stops_has_no_line() -> None:
    """6.7 % of the requests arrive in a stop, at any rate."""
    found, _ = searched(fixed(SERVICE_S), limits.latency(99, 0.02), 1, vacation=(0.2, 3.0))
    (line,) = found.lines
    assert (line.state, line.rate_per_s) == ("below", None)


def test_a_server_that_becomes_slower_has_its_later_line() -> None:
    limit = limits.latency(99, 0.004)

    def slower(_luck: np.random.Generator, due: np.ndarray) -> np.ndarray:
        return np.where(due < 60, SERVICE_S, 1.4 * SERVICE_S)

    found = [searched(slower, limit, seed, budget_s=180.0, within=0.02)[0] for seed in range(6)]
    lines = [one.lines[0].rate_per_s for one in found]
    assert all(rate is not None and rate < CAPACITY / 1.4 for rate in lines)
    assert sum(one.forgotten > 0 for one in found) >= 2


def test_a_rate_that_fails_below_one_that_holds_is_said_and_bounds_the_line() -> None:
    """Something resonates around half of the capacity."""
    limit = limits.latency(99, 0.01)
    began = {"s": 0.0}

    def resonating(luck: np.random.Generator, due: np.ndarray) -> np.ndarray:
        services = np.full(len(due), SERVICE_S)
        rate = len(due) / (due.max() - due.min())
        began["s"] = due.min()
        if 0.45 * CAPACITY < rate < 0.55 * CAPACITY:
            services[luck.uniform(size=len(due)) < 0.03] = 0.02
        return services

    found, _ = searched(resonating, limit, 6, within=0.05)
    (line,) = found.lines
    assert line.gap is not None
    failing, holding = line.gap
    assert 0.4 * CAPACITY < failing < 0.6 * CAPACITY < holding
    assert line.rate_per_s is None or line.rate_per_s <= 1.05 * failing


def test_one_bad_try_among_good_ones_makes_no_gap() -> None:
    limit = limits.latency(99, mm1_quantile_s(0.99, 4000, SERVICE_S))

    def disturbed_once(luck: np.random.Generator, due: np.ndarray) -> np.ndarray:
        slow = 4.0 if due.min() < 5 < due.max() else 1.0
        return luck.exponential(slow * SERVICE_S, len(due))

    found, _ = searched(disturbed_once, limit, 8)
    (line,) = found.lines
    assert line.gap is None
    assert line.rate_per_s == pytest.approx(4000, rel=0.05)


def test_a_server_that_always_fails_has_no_line() -> None:
    found, queue = searched(fixed(SERVICE_S), limits.latency(99, 0.02), 1, fails=lambda _: 1.0)
    (line,) = found.lines
    assert (line.state, line.edge) == ("below", None)
    assert line.binding is not None and line.binding.name == "errors"
    assert queue.now_s <= BUDGET_S + 1e-9


def test_a_load_generator_that_sends_too_little_gives_no_line_to_a_server_that_always_fails() -> (
    None
):
    """A busy host sends too little from 0.4 of the capacity on; at every rate requests fail."""

    def unsent(rate: float) -> float:
        return 0.0 if rate < 0.4 * CAPACITY else 0.1

    found, _ = searched(
        fixed(SERVICE_S), limits.latency(99, 0.02), 1, fails=lambda _: 1.0, unsent=unsent
    )
    (line,) = found.lines
    assert any(not one.is_inside(limits.SENDING) for one in found.tries)
    assert any(one.is_inside(limits.SENDING) for one in found.tries)
    assert (line.state, line.edge) == ("below", None)
    assert line.binding is not None and line.binding.name == "errors"


def test_requests_that_are_not_sent_at_any_rate_are_no_errors_of_the_server() -> None:
    limit = limits.latency(99, 0.02)
    found, _ = searched(fixed(SERVICE_S), limit, 1, unsent=lambda _: 0.4)
    (line,) = found.lines
    assert (line.state, line.edge) == ("below", None)
    assert line.binding == limits.SENDING


def test_a_limit_below_the_floor_of_the_server_has_no_line() -> None:
    found, _ = searched(fixed(SERVICE_S), limits.latency(99, SERVICE_S / 2), 1)
    assert found.lines[0].state == "below"


def test_rates_beyond_what_may_be_tried_end_the_search() -> None:
    limit = limits.latency(99, 0.02)
    wanted = SearchGoal((limit,), ERRORS, BUDGET_S, most_per_s=1000.0)
    queue = Queue(fixed(SERVICE_S), (limit, ERRORS, limits.SENDING), np.random.default_rng(1))
    found = search.searched(queue.measure, wanted, 900.0, random.Random(1), clock_s=queue.clock_s)
    assert found.lines[0].state == "above"
    assert max(queue.rates) <= 1000.0


@pytest.mark.parametrize("budget_s", [0.1, 3.0, 10.0])
def test_a_short_budget_is_kept_after_the_first_try(budget_s: float) -> None:
    limit = limits.latency(99, 0.02)
    found, queue = searched(fixed(SERVICE_S), limit, 1, budget_s=budget_s)
    assert len(found.tries) == 1 or queue.now_s <= budget_s
    assert found.lines[0].state in ("open", "found")


def test_the_same_luck_tries_the_same_rates() -> None:
    limit = limits.latency(99, 0.004)
    first, second = (searched(exponential(SERVICE_S), limit, 9)[1].rates for _ in range(2))
    assert first == second


def test_no_rate_holds_only_where_the_lowest_fails_beyond_chance() -> None:
    """Of 50 requests a second, one that fails is twice as many as allowed, and may be chance."""
    limit, errors = limits.latency(99, 0.05), limits.errors(0.01)
    wanted = SearchGoal((limit,), errors, 20.0, 0.05)
    for seed in range(12):
        queue = Queue(
            fixed(SERVICE_S),
            (limit, errors, limits.SENDING),
            np.random.default_rng(seed),
            fails=lambda _: 0.017,
        )
        luck = random.Random(seed)
        found = search.searched(queue.measure, wanted, CAPACITY, luck, clock_s=queue.clock_s)
        (line,) = found.lines
        if line.state == "below":
            lowest = min(one.rate_per_s for one in found.tries)
            at = [one for one in found.tries if one.rate_per_s <= 1.01 * lowest]
            assert any(one.state(errors) == "failed" for one in at)
