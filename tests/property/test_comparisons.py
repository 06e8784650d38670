"""Tables of many entries: an interval holds its own estimate, however little they scatter."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import some
from plimsoll.statistics.comparison import compared


def alike(count: int, rate: float, step: float, scatter: float) -> list[list[tuple[int, float]]]:
    """Many entries, every fifth of which lacks the second block."""
    return [
        [
            (block, rate * step**place * (1 + scatter * ((place * 7 + block * 3) % 5 - 2)))
            for block in (1, 2, 3)
            if block != 2 or place % 5 != 3
        ]
        for place in range(count)
    ]


@some(8)
@given(
    st.integers(2, 64),
    st.floats(1.0, 1e6),
    st.sampled_from([1.0, 1.0001, 1.05]),
    st.sampled_from([0.0, 1e-15, 1e-12, 1e-3]),
)
def test_an_interval_holds_its_estimate(
    count: int, rate: float, step: float, scatter: float
) -> None:
    found = compared(alike(count, rate, step, scatter))
    for one, other in ((one, other) for one in range(count) for other in range(count)):
        ratio = found.ratio(one, other)
        assert ratio is not None
        if one != other:
            assert ratio.interval is not None
            assert ratio.interval.low <= ratio.value <= ratio.interval.high
    ranges = found.rank_ranges()
    assert all(range_ is not None and range_[0] <= range_[1] for range_ in ranges)


@pytest.mark.parametrize("count", [20, 45, 58, 80])
def test_rounding_widens_no_interval_of_entries_that_do_not_scatter(count: int) -> None:
    found = compared(alike(count, 1000.0, 1.0, 0.0))
    for other in range(1, count):
        ratio = found.ratio(0, other)
        assert ratio is not None
        assert ratio.interval is not None
        assert math.log(ratio.interval.high / ratio.interval.low) == pytest.approx(0.0, abs=1e-9)
    assert found.rank_ranges() == ((1, count),) * count
