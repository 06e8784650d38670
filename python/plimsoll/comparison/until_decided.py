"""Until decided: groups of fresh processes are measured until the result is clear.

How many groups there will be is settled at the first look, from the time that groups take, which
shows nothing of what they measure. From then on the intervals allow for every look.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.comparison import doubts, group_rounds, regression_limit
from plimsoll.comparison.difference import (
    AT_FULL_SPEED,
    ERROR,
    WITHIN,
    Difference,
    Metric,
    difference,
)
from plimsoll.comparison.turn_pairs import A, B
from plimsoll.statistics import sequential
from plimsoll.statistics.paired import LEAST_GROUPS, Plan

if TYPE_CHECKING:
    from plimsoll.comparison.doubts import FoundDoubt, LoadDoubt
    from plimsoll.comparison.group_rounds import WithoutP99
    from plimsoll.comparison.turn_pairs import GroupTimes
    from plimsoll.recording.turns import Turn


@dataclass(frozen=True)
class Killed:
    """A server that did not stop in a group, and was killed.

    Attributes:
        entry: `turn_pairs.A` or `turn_pairs.B`.
        stop_signal: What it was sent: `SIGTERM`.
        after_s: After how long it was killed, in seconds.
    """

    entry: str
    stop_signal: str
    after_s: float


@dataclass(frozen=True)
class MeasuredGroup:
    """What one group of fresh processes did.

    Attributes:
        turns: The turns of both servers.
        times: Their response times; None where there were too few responses.
        doubts: What checks found in the loads of both.
        spare_s: Time that its turns took beyond the fewest that a group may have, in seconds.
        side_by_side: Their turns at the same time; empty where `turns` tell the cost of a request.
        killed: Which of them did not stop at its end.
    """

    turns: tuple[Turn, ...]
    times: GroupTimes | None = None
    doubts: tuple[FoundDoubt, ...] = ()
    spare_s: float = 0.0
    side_by_side: tuple[Turn, ...] = ()
    killed: tuple[Killed, ...] = ()


Measure = Callable[[int], MeasuredGroup]
"""Measures one group: starts A and B, warms them up, lets them take turns, and stops them."""

MOST_GROUPS = 60
"""More groups are not planned, however long the budget.

The plan shares the error among its looks, so a longer one widens the first intervals: at 12 groups
they reach 9 standard errors to either side with 360 groups planned, and 5 with 60. The first looks
then have less than one of the walks that bounds are found by (`sequential`).
"""

ENOUGH = 4
"""A difference is known well enough when its interval reaches a fourth of it to either side."""


@dataclass(frozen=True)
class StoppingRule:
    """When a comparison ends.

    Attributes:
        budget_s: Time for everything, starts and warm-ups included, in seconds.
        within: Half the width of an interval that is enough, and the tolerance of *same*.
        max_regression: The greatest loss that is allowed; None for no limit.
        deciding: What may decide.
    """

    budget_s: float
    within: float = WITHIN
    max_regression: float | None = None
    deciding: tuple[Metric, ...] = AT_FULL_SPEED


@dataclass(frozen=True)
class ComparedServers:
    """What is compared.

    Attributes:
        a: A as it was typed: a variant or a command; `go at main` for one at a revision.
        b: B in the same way.
        path: Path that is requested.
        connections: Open connections.
        rate_per_s: Requests per second that each server gets in its turns; None for full speed.
        commits: Commits of A and of B, of revisions; empty for what has none.
    """

    a: str
    b: str
    path: str
    connections: int
    rate_per_s: float | None = None
    commits: tuple[str, str] = ("", "")

    @property
    def titles(self) -> tuple[str, str]:
        """A and B with their commits: `go at main (1a2b3c4)`."""
        a, b = (
            f"{name} ({commit})" if commit else name
            for name, commit in zip((self.a, self.b), self.commits, strict=True)
        )
        return a, b


@dataclass(frozen=True)
class Compared:
    """A comparison as far as it came.

    Attributes:
        wanted: When it was to end.
        difference: How B stands to A.
        limit: Whether B loses more than allowed; None without a limit.
        elapsed_s: Time it took, in seconds.
        group_s: Time that a group takes, in seconds.
        turns: Every turn.
        side_by_side: Every turn of both at the same time.
        doubts: What checks found in the loads of both servers.
        shortest_s: Time that a group with the fewest turns takes, in seconds.
        planned_without_p99: Why p99 was not to be measured; None where it was.
        killed: Servers that did not stop, one for each start.
    """

    wanted: StoppingRule
    difference: Difference
    limit: regression_limit.State | None
    elapsed_s: float
    group_s: float
    turns: tuple[Turn, ...]
    side_by_side: tuple[Turn, ...] = ()
    doubts: tuple[LoadDoubt, ...] = ()
    shortest_s: float = 0.0
    planned_without_p99: WithoutP99 | None = None
    killed: tuple[Killed, ...] = ()

    @property
    def side_by_side_s(self) -> float:
        """For how long both servers worked at the same time, in seconds."""
        return sum(one.duration_ns for one in self.side_by_side if one.entry == A) / 1e9

    @property
    def has_most_groups(self) -> bool:
        """Whether it has as many groups as there may be, so that no budget gives it more."""
        return self.starts >= MOST_GROUPS

    @property
    def needs_too_many_groups(self) -> bool:
        """Whether a decision would take more groups than there may be, by the present scatter."""
        needed = self.difference.needed()
        return needed is not None and self.starts + needed[1] > MOST_GROUPS

    @property
    def more_s(self) -> float | None:
        """How many more seconds would decide, by the present scatter.

        None when unknown, and where it would take more groups than there may be.
        """
        needed = self.difference.needed()
        if needed is None or self.needs_too_many_groups:
            return None
        return needed[1] * self.group_s

    @property
    def starts(self) -> int:
        """How often both servers were started."""
        return len({turn.group for turn in self.turns})

    @property
    def short_budget(self) -> str:
        """Why its budget was too short for any decision, as a clause; empty where it was not."""
        needed_s = (LEAST_GROUPS - self.difference.groups) * self.shortest_s
        if self.wanted.budget_s - self.elapsed_s >= needed_s or not needed_s > 0:
            return ""
        needed = wording.seconds(self.elapsed_s + needed_s)
        return (
            f"a budget of {wording.seconds(self.wanted.budget_s)} is too short: a decision takes "
            f"{LEAST_GROUPS} groups, {needed} as measured"
        )

    @property
    def without_p99(self) -> WithoutP99 | None:
        """Why p99 was not measured; None where it was, and where it decides nothing."""
        if "p99" not in self.wanted.deciding or self.difference.p99 is not None:
            return None
        return self.planned_without_p99 or group_rounds.TOO_FEW

    @property
    def may_be_fault_of_b(self) -> bool:
        """Whether only B was void by its own fault, in fewer starts than tell that it always is."""
        void = [one.worst for one in self.doubts if one.is_void]
        return (
            bool(void and self.short_budget)
            and all(one.entry == B and one.is_by_server for one in void)
            and not self.difference.failed.are_too_many
            and not self.difference.is_silent
        )

    @property
    def smallest_loss(self) -> regression_limit.SmallestLoss | None:
        """The smallest loss for which a limit can be settled in the time it had, if known."""
        return regression_limit.smallest_loss(self.difference)

    @property
    def is_limit_too_small(self) -> bool:
        """Whether the machine's scatter hides a loss as small as the limit, in the time it had."""
        limit, smallest = self.wanted.max_regression, self.smallest_loss
        is_open = self.limit == "open" and self.difference.is_comparable
        return is_open and limit is not None and smallest is not None and smallest.loss > limit

    @property
    def limit_needs_s(self) -> float | None:
        """About how long a comparison would have to be for the limit.

        None without one, and where it would take more groups than there may be.
        """
        limit, smallest = self.wanted.max_regression, self.smallest_loss
        if not limit or smallest is None:
            return None
        times = max(1.0, smallest.times_as_long(limit))
        return self.elapsed_s * times if self.starts * times <= MOST_GROUPS else None


def compared(
    measure: Measure,
    wanted: StoppingRule,
    look: Callable[[Compared], None] = lambda _: None,
    clock_s: Callable[[], float] = time.monotonic,
    without_p99: WithoutP99 | None = None,
) -> Compared:
    """Measures groups until the result is clear or the budget is spent; one group at least.

    Args:
        measure: Measures one group; what it raises ends the comparison.
        wanted: When to end.
        look: Called after each group with how things stand.
        clock_s: Gives the time in seconds.
        without_p99: Why p99 is not to be measured; None where it is.
    """
    began_s = clock_s()
    turns: list[Turn] = []
    side_by_side: list[Turn] = []
    times: list[GroupTimes] = []
    found_doubts: list[tuple[FoundDoubt, ...]] = []
    killed: list[Killed] = []
    taken: list[int] = []
    looks: tuple[int, ...] = ()
    count = 0
    while True:
        before_s = clock_s()
        measured = measure(count)
        turns += measured.turns
        side_by_side += measured.side_by_side
        times += [measured.times] if measured.times else []
        found_doubts.append(measured.doubts)
        killed += measured.killed
        count += 1
        elapsed_s = clock_s() - began_s
        group_s = clock_s() - before_s
        shortest_s = group_s - measured.spare_s
        left = _left(wanted.budget_s - elapsed_s, count, group_s, shortest_s)
        if count == sequential.LEAST:
            looks = sequential.looks(min(MOST_GROUPS, count + max(0, left)))
        is_last = left < 1 or count >= (looks[-1] if looks else MOST_GROUPS)
        if count in looks or is_last or not looks:
            taken.append(count)
            plan = Plan(tuple(taken), max((count, *looks)), ERROR)
            counted = doubts.of_starts(found_doubts)
            void = doubts.void_entries(counted)
            found = difference(
                turns, plan, wanted.within, times, wanted.deciding, void, side_by_side
            )
            found = replace(found, void_by_itself=doubts.void_by_itself(found_doubts))
            now = Compared(
                wanted=wanted,
                difference=found,
                limit=_limit(found, wanted),
                elapsed_s=elapsed_s,
                group_s=elapsed_s / count,
                turns=tuple(turns),
                side_by_side=tuple(side_by_side),
                doubts=counted,
                shortest_s=shortest_s,
                planned_without_p99=without_p99,
                killed=tuple(killed),
            )
            look(now)
            if is_last or _is_settled(now, wanted):
                return now


def _left(left_s: float, count: int, group_s: float, shortest_s: float) -> int:
    """How many more groups fit into a time; none where they would not be enough to decide.

    Args:
        left_s: The time, in seconds.
        count: Groups there are.
        group_s: Time of the last group, in seconds.
        shortest_s: Time of one with the fewest turns, in seconds.
    """
    missing = LEAST_GROUPS - count
    if missing <= 0:
        return math.floor(left_s / group_s)
    return max(missing, math.floor(left_s / group_s)) if left_s >= missing * shortest_s else 0


def _limit(found: Difference, wanted: StoppingRule) -> regression_limit.State | None:
    if wanted.max_regression is None:
        return None
    return regression_limit.state(found, wanted.max_regression)


def _is_settled(now: Compared, wanted: StoppingRule) -> bool:
    """Whether more groups would change nothing of interest."""
    found = now.difference
    if not found.is_comparable:
        return found.failed.are_too_many or found.is_silent or found.groups >= LEAST_GROUPS
    if now.limit is not None:
        return now.limit != "open"
    ratio = now.difference.ratio
    if now.difference.answer in ("undecided", "same"):
        return now.difference.answer == "same"
    if ratio is None or ratio.reach is None:
        return False
    return ratio.reach <= max(math.log1p(wanted.within), abs(math.log(ratio.value)) / ENOUGH)
