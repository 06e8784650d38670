"""The answer is always said of B, and says which witness it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from plimsoll.comparison.difference import AT_A_RATE, METRICS, Difference, Metric, difference
from plimsoll.comparison.turn_pairs import B, GroupTimes
from plimsoll.recording.turns import Turn
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


@pytest.mark.parametrize(
    ("cost", "in_turns", "answer"),
    [
        (1.04, 1.02, "slower"),
        (1.04, 0.97, "undecided"),
        (0.96, 1.03, "undecided"),
        (1.0, 1.01, "same"),
        (1.0, 1.05, "undecided"),
    ],
)
def test_a_cost_side_by_side_decides_where_the_cost_in_turns_does_not_deny_it(
    cost: float, in_turns: float, answer: str
) -> None:
    alone = [
        Pair(one, in_turns * quiet, 1.2 / in_turns / one - 1, a_delay=0.2)
        for one, quiet in zip(NOISY, WOBBLE, strict=True)
    ]
    both = turns([Pair(0.5, cost * one) for one in WOBBLE])
    assert difference(turns(alone), Plan((8,), 8), side_by_side=both).answer == answer


def test_what_turns_are_too_blurred_to_deny_decides() -> None:
    alone = [Pair(one, 0.98 * one, 1.0) for one in NOISY]
    both = turns([Pair(0.5, 1.02 * one) for one in WOBBLE])
    assert difference(turns(alone), Plan((8,), 8), side_by_side=both).answer == "slower"


def test_servers_of_the_same_throughput_are_the_same_whatever_a_request_costs() -> None:
    found = seen(1.0, 1.5)
    assert (found.answer, found.witness) == ("same", "throughput")
    assert found.answer_of("cpu_per_request") == "slower"


def test_a_cost_that_the_same_throughput_allows_decides() -> None:
    wider = tuple(1 + 5 * (one - 1) for one in WOBBLE)
    found = seen(0.987, 1.019, scatter=wider)
    assert found.answer_of("throughput") == "same"
    assert (found.answer, found.witness) == ("slower", "cpu_per_request")


def test_a_cost_that_throughput_contradicts_promises_no_end() -> None:
    blurred = tuple(1 + 20 * (one - 1) for one in WOBBLE)
    found = seen(1.0, 1.5, delay=None, scatter=blurred)
    assert (found.answer, found.answer_of("cpu_per_request")) == ("undecided", "slower")
    needed = found.needed()
    assert needed is not None
    assert needed[0] == "throughput"


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
    assert found.needed() == ("throughput", 1)


def test_what_would_decide_is_more_where_it_scatters_more() -> None:
    few = seen(1.0, None, scatter=NOISY)
    assert few.answer == "undecided"
    more = few.needed()
    assert more is not None and more[1] > 8
    assert seen(1.05).needed() is None


def test_twice_the_width_takes_four_times_as_long() -> None:
    wide = (0.93, 1.06, 0.97, 1.08, 0.99, 0.95, 1.05, 0.98)
    double = tuple(one**2 for one in wide)
    needs = [seen(1.0, None, scatter=one).needed() for one in (wide, double)]
    groups = [len(wide) + need[1] for need in needs if need is not None]
    assert groups[1] / groups[0] == pytest.approx(4, rel=0.35)


def test_two_groups_that_scatter_by_far_more_than_the_tolerance_need_more_than_two_others() -> None:
    uneven = [
        replace(one, requests=round(one.requests * (1.3 if one.round % 4 < 2 else 0.75)))
        if one.entry == B
        else one
        for one in turns([Pair(cost=None), Pair(cost=None)])
    ]
    found = difference(uneven, Plan((2,), 12)).needed()
    assert found is not None
    assert found[1] > 10


def test_the_cost_of_a_request_shows_the_same_no_sooner_than_what_throughput_would_be() -> None:
    costs = seen(1.0, 1.0, delay=None, scatter=NOISY)
    assert costs.undisturbed is None
    assert costs.answer == "undecided"
    needed = costs.needed()
    assert needed is not None
    assert needed[0] == "throughput"


def test_the_rates_of_both_stand_to_each_other_as_the_paired_ratio() -> None:
    found = seen(1.07, scatter=NOISY)
    assert found.throughput is not None
    assert found.b_per_s / found.a_per_s == pytest.approx(found.throughput.value)
    times = [GroupTimes(group, 1e6 * (1 + group), 3e6) for group in range(4)]
    latency = difference(turns([Pair()] * 4), Plan((4,), 4), times=times)
    assert latency.p99 is not None
    assert latency.a_p99_ns is not None
    assert latency.b_p99_ns is not None
    assert latency.b_p99_ns / latency.a_p99_ns == pytest.approx(latency.p99.value)


def test_each_witness_has_the_difference_that_its_interval_can_show() -> None:
    found = seen(1.0, 1.0, delay=None, scatter=NOISY)
    assert found.throughput is not None
    interval = found.throughput.interval
    assert interval is not None
    half = (interval.high / interval.low) ** 0.5 - 1
    assert found.detectable["throughput"] == pytest.approx(half)
    assert found.smallest == found.detectable["cpu_per_request"] < half


def test_servers_that_fail_are_not_compared() -> None:
    found = seen(0.5, failures=200)
    assert found.answer == "undecided"
    assert found.failed.are_too_many
    assert found.needed() is None


def stalled(places: range, groups: range) -> Difference:
    """A comparison of eight groups; in some rounds B returns nothing, and few requests fail."""
    some = [
        replace(turn, requests=0, duration_ns=40 * turn.duration_ns, failures=4)
        if turn.entry == B and turn.round in places and turn.group in groups
        else turn
        for turn in turns([Pair(one, one) for one in WOBBLE])
    ]
    return difference(some, Plan((8,), 8))


def test_a_server_that_hangs_for_a_turn_is_slower() -> None:
    found = stalled(range(1, 2), range(8))
    assert not found.failed.are_too_many
    assert (found.answer, found.witness, found.rounds) == ("slower", "throughput", 64)
    assert found.throughput is not None
    assert found.throughput.value == pytest.approx(7.3 / 8.4 * 8 / 47, rel=0.01)


def test_a_server_that_hangs_for_a_whole_group_is_not_compared() -> None:
    found = stalled(range(8), range(1))
    assert not found.failed.are_too_many
    assert (found.answer, found.silent) == ("undecided", (B,))
    assert found.needed() is None


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


def beside(cost: float, scatter: Sequence[float] = WOBBLE) -> tuple[Turn, ...]:
    """Turns of both servers at the same time, in which each gets half of the cores."""
    return turns([Pair(0.5, cost * one, 1.0) for one in scatter])


def test_turns_side_by_side_tell_what_a_request_costs() -> None:
    alone = turns([Pair(one, 1 / one) for one in NOISY])
    blurred = difference(alone, Plan((8,), 8))
    assert blurred.answer == "undecided"
    found = difference(alone, Plan((8,), 8), side_by_side=beside(1.03))
    assert (found.answer, found.witness) == ("slower", "cpu_per_request")
    assert found.cpu_per_request is not None
    assert found.cpu_per_request.value == pytest.approx(1.03, rel=0.001)
    assert found.rounds == blurred.rounds
    assert (found.a_per_s, found.b_per_s) == (blurred.a_per_s, blurred.b_per_s)
    assert found.cpu_per_request_in_turns == blurred.cpu_per_request
    assert blurred.cpu_per_request_in_turns is None


def test_the_cost_side_by_side_has_most_of_the_error_and_throughput_the_rest() -> None:
    alone = turns([Pair(one, 1 / one) for one in NOISY])
    plain = difference(alone, Plan((8,), 8))
    found = difference(alone, Plan((8,), 8), side_by_side=alone)
    reaches = [
        (one.throughput.reach, one.cpu_per_request.reach)
        for one in (plain, found)
        if one.throughput and one.cpu_per_request
    ]
    (rate, cost), (wider, narrower) = reaches
    assert rate is not None
    assert cost is not None
    assert wider is not None
    assert narrower is not None
    assert wider > rate
    assert narrower < cost
    assert found.throughput is not None
    assert plain.throughput is not None
    assert found.throughput.value == plain.throughput.value
    named = difference(alone, Plan((8,), 8), deciding=("cpu_per_request",), side_by_side=alone)
    assert named.cpu_per_request is not None
    assert named.cpu_per_request.reach is not None
    assert named.cpu_per_request.reach < narrower


def test_the_same_cost_side_by_side_is_the_same_server_where_it_wants_as_much_time() -> None:
    alone = turns([Pair(one, 1 / one) for one in NOISY])
    found = difference(alone, Plan((8,), 8), side_by_side=beside(1.0))
    assert (found.answer, found.witness) == ("same", "cpu_per_request")
    assert found.undisturbed is not None
    assert found.undisturbed.value == pytest.approx(1.0, rel=0.005)


def test_a_server_that_waits_is_not_the_same_though_its_requests_cost_as_much() -> None:
    waiting = turns([Pair(0.9 * one, 1 / one) for one in NOISY])
    found = difference(waiting, Plan((8,), 8), side_by_side=beside(1.0))
    assert found.undisturbed is not None
    assert found.undisturbed.value == pytest.approx(0.9, rel=0.005)
    assert found.answer != "same"


def test_failures_side_by_side_count() -> None:
    alone = turns([Pair()] * 8)
    failing = turns([Pair(0.5, 1.0, 1.0, failures=100)] * 8)
    assert difference(alone, Plan((8,), 8)).is_comparable
    assert not difference(alone, Plan((8,), 8), side_by_side=failing).is_comparable


def test_nothing_measured_is_undecided() -> None:
    found = difference((), Plan((), 12))
    assert (found.answer, found.throughput, found.groups) == ("undecided", None, 0)


def at_a_rate(
    longer: float | None = 1.0,
    cost: float = 1.0,
    scatter: tuple[float, ...] = WOBBLE,
    deciding: tuple[Metric, ...] = AT_A_RATE,
) -> Difference:
    """Eight groups at one rate; B's p99 is so much longer, its requests cost so much more."""
    pairs = [Pair(1.0, cost * one) for one in WOBBLE]
    times = [
        GroupTimes(group, 1e6, 1e6 * longer * one)
        for group, one in enumerate(scatter)
        if longer is not None
    ]
    return difference(turns(pairs), Plan((8,), 8), 0.02, times, deciding)


@pytest.mark.parametrize(
    ("longer", "cost", "answer", "witness"),
    [
        (1.1, 1.0, "slower", "p99"),
        (0.9, 1.1, "faster", "p99"),
        (1.0, 1.05, "slower", "cpu_per_request"),
        (1.0, 0.95, "faster", "cpu_per_request"),
        (1.0, 1.0, "same", "p99"),
        (None, 1.05, "slower", "cpu_per_request"),
        (None, 1.0, "undecided", None),
    ],
)
def test_at_a_rate_latency_decides_and_then_what_a_request_costs(
    longer: float | None, cost: float, answer: str, witness: str | None
) -> None:
    found = at_a_rate(longer, cost)
    assert (found.answer, found.witness, found.source) == (answer, witness, None)


def test_the_same_cost_at_a_rate_is_not_the_same_latency() -> None:
    assert at_a_rate(1.0, 1.0, NOISY).answer == "undecided"
    assert at_a_rate(1.0, 1.04, NOISY).answer == "slower"


def test_each_quantity_has_its_own_answer() -> None:
    found = at_a_rate(1.1, 0.95)
    answers = {metric: found.answer_of(metric) for metric in METRICS}
    assert answers == {"throughput": "same", "cpu_per_request": "faster", "p99": "slower"}
    assert (found.a_p99_ns, found.b_p99_ns) == pytest.approx((1e6, 1.1e6), rel=0.01)


@pytest.mark.parametrize(
    ("metric", "answer"),
    [("throughput", "same"), ("cpu_per_request", "faster"), ("p99", "slower")],
)
def test_a_quantity_that_is_named_decides_alone_and_with_the_whole_error(
    metric: Metric, answer: str
) -> None:
    alone, shared = at_a_rate(1.1, 0.95, deciding=(metric,)), at_a_rate(1.1, 0.95)
    assert (alone.answer, alone.witness) == (answer, metric)
    one, other = alone.of(metric), shared.of(metric)
    assert one is not None and other is not None
    assert one.reach is not None and other.reach is not None
    assert one.reach < other.reach or other.reach == 0
