"""Limits of latency as they are typed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign.quantities import UnreadableQuantity
from plimsoll.load_line import limits


@pytest.mark.parametrize(
    ("typed", "name", "allowed", "most_ns"),
    [
        ("p99=20ms", "p99", 0.01, 20e6),
        ("p999=50ms", "p99.9", 0.001, 50e6),
        ("p99.9 <= 50 ms", "p99.9", 0.001, 50e6),
        ("p50<500us", "p50", 0.5, 500e3),
        ("p99.5≤1s", "p99.5", 0.005, 1e9),
    ],
)
def test_a_limit_is_a_percentile_and_a_latency(
    typed: str, name: str, allowed: float, most_ns: float
) -> None:
    found = limits.read(typed)
    assert (found.name, found.allowed) == (name, allowed)
    assert found.most_ns == pytest.approx(most_ns)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("20ms", "not a limit of latency"),
        ("p99", "not a limit of latency"),
        ("p99=20", "has no unit of time"),
        ("p99=0ms", "is not above 0"),
        ("p5=20ms", "not a percentile from 10 to 99.99"),
        ("p99.999=20ms", "not a percentile from 10 to 99.99"),
        ("p99=20 parsecs", "unknown unit"),
        ("p99=1h", "`p99=1h` is too long"),
        ("p50=5001ms", "is too long"),
    ],
)
def test_anything_else_is_refused_with_an_example(typed: str, said: str) -> None:
    with pytest.raises(UnreadableQuantity) as error:
        limits.read(typed)
    assert said in error.value.message
    assert error.value.hint


@given(st.text(max_size=30))
def test_no_text_is_a_fault(typed: str) -> None:
    try:
        found = limits.read(typed)
    except UnreadableQuantity:
        return
    assert 0 < found.allowed < 1
    assert found.most_ns
