"""A comparison ends when it is decided or when its budget is spent, and not later."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from plimsoll.comparison.difference import AT_A_RATE
from plimsoll.comparison.doubts import FoundDoubt
from plimsoll.comparison.turn_pairs import A, B, GroupTimes
from plimsoll.comparison.until_decided import (
    MOST_GROUPS,
    Compared,
    MeasuredGroup,
    StoppingRule,
    compared,
)
from plimsoll.recording.turns import Turn
from turns import Pair, turns

GROUP_S = 10.0
SCATTER = (0.99, 1.004, 1.0, 1.008, 0.996, 0.993, 1.01, 1.0, 0.997, 1.003)


class Servers:
    """Two simulated servers, and the clock that their groups move on."""

    def __init__(self, pair: Pair, scatter: float = 1.0) -> None:
        self.now_s = 0.0
        self.pair = pair
        self.scatter = scatter
        self.longer = 1.0
        self.doubts: list[tuple[FoundDoubt, ...]] = [()]

    def measure(self, group: int) -> MeasuredGroup:
        self.now_s += GROUP_S
        wobble = 1 + self.scatter * (SCATTER[group % len(SCATTER)] - 1)
        own = Pair(self.pair.rate * wobble, None, self.pair.delay, self.pair.failures)
        taken = tuple(Turn(**{**vars(turn), "group": group}) for turn in turns([own]))
        times = GroupTimes(group, 1e6, 1e6 * self.longer * wobble)
        return MeasuredGroup(taken, times, self.doubts[group % len(self.doubts)])

    def compared(self, wanted: StoppingRule) -> tuple[Compared, list[Compared]]:
        seen: list[Compared] = []
        return compared(self.measure, wanted, seen.append, lambda: self.now_s), seen


def test_a_great_difference_ends_it_early() -> None:
    end, seen = Servers(Pair(rate=1.5)).compared(StoppingRule(300))
    assert end.difference.answer == "faster"
    assert end.elapsed_s < 100
    assert seen[-1] is end


def test_servers_that_are_the_same_end_it_once_that_is_known() -> None:
    end, _ = Servers(Pair(), scatter=0.5).compared(StoppingRule(300))
    assert end.difference.answer == "same"
    assert end.elapsed_s < 300


def test_the_budget_ends_it() -> None:
    end, _ = Servers(Pair(), scatter=6).compared(StoppingRule(95))
    assert end.difference.answer == "undecided"
    assert end.elapsed_s == 90
    assert end.more_s is not None and end.more_s > 0


def test_no_budget_is_promised_beyond_the_most_groups() -> None:
    end, _ = Servers(Pair(), scatter=20).compared(StoppingRule(3600, max_regression=0.02))
    assert end.elapsed_s == MOST_GROUPS * GROUP_S
    assert end.has_most_groups
    assert end.difference.answer == "undecided"
    assert end.is_limit_too_small
    assert (end.more_s, end.limit_needs_s) == (None, None)


def test_a_budget_is_promised_up_to_the_most_groups() -> None:
    near, _ = Servers(Pair(), scatter=6).compared(StoppingRule(95))
    far, _ = Servers(Pair(), scatter=10).compared(StoppingRule(95))
    assert near.more_s is not None
    assert near.elapsed_s + near.more_s <= MOST_GROUPS * GROUP_S
    assert not near.needs_too_many_groups
    needed = far.difference.needed()
    assert needed is not None and needed[1] > MOST_GROUPS
    assert far.needs_too_many_groups
    assert far.more_s is None


def test_one_group_is_measured_whatever_the_budget() -> None:
    end, _ = Servers(Pair(rate=3.0)).compared(StoppingRule(1))
    assert end.difference.groups == 1
    assert end.difference.answer == "undecided"
    assert end.more_s == pytest.approx(20)


def test_it_ends_where_its_budget_holds_no_decision() -> None:
    end, seen = Servers(Pair(rate=3.0)).compared(StoppingRule(25))
    assert len(seen) == 1
    assert "a budget of 25 s is too short" in end.short_budget
    assert "3 groups, 30 s as measured" in end.short_budget
    enough, _ = Servers(Pair(rate=3.0)).compared(StoppingRule(30))
    assert (enough.difference.answer, enough.short_budget) == ("faster", "")


def test_it_goes_on_where_shorter_groups_are_enough_to_decide() -> None:
    servers = Servers(Pair(rate=3.0))

    def measure(group: int) -> MeasuredGroup:
        measured = servers.measure(group)
        servers.now_s -= 3.0 if group else 0.0
        return replace(measured, spare_s=0.0 if group else 3.0)

    end = compared(measure, StoppingRule(25), clock_s=lambda: servers.now_s)
    assert (end.difference.answer, end.elapsed_s) == ("faster", 24.0)


def test_a_small_difference_is_known_to_the_width_that_was_asked_for() -> None:
    wide, _ = Servers(Pair(rate=1.06)).compared(StoppingRule(600, within=0.02))
    narrow, _ = Servers(Pair(rate=1.06)).compared(StoppingRule(600, within=0.004))
    assert narrow.elapsed_s > wide.elapsed_s
    assert wide.difference.answer == narrow.difference.answer == "faster"


def test_at_a_rate_a_longer_latency_ends_it_early() -> None:
    servers = Servers(Pair())
    servers.longer = 1.4
    end, _ = servers.compared(StoppingRule(600, deciding=AT_A_RATE))
    assert (end.difference.answer, end.difference.witness) == ("slower", "p99")
    assert end.elapsed_s < 100


def test_a_limit_ends_it_as_soon_as_it_is_settled() -> None:
    end, _ = Servers(Pair(rate=0.8)).compared(StoppingRule(600, max_regression=0.03))
    assert end.limit == "crossed"
    assert end.elapsed_s < 100


def test_servers_that_fail_end_it_at_once() -> None:
    end, _ = Servers(Pair(failures=500)).compared(StoppingRule(600))
    assert end.elapsed_s == GROUP_S
    assert end.difference.failed.are_too_many


def test_a_server_that_returns_nothing_in_a_whole_group_ends_it() -> None:
    servers = Servers(Pair())

    def measure(group: int) -> MeasuredGroup:
        measured = servers.measure(group)
        if group != 1:
            return measured
        hung = (replace(one, requests=0) if one.entry == B else one for one in measured.turns)
        return replace(measured, turns=tuple(hung))

    end = compared(measure, StoppingRule(600), clock_s=lambda: servers.now_s)
    assert end.difference.silent == (B,)
    assert end.elapsed_s == 2 * GROUP_S


def test_a_server_that_returns_nothing_side_by_side_ends_it() -> None:
    servers = Servers(Pair())

    def measure(group: int) -> MeasuredGroup:
        measured = servers.measure(group)
        hung = (
            replace(one, requests=0, failures=4) if one.entry == B else one
            for one in measured.turns
        )
        return replace(measured, side_by_side=tuple(hung))

    wanted = StoppingRule(600, max_regression=0.2)
    end = compared(measure, wanted, clock_s=lambda: servers.now_s)
    assert (end.difference.silent, end.difference.silent_side_by_side) == ((), (B,))
    assert (end.limit, end.difference.answer, end.elapsed_s) == ("crossed", "undecided", GROUP_S)


def wrong(
    entry: str,
    level: Literal["doubtful", "void"],
    *,
    counts_once: bool = False,
    is_by_server: bool = False,
) -> FoundDoubt:
    said = "something is wrong"
    return FoundDoubt(entry, "a_check", "Wrong", level, said, "", counts_once, is_by_server)


BY_B, BY_A = wrong(B, "void", is_by_server=True), wrong(A, "void", is_by_server=True)


@pytest.mark.parametrize(
    ("starts", "limit"),
    [
        ([(BY_B,)], "crossed"),
        ([(BY_B,), (BY_B, wrong(A, "doubtful"))], "crossed"),
        ([(wrong(B, "void"),)], "open"),
        ([(BY_B,), (BY_B, wrong(B, "void"))], "open"),
        ([(BY_B,), (BY_B,), ()], "open"),
        ([(BY_B,), (BY_B,), (BY_B, BY_A)], "open"),
        ([(BY_A,)], "open"),
    ],
)
def test_loads_that_b_alone_voids_in_every_start_cross_a_limit(
    starts: list[tuple[FoundDoubt, ...]], limit: str
) -> None:
    servers = Servers(Pair(rate=0.5))
    servers.doubts = starts
    end, _ = servers.compared(StoppingRule(600, max_regression=0.03))
    assert (end.difference.answer, end.difference.groups, end.limit) == ("undecided", 3, limit)


def test_fewer_starts_than_a_decision_takes_do_not_tell_that_b_is_always_void() -> None:
    servers = Servers(Pair(rate=0.5))
    servers.doubts = [(BY_B,)]
    end, _ = servers.compared(StoppingRule(1, max_regression=0.03))
    assert (end.limit, end.may_be_fault_of_b) == ("open", True)


@pytest.mark.parametrize("limit", [None, 0.03])
def test_no_speed_is_told_of_a_server_whose_loads_are_void(limit: float | None) -> None:
    servers = Servers(Pair(rate=0.5))
    servers.doubts = [(wrong(B, "void", counts_once=False),)]
    end, _ = servers.compared(StoppingRule(600, max_regression=limit))
    assert (end.difference.answer, end.difference.void) == ("undecided", (B,))
    assert end.difference.answer_of("throughput") == "undecided"
    assert end.limit == (None if limit is None else "open")
    assert not end.is_limit_too_small
    assert end.difference.groups == 3
    assert end.more_s is None


def test_a_doubt_changes_no_answer() -> None:
    servers = Servers(Pair(rate=0.5))
    servers.doubts = [(wrong(B, "doubtful", counts_once=False),)]
    end, _ = servers.compared(StoppingRule(600))
    assert end.difference.answer == "slower"
    assert [(one.worst.entry, one.is_void) for one in end.doubts] == [(B, False)]


@pytest.mark.parametrize("counts_once", [True, False])
def test_what_one_start_of_three_shows_counts_if_it_is_about_responses(counts_once: bool) -> None:
    servers = Servers(Pair(rate=0.5))
    servers.doubts = [(), (wrong(A, "void", counts_once=counts_once),), ()]
    end, _ = servers.compared(StoppingRule(30))
    assert end.difference.answer == ("undecided" if counts_once else "slower")
    assert [one.starts for one in end.doubts] == ([1] if counts_once else [])


def test_a_check_that_voids_few_starts_and_doubts_most_is_a_doubt() -> None:
    servers = Servers(Pair(rate=0.5))
    doubtful = wrong(A, "doubtful", counts_once=False)
    servers.doubts = [(wrong(A, "void", counts_once=False),), (doubtful,), (doubtful,)]
    end, _ = servers.compared(StoppingRule(30))
    assert [(one.worst.level, one.starts) for one in end.doubts] == [("doubtful", 3)]


def test_every_turn_is_kept() -> None:
    end, _ = Servers(Pair(), scatter=20).compared(StoppingRule(45))
    assert {turn.group for turn in end.turns} == set(range(4))
