"""When what was reported agrees with what was true."""

from __future__ import annotations

import numpy as np
import pytest

from plimsoll.calibration import accuracy, agreement, pacing, stalls
from plimsoll.calibration.capacity import Instant, engine_capacity

US, MS = 1_000, 1_000_000


@pytest.mark.parametrize(
    ("true_ns", "reported_ns", "within"),
    [
        (50 * US, 70 * US, True),
        (50 * US, 71 * US, False),
        (50 * US, 29 * US, False),
        (10 * MS, 10_100 * US, True),
        (10 * MS, 10_101 * US, False),
        (10 * MS, 9_899 * US, False),
        (0, 20 * US, True),
    ],
)
def test_a_hundredth_or_20_microseconds_agree(true_ns: int, reported_ns: int, within: bool) -> None:
    tolerance_ns = agreement.tolerance_ns(true_ns)
    assert agreement.point("p50", true_ns, reported_ns, tolerance_ns).within is within


def test_what_has_no_tolerance_is_not_judged() -> None:
    point = agreement.point("max", 1, 1_000_000, None)
    assert point.within is None
    assert point.off_ns == 999_999


@pytest.mark.parametrize(
    ("off_ns", "within"), [(20 * US, True), (21 * US, None), (50 * US, None), (51 * US, False)]
)
def test_what_chance_may_have_taken_beyond_the_tolerance_is_not_judged(
    off_ns: int, within: bool | None
) -> None:
    for reported_ns in (MS + off_ns, MS - off_ns):
        assert agreement.point("p99", MS, reported_ns, 20 * US, 30 * US).within is within


def test_slow_requests_of_one_moment_are_chance_and_of_all_time_are_not() -> None:
    """Two of 100 requests are late by 1 ms: within a tenth of the load, or throughout it."""
    held, way = np.full(20_000, MS), np.full(20_000, 80 * US)
    places = np.arange(20_000)
    for late, within in ((places < 400, None), (places % 50 == 0, False)):
        points = accuracy.points(held, way, held + way + late * MS)
        assert {one.statistic: one.within for one in points}["p99"] is within


def test_an_engine_that_adds_nothing_but_the_way_agrees() -> None:
    random = np.random.default_rng(1)
    held = np.where(random.random(20_000) < 0.03, 10 * MS, MS) + random.integers(0, 30 * US, 20_000)
    way = random.integers(60 * US, 90 * US, 20_000)
    reported = held + random.permutation(way)
    points = accuracy.points(held, way, reported)
    assert [one.statistic for one in points] == ["p50", "p90", "p95", "p99", "p999", "max"]
    assert [one.within for one in points] == [True] * 5 + [None]


@pytest.mark.parametrize("late_ns", [-50 * US, 50 * US])
def test_an_engine_that_is_50_microseconds_off_at_1_ms_does_not_agree(late_ns: int) -> None:
    held = np.full(20_000, MS)
    way = np.full(20_000, 80 * US)
    points = accuracy.points(held, way, held + way + late_ns)
    assert [one.within for one in points] == [False] * 5 + [None]


def test_response_times_that_forget_the_wait_do_not_agree() -> None:
    arrivals = np.arange(0, 5_000) * MS
    waits = stalls.USUAL.waits(arrivals)
    right = stalls.points(waits, waits + 100 * US)
    assert all(one.within is not False for one in right)
    wrong = {one.statistic: one.within for one in stalls.points(waits, np.full(5_000, MS))}
    assert (wrong["p50"], wrong["p90"], wrong["p99"], wrong["max"]) == (True, False, False, False)


@pytest.mark.parametrize(
    ("arrived", "late", "within"),
    [
        (10_000, {"p50": 20 * US, "p99": 100 * US}, True),
        (10_000, {"p50": 20 * US, "p99": 101 * US}, False),
        (9_989, {"p50": 20 * US, "p99": 100 * US}, False),
        (10_000, {"p50": 20 * US}, False),
    ],
)
def test_a_rate_is_kept_when_all_arrive_and_99_of_100_are_sent_within_100_microseconds(
    arrived: int, late: dict[str, int], within: bool
) -> None:
    assert pacing.judged(5_000, 10_000, arrived, late, None).within is within


def test_a_ceiling_leaves_out_the_warm_up() -> None:
    instants = [
        Instant(0.99, 1_000, driver_cpu_s=0.5, server_cpu_s=0.9),
        Instant(2.99, 81_000, driver_cpu_s=1.3, server_cpu_s=2.7),
    ]
    found = engine_capacity(instants, connections=64, threads=1, cores=1)
    assert found.throughput_per_s == pytest.approx(40_000)
    assert found.cpu_per_request_s == pytest.approx(10e-6)
    assert found.thread_per_s == pytest.approx(100_000)
    assert (found.driver_busy_ratio, found.server_busy_ratio) == pytest.approx((0.4, 0.9))
