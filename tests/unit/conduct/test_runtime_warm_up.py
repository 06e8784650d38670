"""A runtime warms up in pulses, with rests in which it compiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.conduct.runtime_warm_up import PULSE_S, pulses_s


@given(length_s=st.floats(0.01, 300), trials=st.integers(1, 20))
def test_pulses_are_short_add_up_and_are_as_many_for_each_trial(
    length_s: float, trials: int
) -> None:
    found = pulses_s(length_s, trials)
    assert sum(found) == pytest.approx(length_s)
    assert max(found) <= PULSE_S * (1 + 1e-9)
    assert len(found) % trials == 0


def test_there_are_no_more_pulses_than_needed() -> None:
    assert pulses_s(9.5, 1) == pytest.approx([0.95] * 10)
    assert pulses_s(9.5, 3) == pytest.approx([9.5 / 12] * 12)
    assert pulses_s(0.4, 2) == pytest.approx([0.2] * 2)
