"""What is true of a server, told without the engine."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.calibration import stalls, truth
from plimsoll.calibration.truth import Stall

MS = 1_000_000
STALL = Stall(duration_ns=1000 * MS, period_ns=5000 * MS)


def ns(*milliseconds: float) -> truth.Times:
    return np.array([round(one * MS) for one in milliseconds], np.int64)


def test_a_request_waits_for_what_is_left_of_the_stall_it_falls_into() -> None:
    arrivals = ns(0, 3999, 4000, 4250, 4999, 5000, 9000)
    assert list(STALL.waits(arrivals)) == list(ns(0, 0, 1000, 750, 1, 0, 1000))


def test_a_fifth_of_even_arrivals_waits_half_a_second_on_average() -> None:
    waits = STALL.waits(np.arange(0, 10_000) * MS)
    assert (waits > 0).mean() == pytest.approx(0.2)
    assert waits[waits > 0].mean() == pytest.approx(500.5 * MS)


def test_the_stall_of_the_issue_has_the_percentiles_that_are_known_of_it() -> None:
    expected = stalls.expected(STALL)
    assert expected["p50"] == 0
    assert expected["p90"] == pytest.approx(500 * MS)
    assert expected["p99"] == pytest.approx(950 * MS)
    assert expected["max"] == 1000 * MS


@pytest.mark.parametrize("stall", [stalls.USUAL, stalls.SHORT])
def test_formula_and_simulation_of_a_stall_agree(stall: Stall) -> None:
    waits = stall.waits(np.arange(0, stall.period_ns, MS // 10))
    for name, share in truth.QUANTILES.items():
        said = truth.quantile(waits, share)
        assert said == pytest.approx(stalls.expected(stall)[name], abs=MS)


def test_a_quantile_is_the_smallest_value_that_the_share_does_not_exceed() -> None:
    values = ns(5, 1, 3, 2, 4)
    shares = [0.0, 0.2, 0.21, 0.5, 0.8, 0.99, 1.0]
    assert [truth.quantile(values, share) // MS for share in shares] == [1, 1, 2, 3, 4, 5, 5]


def test_a_percentile_is_told_only_of_enough_requests() -> None:
    assert truth.determined(0) == []
    assert truth.determined(999) == ["p50", "p90", "p95", "max"]
    assert truth.determined(1000) == ["p50", "p90", "p95", "p99", "max"]
    assert truth.determined(10_000) == list(truth.QUANTILES)


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=30),
    st.lists(st.integers(-5, 50), min_size=1, max_size=30),
    st.sampled_from([0.0, 0.1, 0.5, 0.9, 0.99, 1.0]),
)
def test_the_quantile_of_sums_is_that_of_every_sum(
    first: list[int], second: list[int], share: float
) -> None:
    every = np.add.outer(np.array(first), np.array(second)).ravel()
    found = truth.quantile_of_sums(np.array(first), np.array(second), share)
    assert found == truth.quantile(every, share)
