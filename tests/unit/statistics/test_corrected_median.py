"""The bound of the median that wrk prints, against its correction of simulated times."""

from __future__ import annotations

import random

import pytest

from plimsoll.statistics import laws

EXPECTED_US = 100
COUNT = 2_000


def corrected(times_us: list[int]) -> list[int]:
    """The rows of which wrk takes percentiles."""
    rows = list(times_us)
    for time_us in times_us:
        rows += [row for row in range(time_us - EXPECTED_US, EXPECTED_US, -EXPECTED_US)]
    return sorted(rows)


def median_us(times_us: list[int]) -> int:
    rows = corrected(times_us)
    return rows[(len(rows) + 1) // 2 - 1]


def bound_us(longest_us: int) -> float:
    rate_per_s = 1e6 / EXPECTED_US
    return 1e6 * laws.most_corrected_median_s(1, rate_per_s, longest_us / 1e6)


def stalls(longest_us: int) -> list[int]:
    """As many stalls of one length as the time of all requests allows; all others take nothing."""
    long = COUNT * EXPECTED_US // longest_us
    return [longest_us] * long + [1] * (COUNT - long)


@pytest.mark.parametrize("longest_us", [150, 200, 250, 400, 1_000, 20_000])
def test_stalls_do_not_raise_the_median_beyond_the_bound(longest_us: int) -> None:
    assert median_us(stalls(longest_us)) <= bound_us(longest_us)


def test_the_bound_is_nearly_reached() -> None:
    nearly = 2 * EXPECTED_US - 2
    assert median_us(stalls(nearly)) == nearly


@pytest.mark.parametrize("seed", range(20))
def test_no_times_that_fit_the_run_exceed_the_bound(seed: int) -> None:
    chance = random.Random(seed)
    weights = [chance.paretovariate(chance.choice([0.6, 1.0, 3.0])) for _ in range(COUNT)]
    scale = COUNT * EXPECTED_US / sum(weights)
    times_us = [int(weight * scale) for weight in weights]
    assert median_us(times_us) <= bound_us(max(times_us))


def test_requests_timed_together_exceed_it() -> None:
    together = [8 * EXPECTED_US] * (COUNT // 8)
    assert median_us(together) > bound_us(8 * EXPECTED_US)
