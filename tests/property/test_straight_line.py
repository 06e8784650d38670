"""Straight lines: what was planted is found, and intervals hold as often as they say."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.statistics import straight_line
from plimsoll.statistics.straight_line import StraightLine

Array = np.ndarray[Any, np.dtype[np.float64]]
Scatter = Callable[[np.random.Generator, Array, Array], Array]

LADDERS = 2000
LEAST = 0.945
RATES = (0.2, 0.4, 0.6, 0.8)
INTERCEPT, SLOPE = 0.03, 0.9


def fitted(places: Array, values: Array) -> StraightLine:
    found = straight_line.line(places.tolist(), values.tolist())
    assert found is not None
    return found


@given(
    st.lists(st.integers(1, 10**6), min_size=2, max_size=8, unique=True),
    st.integers(1, 4),
    st.floats(0.0, 10.0),
    st.floats(1e-7, 1e-2),
)
def test_a_line_without_scatter_is_found_as_it_is(
    rates: list[int], repetitions: int, intercept: float, slope: float
) -> None:
    places = np.array([rate for rate in rates for _ in range(repetitions)], np.float64)
    found = fitted(places, intercept + slope * places)
    size = intercept + slope * places.max()
    assert found.slope.value * places.max() == pytest.approx(slope * places.max(), abs=1e-6 * size)
    assert found.intercept.value == pytest.approx(intercept, abs=1e-6 * size)


@given(
    st.lists(
        st.tuples(st.sampled_from([100.0, 200.0, 300.0, 400.0]), st.floats(0.01, 8.0)),
        min_size=4,
        max_size=20,
    ),
    st.floats(1e-3, 1e3),
    st.floats(1e-3, 1e3),
)
def test_units_do_not_matter(
    points: list[tuple[float, float]], of_places: float, of_values: float
) -> None:
    places, values = (np.array(each) for each in zip(*points, strict=True))
    one = straight_line.line(places.tolist(), values.tolist())
    other = straight_line.line((places * of_places).tolist(), (values * of_values).tolist())
    assert (one is None) == (other is None)
    if one is None or other is None:
        return
    size = float(values.max()) * of_values
    assert other.intercept.value == pytest.approx(one.intercept.value * of_values, abs=1e-6 * size)
    assert other.height(400.0 * of_places) == pytest.approx(
        one.height(400.0) * of_values, abs=1e-6 * size
    )
    assert (one.slope.interval is None) == (other.slope.interval is None)


@given(st.integers(0, 2**32 - 1))
def test_parts_with_the_weights_of_their_sum_add_up_to_it(seed: int) -> None:
    luck = np.random.default_rng(seed)
    places = np.repeat(RATES, 2)
    user, system = luck.uniform(0.1, 1.0, 8), luck.uniform(0.1, 1.0, 8)
    total = (user + system).tolist()
    weighted = straight_line.weights(places.tolist(), total)
    whole = straight_line.line(places.tolist(), total, weighted)
    parts = [straight_line.line(places.tolist(), one.tolist(), weighted) for one in (user, system)]
    assert whole is not None and parts[0] is not None and parts[1] is not None
    assert parts[0].slope.value + parts[1].slope.value == pytest.approx(whole.slope.value)
    assert parts[0].intercept.value + parts[1].intercept.value == pytest.approx(
        whole.intercept.value
    )


@pytest.mark.parametrize("points", [[], [(1.0, 1.0)], [(1.0, 1.0), (1.0, 2.0)]])
def test_one_rate_is_no_line(points: list[tuple[float, float]]) -> None:
    assert straight_line.line([one for one, _ in points], [one for _, one in points]) is None


def test_two_points_have_a_line_without_intervals() -> None:
    found = straight_line.line([1.0, 2.0], [3.0, 5.0])
    assert found is not None
    assert (found.intercept.value, found.slope.value) == pytest.approx((1.0, 2.0))
    assert found.intercept.interval is None and found.slope.interval is None
    assert found.bend is None


def test_a_point_that_alone_decides_its_end_leaves_no_interval() -> None:
    found = straight_line.line([1.0, 1.0, 1.0, 2.0], [3.0, 3.1, 2.9, 5.0])
    assert found is not None and found.slope.interval is None


def of_itself(luck: np.random.Generator, _: Array, heights: Array) -> Array:
    return heights * 0.03 * luck.standard_normal(len(heights))


def of_the_slope(luck: np.random.Generator, places: Array, _: Array) -> Array:
    return SLOPE * places * 0.03 * luck.standard_normal(len(places))


def the_same_everywhere(luck: np.random.Generator, places: Array, _: Array) -> Array:
    return 0.01 * luck.standard_normal(len(places))


def with_long_tails(luck: np.random.Generator, places: Array, heights: Array) -> Array:
    return heights * 0.02 * luck.standard_t(4, len(places))


SCATTERS: tuple[Scatter, ...] = (of_itself, of_the_slope, the_same_everywhere, with_long_tails)


def coverage(scatter: Scatter, repetitions: int, seed: int = 1) -> tuple[float, float, float]:
    """Shares of ladders whose interval holds intercept and slope, and whose line bends."""
    luck = np.random.default_rng(seed)
    places = np.repeat(np.array(RATES), repetitions)
    heights = INTERCEPT + SLOPE * places
    held = np.zeros(3)
    for _ in range(LADDERS):
        found = fitted(places, heights + scatter(luck, places, heights))
        assert found.intercept.interval is not None and found.slope.interval is not None
        held += (
            found.intercept.interval.holds(INTERCEPT),
            found.slope.interval.holds(SLOPE),
            found.bend is not None,
        )
    intercept, slope, bent = (held / LADDERS).tolist()
    return intercept, slope, bent


def test_intervals_of_2_000_ladders_hold() -> None:
    intercept, slope, bent = coverage(of_itself, 2)
    assert min(intercept, slope) >= LEAST
    assert bent <= 1 - straight_line.BEND_CONFIDENCE + 3 * math.sqrt(0.01 / LADDERS)


@pytest.mark.thorough
@pytest.mark.parametrize(("scatter", "repetitions"), [*product(SCATTERS, (2, 3, 5))])
def test_intervals_hold_whatever_the_scatter_is_like(scatter: Scatter, repetitions: int) -> None:
    intercept, slope, bent = coverage(scatter, repetitions)
    assert min(intercept, slope) >= LEAST
    assert bent <= 1 - straight_line.BEND_CONFIDENCE + 3 * math.sqrt(0.01 / LADDERS)


@pytest.mark.parametrize(("bend", "sign"), [(-0.4, -1.0), (0.4, 1.0)])
def test_a_bend_is_found_with_its_sign(bend: float, sign: float) -> None:
    luck = np.random.default_rng(1)
    places = np.repeat(np.array(RATES), 3)
    heights = INTERCEPT + SLOPE * places + bend * places**2
    found = fitted(places, heights * (1 + 0.005 * luck.standard_normal(len(places))))
    assert found.bend is not None
    first, last = (SLOPE + 2 * bend * place for place in (RATES[0], RATES[-1]))
    assert math.copysign(1.0, found.bend) == sign
    assert found.bend == pytest.approx((last - first) / max(first, last), abs=0.15)
