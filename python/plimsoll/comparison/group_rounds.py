"""How many rounds a group of a comparison has, and whether a budget holds enough groups.

A round takes half a second: a turn of each server alone, or both side by side for as long. None of
this depends on what the servers do, only on the time that groups take.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics import quantiles
from plimsoll.statistics.paired import LEAST_GROUPS

if TYPE_CHECKING:
    from plimsoll.comparison.difference import Metric

TURN_S = 0.25
"""Length of a turn, in seconds, at a rate and of servers that respond slowly."""

ROUND_S = 2 * TURN_S
"""A turn of that length of each server, in seconds."""

ROUNDS = 12
"""Rounds in a group where each server works alone in all of them. More of them show the same
processes better, and leave time for fewer. Servers that respond fast have shorter ones in the same
time."""

LEAST_ROUNDS = 4
"""The fewest, of groups in a budget that would otherwise not hold as many as a decision needs."""

ALONE = 3
"""Rounds in which each works alone, of a group that has others."""

SIDE_BY_SIDE = 4
"""Further rounds of a group in which both servers work side by side. There CPU time per request is
known so well that what is left differs from one start to the next (decision 157)."""

P99_RESPONSES = quantiles.rows_needed(0.99)
"""Responses that a group needs for its 99th percentile."""

STARTS_S = 6.0
"""What starts, checks and stops of both servers take in a group, in seconds, until it is known."""

_SPARE = 0.9
"""Share of the time of a group that its rounds are planned for."""


@dataclass(frozen=True)
class GroupRounds:
    """How many rounds a group may have.

    Attributes:
        fewest: The fewest in which everything that may decide can be measured.
        most: As many as it has where the budget allows.
        alone: At most so many are turns of each server alone; both work side by side in the others.
    """

    fewest: int
    most: int
    alone: int

    @property
    def has_side_by_side(self) -> bool:
        """Whether both servers work side by side in some of them."""
        return self.most > self.alone

    def side_by_side_s(self, rounds: int) -> float:
        """For how long both servers work side by side in a group of so many rounds, in seconds."""
        return max(0, rounds - self.alone) * ROUND_S


ALONE_ONLY = GroupRounds(LEAST_ROUNDS, ROUNDS, ROUNDS)
"""Rounds of a group in which each server works alone."""

WITH_SIDE_BY_SIDE = GroupRounds(ALONE + 1, ALONE + SIDE_BY_SIDE, ALONE)
"""Rounds of a group in which both also work side by side."""


def rounds_of(deciding: Sequence[Metric], rate_per_s: float | None) -> GroupRounds:
    """How many rounds groups have.

    Servers are loaded side by side at full speed only: on the cores of one, the rate of both may be
    more than they can do.

    Args:
        deciding: What may decide.
        rate_per_s: Requests per second to the server under load; None for full speed.

    Returns:
        The fewest are more than the most where the rate is too low for the 99th percentile.
    """
    if rate_per_s is None:
        return WITH_SIDE_BY_SIDE if "cpu_per_request" in deciding else ALONE_ONLY
    if "p99" not in deciding:
        return ALONE_ONLY
    # Not rounded up: where it comes out even, one failed request would leave too few.
    fewest = math.floor(P99_RESPONSES / (rate_per_s * TURN_S)) + 1
    return GroupRounds(max(LEAST_ROUNDS, fewest), ROUNDS, ROUNDS)


def least_s(warm_ups_s: float, rounds: GroupRounds) -> float:
    """About the time of the shortest group of processes, with starts and stops, in seconds.

    Args:
        warm_ups_s: Turns of both servers before the first that counts, in seconds.
        rounds: How many rounds it may have.
    """
    return STARTS_S + warm_ups_s + rounds.fewest * ROUND_S


@dataclass(frozen=True)
class WithoutP99:
    """Why the 99th percentile is not measured.

    Attributes:
        clause: The reason, as a clause.
        remedy: What to give for it; empty where nothing helps.
    """

    clause: str
    remedy: str = ""


TOO_FEW = WithoutP99(
    f"p99 takes {wording.count(P99_RESPONSES)} responses of each server in a group, and fewer came"
)
"""What is known after a group that could have had enough of them."""


def without_p99(rounds: GroupRounds, budget_s: float, group_s: float) -> WithoutP99 | None:
    """Why the 99th percentile will not be measured; None where it may be, or decides nothing.

    Args:
        rounds: How many rounds a group may have.
        budget_s: The budget, in seconds.
        group_s: About the time of a group with the fewest of them, in seconds.
    """
    if rounds.has_side_by_side or rounds.fewest <= LEAST_ROUNDS:
        return None
    responses = wording.count(P99_RESPONSES)
    if rounds.fewest > rounds.most:
        least = wording.count(math.ceil(P99_RESPONSES / (ROUNDS * TURN_S)))
        return WithoutP99(
            f"p99 takes {responses} responses in each group, so {least} requests/s or more",
            "a higher `rate_per_s=`",
        )
    if budget_s < LEAST_GROUPS * group_s:
        return WithoutP99(
            f"the budget is {wording.seconds(budget_s)}, and p99 takes {LEAST_GROUPS} groups of "
            f"{responses} responses, about {wording.seconds(LEAST_GROUPS * group_s)}",
            "a longer `budget_s=`",
        )
    return None


def short_budget(budget_s: float, group_s: float) -> str:
    """Why a budget is too short for a decision; empty where it may be enough.

    Args:
        budget_s: The budget, in seconds.
        group_s: About the time of the shortest group of processes, in seconds.
    """
    given = f"the budget is {wording.seconds(budget_s)}"
    if budget_s < group_s:
        return (
            f"{given}, and one group of processes, which is always measured, takes about "
            f"{wording.seconds(group_s)}"
        )
    if budget_s < LEAST_GROUPS * group_s:
        least = wording.seconds(LEAST_GROUPS * group_s)
        return f"{given}, and a decision takes {LEAST_GROUPS} groups of processes, about {least}"
    return ""


@dataclass
class Pace:
    """How many rounds the next group has: fewer where a decision would not fit into the budget.

    It depends on the time that groups take, which shows nothing of what they measure.

    Attributes:
        left_s: What is left of the budget, in seconds.
        beside_s: Time of a group beside its rounds, in seconds: that of the last one.
        of_group: How many rounds a group may have.
        rounds: Rounds of the last group.
    """

    left_s: float
    beside_s: float
    of_group: GroupRounds = ALONE_ONLY
    rounds: int = 0

    def begin(self, group: int) -> int:
        """The rounds of a group; from the third one on those of the one before it."""
        if group < LEAST_GROUPS:
            turns_s = _SPARE * self.left_s / (LEAST_GROUPS - group) - self.beside_s
            fitting = max(self.of_group.fewest, math.floor(turns_s / ROUND_S))
            self.rounds = min(self.of_group.most, fitting)
        return self.rounds

    def end(self, took_s: float) -> float:
        """Counts a group in.

        Args:
            took_s: The time it took, in seconds.

        Returns:
            What the fewest rounds would have saved of it, in seconds.
        """
        self.left_s -= took_s
        self.beside_s = took_s - self.rounds * ROUND_S
        return (self.rounds - self.of_group.fewest) * ROUND_S
