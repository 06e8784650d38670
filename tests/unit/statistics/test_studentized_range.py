"""Tests of the studentized range: `scipy.stats` has the same distribution."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import studentized_range, t

from plimsoll.statistics.studentized_range import FREEDOMS, quantile, quantiles

KNOWN = [place for place in FREEDOMS if 1 <= place <= 1e3]


@pytest.mark.parametrize("freedom", KNOWN)
@pytest.mark.parametrize("entries", [2, 6, 20])
def test_as_many_cases_are_below_a_quantile_as_scipy_has_there(
    entries: int, freedom: float
) -> None:
    for confidence in (0.95, 0.99, 0.999):
        found = quantile(entries, freedom, confidence)
        share = studentized_range.cdf(found, entries, freedom)
        assert share == pytest.approx(confidence, abs=2e-7)


@pytest.mark.parametrize("freedom", FREEDOMS)
@pytest.mark.parametrize("confidence", [0.95, 0.99, 0.999])
def test_the_range_of_two_entries_is_their_difference(freedom: float, confidence: float) -> None:
    difference = t.ppf((1 + confidence) / 2, freedom) * np.sqrt(2)
    assert quantile(2, freedom, confidence) == pytest.approx(difference, rel=2e-6)


def test_more_entries_and_fewer_degrees_of_freedom_are_farther_apart() -> None:
    for entries in (2, 5, 30):
        found = quantiles(entries, np.array([0.5, 0.9, 2.5, 10, 500, 1e6]), 0.95)
        assert all(more > fewer for more, fewer in pairwise(found))
    assert quantile(3, 4, 0.95) < quantile(4, 4, 0.95) < quantile(40, 4, 0.95)


def test_no_quantiles_are_none() -> None:
    assert quantiles(3, np.array([]), 0.95).size == 0
