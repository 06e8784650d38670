"""Student's distribution is that of SciPy."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc, stdtrit

from plimsoll.statistics import student

FREEDOM = st.integers(1, 200)


@given(FREEDOM, st.floats(0.01, 0.9999))
def test_a_quantile_is_that_of_scipy(freedom: int, confidence: float) -> None:
    known = float(stdtrit(freedom, (1 + confidence) / 2))
    assert student.two_sided(freedom, confidence) == pytest.approx(known, rel=1e-9)


@given(FREEDOM, st.floats(0, 50))
def test_a_probability_is_that_of_scipy(freedom: int, value: float) -> None:
    # `stdtr` is wrong by 3e-11 close to zero (SciPy 1.17, one degree of freedom).
    known = float(betainc(1 / 2, freedom / 2, value**2 / (freedom + value**2)))
    assert student.probability(value, freedom) == pytest.approx(known, rel=1e-9, abs=1e-15)
