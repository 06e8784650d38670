"""Groups of a comparison have as many rounds as a decision within the budget allows."""

from __future__ import annotations

import pytest

from plimsoll.comparison import group_rounds
from plimsoll.comparison.difference import AT_A_RATE, AT_FULL_SPEED, Metric
from plimsoll.comparison.group_rounds import (
    ALONE_ONLY,
    LEAST_ROUNDS,
    ROUND_S,
    WITH_SIDE_BY_SIDE,
    GroupRounds,
    Pace,
    rounds_of,
)


def test_a_budget_that_cannot_decide_is_named() -> None:
    fewest_s = LEAST_ROUNDS * ROUND_S + group_rounds.STARTS_S
    assert group_rounds.least_s(2.0, ALONE_ONLY) == fewest_s + 2.0
    assert group_rounds.least_s(0.0, WITH_SIDE_BY_SIDE) == fewest_s
    assert group_rounds.short_budget(6.0, 8.0).startswith("the budget is 6 s, and one group")
    assert "takes 3 groups of processes, about 24 s" in group_rounds.short_budget(10.0, 8.0)
    assert group_rounds.short_budget(24.0, 8.0) == ""


@pytest.mark.parametrize("rounds", [ALONE_ONLY, WITH_SIDE_BY_SIDE])
@pytest.mark.parametrize("budget_s", [30.0, 35.0, 45.0, 60.0, 120.0])
@pytest.mark.parametrize("beside_s", [3.0, 7.0])
def test_a_budget_of_the_documented_least_holds_the_groups_of_a_decision(
    rounds: GroupRounds, budget_s: float, beside_s: float
) -> None:
    pace = Pace(budget_s, group_rounds.STARTS_S + 2.0, rounds)
    took_s: list[float] = []
    for group in range(3):
        took_s.append(beside_s + pace.begin(group) * ROUND_S)
        pace.end(took_s[-1])
    assert sum(took_s) <= budget_s
    assert pace.rounds >= rounds.fewest
    assert pace.rounds == rounds.most or budget_s < 60.0
    assert pace.begin(3) == pace.rounds


def test_servers_work_side_by_side_in_what_is_left_of_a_group() -> None:
    rounds = WITH_SIDE_BY_SIDE
    assert rounds.has_side_by_side
    assert rounds.side_by_side_s(rounds.fewest) == ROUND_S
    assert rounds.side_by_side_s(rounds.most) == 4 * ROUND_S
    assert not ALONE_ONLY.has_side_by_side
    assert ALONE_ONLY.side_by_side_s(ALONE_ONLY.most) == 0.0


@pytest.mark.parametrize(
    ("deciding", "rate_per_s", "rounds"),
    [
        (AT_A_RATE, 334.0, GroupRounds(12, 12, 12)),
        (AT_A_RATE, 400.0, GroupRounds(11, 12, 12)),
        (AT_A_RATE, 900.0, GroupRounds(5, 12, 12)),
        (AT_A_RATE, 2000.0, ALONE_ONLY),
        (("p99",), 400.0, GroupRounds(11, 12, 12)),
        (("cpu_per_request",), 400.0, ALONE_ONLY),
        (AT_FULL_SPEED, None, WITH_SIDE_BY_SIDE),
        (("cpu_per_request",), None, WITH_SIDE_BY_SIDE),
        (("throughput",), None, ALONE_ONLY),
        (("p99",), None, ALONE_ONLY),
    ],
)
def test_a_group_has_the_rounds_of_what_decides(
    deciding: tuple[Metric, ...], rate_per_s: float | None, rounds: GroupRounds
) -> None:
    assert rounds_of(deciding, rate_per_s) == rounds
    if rate_per_s is not None and "p99" in deciding:
        assert rounds.fewest * group_rounds.TURN_S * rate_per_s > 1000
    pace = Pace(1.0, 8.0, rounds)
    assert pace.begin(0) == rounds.fewest
    assert pace.end(12.0) == 0.0


def test_a_p99_that_cannot_be_measured_is_named() -> None:
    rounds = rounds_of(AT_A_RATE, 400.0)
    short = group_rounds.without_p99(rounds, 30.0, 13.0)
    assert short is not None
    assert "p99 takes 3 groups of 1,000 responses, about 39 s" in short.clause
    assert short.remedy == "a longer `budget_s=`"
    assert group_rounds.without_p99(rounds, 40.0, 13.0) is None
    for needs_none in (ALONE_ONLY, WITH_SIDE_BY_SIDE):
        assert group_rounds.without_p99(needs_none, 30.0, 13.0) is None
    too_low = group_rounds.without_p99(rounds_of(AT_A_RATE, 333.0), 600.0, 13.0)
    assert too_low is not None
    assert too_low.clause.endswith("so 334 requests/s or more")
    assert too_low.remedy == "a higher `rate_per_s=`"
