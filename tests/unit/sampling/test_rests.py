"""Readings at both ends of turns become those of a load that never rested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from plimsoll.recording.readings import Reading, ScopeName
from plimsoll.sampling.rests import KEPT_EVERY_NS, TurnReadings

S = 1_000_000_000
ZERO_NS = 500 * S

Values = Mapping[str, float]


def readings(values: Values, scope: ScopeName = "machine") -> list[Reading]:
    """Readings with an instant of their own, which no kept reading has."""
    return [Reading(7, scope, quantity, value) for quantity, value in values.items()]


def taken(
    turns: Sequence[tuple[Values, Values]], turn_ns: int = KEPT_EVERY_NS
) -> dict[str, list[tuple[int, float]]]:
    """What is kept of turns of one length, each given by its first and last values."""
    kept = TurnReadings()
    for index, (before, after) in enumerate(turns):
        at_ns = ZERO_NS + index * turn_ns
        kept.begin(readings(before), at_ns)
        kept.end(readings(after), at_ns + turn_ns, ends_stage=index == len(turns) - 1)
    found: dict[str, list[tuple[int, float]]] = {}
    for reading in kept.kept:
        found.setdefault(reading.quantity, []).append((reading.at_ns - ZERO_NS, reading.value))
    return found


@pytest.mark.parametrize(
    "quantity", ["cpu_user_s", "run_delay_s", "tcp_segments_in", "core0_busy_s", "core17_busy_s"]
)
def test_what_a_counter_grows_by_in_rests_is_taken_out(quantity: str) -> None:
    turns = [({quantity: 10}, {quantity: 10.5}), ({quantity: 90}, {quantity: 91})]
    assert taken(turns) == {quantity: [(0, 10), (S, 10.5), (2 * S, 11.5)]}


@pytest.mark.parametrize("quantity", ["pss_bytes", "threads", "frequency_hz", "connections_open"])
def test_a_gauge_stays_as_it_was_read(quantity: str) -> None:
    turns = [({quantity: 10}, {quantity: 13}), ({quantity: 90}, {quantity: 95})]
    assert taken(turns) == {quantity: [(0, 10), (S, 13), (2 * S, 95)]}


def test_cores_and_scopes_have_rests_of_their_own() -> None:
    def both(core0: float, core10: float, server: float) -> list[Reading]:
        machine = readings({"core0_busy_s": core0, "core10_busy_s": core10, "cpu_user_s": core10})
        return machine + readings({"cpu_user_s": server}, "server")

    kept, last_ns = TurnReadings(), ZERO_NS + 2 * S
    kept.begin(both(1, 1, 1), ZERO_NS)
    kept.end(both(2, 2, 2), ZERO_NS + S, ends_stage=False)
    kept.begin(both(3, 9, 2), ZERO_NS + S)
    kept.end(both(4, 10, 6), last_ns, ends_stage=True)
    assert {(r.scope, r.quantity): r.value for r in kept.kept if r.at_ns == last_ns} == {
        ("machine", "core0_busy_s"): 3,
        ("machine", "core10_busy_s"): 3,
        ("machine", "cpu_user_s"): 3,
        ("server", "cpu_user_s"): 6,
    }


def test_no_core_is_busier_than_the_turn_is_long() -> None:
    """On a busy host readings lie outside of their turn by a good part of its length."""
    busy, idle, both = "core0_busy_s", "core12_busy_s", "core_busy_s"
    turns = [
        ({busy: 10.0, idle: 5.0, both: 15.0}, {busy: 11.5, idle: 5.25, both: 16.75}),
        ({busy: 20.0, idle: 5.5, both: 25.5}, {busy: 20.5, idle: 8.0, both: 28.5}),
    ]
    found = taken(turns)
    assert found[busy] == [(0, 10.0), (S, 11.0), (2 * S, 11.5)]
    assert found[idle] == [(0, 5.0), (S, 5.25), (2 * S, 6.25)]
    assert found[both] == [(0, 15.0), (S, 16.75), (2 * S, 18.75)]


def test_a_load_without_rests_is_read_as_it_is() -> None:
    turns = [({"cpu_user_s": second}, {"cpu_user_s": second + 1}) for second in range(4)]
    assert taken(turns) == {"cpu_user_s": [(second * S, second) for second in range(5)]}


def test_readings_are_kept_about_once_a_second_with_the_first_and_the_last() -> None:
    turns = [({"cpu_user_s": turn}, {"cpu_user_s": turn + 0.5}) for turn in range(11)]
    kept = taken(turns, S // 4)["cpu_user_s"]
    assert kept == [(0, 0), (S, 2), (2 * S, 4), (11 * S // 4, 5.5)]


def test_turns_that_are_longer_than_a_second_are_kept_each() -> None:
    turns = [({"threads": turn}, {"threads": turn}) for turn in range(3)]
    assert [at_ns for at_ns, _ in taken(turns, 3 * S)["threads"]] == [0, 3 * S, 6 * S, 9 * S]


def test_a_counter_that_is_read_now_and_then_keeps_what_it_grew_by_meanwhile() -> None:
    """Its growth in rests is unknown, so nothing is taken out, and never a whole turn."""
    often, seldom = "cpu_user_s", "run_delay_s"
    turns = [
        ({often: 0, seldom: 0}, {often: 1, seldom: 1}),
        ({often: 5}, {often: 6}),
        ({often: 6, seldom: 9}, {often: 7, seldom: 10}),
    ]
    found = taken(turns)
    assert found[often] == [(0, 0), (S, 1), (2 * S, 2), (3 * S, 3)]
    assert found[seldom] == [(0, 0), (S, 1), (3 * S, 10)]


def test_what_is_first_seen_after_the_first_turn_is_kept_from_then_on() -> None:
    turns = [({}, {"cpu_user_s": 4}), ({"cpu_user_s": 6}, {"cpu_user_s": 7})]
    assert taken(turns) == {"cpu_user_s": [(S, 4), (2 * S, 5)]}


def test_a_single_turn_has_both_ends() -> None:
    assert taken([({"threads": 1}, {"threads": 2})], 5) == {"threads": [(0, 1), (5, 2)]}


def test_what_is_used_in_a_warm_up_is_in_no_figure_of_the_hold() -> None:
    """A warm-up of half a second on two cores, and a hold that ends before the next second."""
    kept = TurnReadings()
    kept.begin(readings({"cpu_user_s": 0.0}), ZERO_NS)
    kept.end(readings({"cpu_user_s": 1.0}), ZERO_NS + S // 2, ends_stage=True)
    kept.begin(readings({"cpu_user_s": 3.0}), ZERO_NS + S // 2)
    kept.end(readings({"cpu_user_s": 3.3}), ZERO_NS + S, ends_stage=True)
    assert [(one.at_ns - ZERO_NS, one.value) for one in kept.kept] == [
        (0, 0.0),
        (S // 2, 1.0),
        (S, pytest.approx(1.3)),
    ]
