"""Student's distribution is that of SciPy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import stdtr, stdtrit

from plimsoll.statistics import student

FREEDOM = st.integers(1, 200)


@given(FREEDOM, st.floats(0.01, 0.9999))
def test_a_quantile_is_that_of_scipy(freedom: int, confidence: float) -> None:
    known = float(stdtrit(freedom, (1 + confidence) / 2))
    assert student.two_sided(freedom, confidence) == pytest.approx(known, rel=1e-9)


@given(FREEDOM, st.floats(0, 50))
def test_a_probability_is_that_of_scipy(freedom: int, value: float) -> None:
    known = 1 - 2 * float(stdtr(freedom, -value))
    assert student.probability(value, freedom) == pytest.approx(known, abs=1e-12)
