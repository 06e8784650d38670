"""Laws between figures, on numbers whose answer is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from plimsoll.statistics import laws

TIMES = some.lists(some.floats(1e-6, 10), min_size=1, max_size=200)
SHARES = (0.0, 0.25, 0.5, 0.9, 0.99, 1.0)


def quantiles(times: list[float]) -> list[tuple[float, float]]:
    """The time that each share of them keeps: the least with so many of them at or below it."""
    ordered = sorted(times)
    return [(q, ordered[max(0, -int(-q * len(ordered) // 1) - 1)]) for q in SHARES]


def test_80_000_streams_with_a_limit_of_2_s_and_98_percent_in_time_make_39_200_per_second() -> None:
    assert laws.least_per_s(80_000, 0.98, 2.0) == pytest.approx(39_200)


def test_512_streams_at_81_514_per_second_with_a_p99_of_4_21_ms_need_a_maximum_of_211_ms() -> None:
    mean_s = laws.mean_time_s(512, 81_514)
    assert mean_s == pytest.approx(6.281e-3, rel=1e-3)
    assert laws.needed_max_s(mean_s, [(0.99, 4.21e-3)]) == pytest.approx(0.211, rel=3e-3)


def test_32_027_bodies_of_32_768_bytes_are_89_percent_of_10_gbit_per_s() -> None:
    assert laws.link_ratio(32_027 * 32_768, 10e9) == pytest.approx(0.892, abs=1e-3)


def test_little_is_his_own_inverse() -> None:
    assert laws.in_flight(100, laws.mean_time_s(7, 100)) == pytest.approx(7)


def test_there_is_no_upper_bound_without_a_maximum_and_no_needed_maximum_with_one() -> None:
    assert laws.most_mean_s([(0.5, 1.0), (0.99, 2.0)]) is None
    assert laws.most_mean_s([(0.5, 1.0), (1.0, 2.0)]) == pytest.approx(1.5)
    assert laws.needed_max_s(1.0, [(0.5, 1.0), (1.0, 2.0)]) is None
    assert laws.needed_max_s(1.0, []) is None


def test_p99_needs_1_000_requests() -> None:
    assert laws.enough(0.99) == pytest.approx(1_000)
    assert laws.enough(0.999) == pytest.approx(10_000)


@given(TIMES)
def test_the_mean_of_any_times_lies_between_its_bounds(times: list[float]) -> None:
    known = quantiles(times)
    mean = sum(times) / len(times)
    most = laws.most_mean_s(known)
    assert most is not None
    slack = 1e-9 + 1e-9 * mean
    assert laws.least_mean_s(known) - slack <= mean + _grain(times)
    assert mean <= most + slack + _grain(times)


def _grain(times: list[float]) -> float:
    """A share that falls within one request moves a bound by part of that request's time."""
    return len(SHARES) * max(times) / len(times)
