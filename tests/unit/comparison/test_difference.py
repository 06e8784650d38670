"""The answer is always said of B, and says which witness it rests on."""

from __future__ import annotations

import pytest

from plimsoll.comparison.difference import Difference, difference
from plimsoll.statistics.paired import Plan
from turns import Pair, turns

WOBBLE = (0.998, 1.001, 1.002, 0.999, 1.0, 1.001, 0.999, 1.0)
NOISY = (0.93, 1.06, 0.97, 1.08, 0.99, 0.95, 1.05, 0.98)


def seen(
    rate: float = 1.0,
    cost: float | None = 1.0,
    delay: float | None = 0.0,
    scatter: tuple[float, ...] = WOBBLE,
    failures: int = 0,
) -> Difference:
    """A comparison of eight groups; what theft takes from throughput is seen as run delay."""
    pairs = [
        Pair(
            rate * one,
            None if cost is None else cost * quiet,
            delay if scatter is WOBBLE or delay is None else 1.2 / one - 1,
            failures,
            0.0 if scatter is WOBBLE else 0.2,
        )
        for one, quiet in zip(scatter, WOBBLE, strict=True)
    ]
    return difference(turns(pairs), Plan((8,), 8))


@pytest.mark.parametrize(
    ("rate", "cost", "answer"),
    [
        (1.0, 1.0, "same"),
        (1.01, 0.99, "same"),
        (1.05, 0.95, "faster"),
        (0.95, 1.05, "slower"),
        (1.05, None, "faster"),
        (1.0, None, "same"),
        (0.95, 1.0, "slower"),
    ],
)
def test_throughput_decides_where_it_can(rate: float, cost: float | None, answer: str) -> None:
    found = seen(rate, cost)
    assert (found.answer, found.witness) == (answer, "throughput")
    assert found.ratio is found.throughput


def test_cpu_per_request_decides_where_throughput_is_blurred() -> None:
    found = seen(0.96, 1.04, scatter=NOISY)
    assert (found.answer, found.witness) == ("slower", "cpu_per_request")
    assert found.ratio is found.cpu_per_request


def test_cpu_per_request_decides_where_throughput_is_the_same() -> None:
    assert seen(1.0, 1.05).answer == "slower"


def test_a_cost_that_throughput_contradicts_decides_nothing() -> None:
    assert seen(1.15, 1.08, scatter=(0.85, 1.15) * 4).answer == "undecided"


def test_the_same_cost_is_the_same_server_where_theft_explains_the_rest() -> None:
    found = seen(1.0, 1.0, scatter=NOISY)
    assert (found.answer, found.witness) == ("same", "cpu_per_request")


def test_the_same_cost_is_not_the_same_server_where_nothing_explains_the_rest() -> None:
    assert seen(1.0, 1.0, delay=None, scatter=NOISY).answer == "undecided"


def test_two_groups_decide_nothing_and_say_what_would() -> None:
    found = difference(turns([Pair(rate=2.0), Pair(rate=2.0)]), Plan((2,), 12))
    assert found.answer == "undecided"
    assert found.needed_groups() == 2


def test_what_would_decide_is_more_where_it_scatters_more() -> None:
    few = seen(1.0, None, scatter=NOISY)
    assert few.answer == "undecided"
    more = few.needed_groups()
    assert more is not None and more > 8
    assert seen(1.05).needed_groups() is None


def test_servers_that_fail_are_not_compared() -> None:
    found = seen(0.5, failures=200)
    assert found.answer == "undecided"
    assert found.failed.are_too_many
    assert found.needed_groups() is None


@pytest.mark.parametrize(
    ("rate", "cost", "source"),
    [
        (0.9, 1 / 0.9, "cpu_per_request"),
        (0.9, 1.0, "cpu_obtained"),
        (0.8, 1.1, "both"),
        (1.0, 1.0, None),
        (0.9, None, None),
    ],
)
def test_a_difference_has_its_factor(rate: float, cost: float | None, source: str | None) -> None:
    assert seen(rate, cost).source == source


def test_the_smallest_difference_does_not_depend_on_how_far_apart_they_are() -> None:
    same, apart = seen(1.0).smallest, seen(0.7).smallest
    assert same is not None
    assert apart == pytest.approx(same, rel=0.05)
    assert difference(turns([Pair()]), Plan((1,), 9)).smallest is None


def test_nothing_measured_is_undecided() -> None:
    found = difference((), Plan((), 12))
    assert (found.answer, found.throughput, found.groups) == ("undecided", None, 0)
