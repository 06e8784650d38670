"""The idle host, measured where it can be."""

from __future__ import annotations

from itertools import count

from plimsoll.sampling import idle


def test_an_idle_host_is_read_once_a_second_and_once_more_at_the_end() -> None:
    joules, clock, slept = count(100), count(0, 10**9), list[float]()
    found = idle.readings(
        3.0, lambda: {"energy_j": float(next(joules))}, lambda: next(clock), slept.append
    )
    assert [reading.at_ns for reading in found] == [0, 10**9, 2 * 10**9, 3 * 10**9]
    assert {(reading.scope, reading.quantity) for reading in found} == {
        ("machine", "idle_energy_j")
    }
    assert [reading.value for reading in found] == [101.0, 102.0, 103.0, 104.0]
    assert slept == [1.0, 1.0, 1.0]


def test_a_host_that_shows_no_energy_is_not_waited_for() -> None:
    slept = list[float]()
    assert idle.readings(30.0, dict[str, float], lambda: 0, slept.append) == []
    assert slept == []


def test_nothing_is_read_where_nothing_is_asked() -> None:
    assert idle.readings(0.0, lambda: {"energy_j": 1.0}) == []
