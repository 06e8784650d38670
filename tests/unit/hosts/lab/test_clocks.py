"""Clocks of two hosts by exchanges of readings, against clocks whose truth is known."""

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.hosts.lab.clocks import ClockExchange, related

SECOND = 1_000_000_000
WAYS = st.integers(min_value=0, max_value=20_000_000)
OFFSETS = st.integers(min_value=-(10**15), max_value=10**15)


def exchange(
    sent_ns: int, there_ns: int, back_ns: int, offset_ns: int, drift: float
) -> ClockExchange:
    """An exchange with a clock that is ahead by `offset_ns` at 0, and gains `drift` a second."""
    at_ns = sent_ns + there_ns
    return ClockExchange(sent_ns, at_ns + offset_ns + round(drift * at_ns), at_ns + back_ns)


@given(OFFSETS, st.lists(st.tuples(WAYS, WAYS), min_size=1, max_size=8))
def test_the_truth_lies_within_the_bound_whichever_way_was_slower(
    offset_ns: int, ways: list[tuple[int, int]]
) -> None:
    burst = [
        exchange(50_000_000 * number, there, back, offset_ns, 0.0)
        for number, (there, back) in enumerate(ways)
    ]
    found = related([burst])
    assert abs(found.offset_ns - offset_ns) <= found.bound_ns + 1
    assert found.round_trip_ns == min(there + back for there, back in ways)


@given(OFFSETS, st.floats(min_value=-1e-4, max_value=1e-4), WAYS, WAYS)
def test_drift_is_followed_between_bursts_before_and_after(
    offset_ns: int, drift: float, there_ns: int, back_ns: int
) -> None:
    bursts = [
        [exchange(at_s * SECOND, there_ns, back_ns, offset_ns, drift)] for at_s in (0, 10, 20)
    ]
    found = related(bursts)
    for at_s in (0, 5, 15, 20):
        lab_ns = at_s * SECOND
        truth_ns = lab_ns + offset_ns + round(drift * lab_ns)
        assert abs(found.host_ns(lab_ns) - truth_ns) <= found.bound_ns + 10_000
        assert abs(found.lab_ns(found.host_ns(lab_ns)) - lab_ns) <= 2


def test_a_clock_that_jumps_in_between_widens_the_bound() -> None:
    steady = [[exchange(at_s * SECOND, 1000, 1000, 0, 0.0)] for at_s in (0, 10, 20)]
    jumped = [steady[0], [exchange(10 * SECOND, 1000, 1000, 3_000_000, 0.0)], steady[2]]
    assert related(steady).bound_ns == 1000
    assert related(jumped).bound_ns == 3_000_000 + 1000


def test_bursts_too_close_together_say_nothing_of_drift() -> None:
    bursts = [[exchange(0, 0, 200_000, 0, 0.0)], [exchange(SECOND // 2, 200_000, 0, 0, 0.0)]]
    assert related(bursts).drift == 0.0
