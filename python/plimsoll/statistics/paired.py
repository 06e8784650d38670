"""Paired ratios: two servers that take turns, on a machine whose speed wanders.

Three levels, each with its own remedy:

- *Rounds.* Both servers have a turn in each round, half a second apart. What the machine does more
  slowly than that takes from both alike.
- *Groups.* Processes that run once keep a level of their own: memory layout, hash seeds, what the
  compiler chose. More rounds do not average that out; only fresh processes do. So the rounds of a
  group become one number, and groups are the independent units of the interval.
- *Looks.* The interval allows for looking after each group and stopping early (`sequential`).

The number of a group is the ratio of totals: all that B did / all that A did in its rounds. A
robust mean of the rounds (Hodges-Lehmann, trimmed) is narrower where turns have heavy tails, but it
is another question: a server that stalls in one turn of ten loses 5 % of its responses, and
the robust mean leaves these turns out. Its intervals then held the true ratio in 32 to 53 % of
simulated comparisons (decision 56).

Fewer than three groups say nothing of how groups scatter. The interval is then Student's of the
rounds: it holds for these processes only, and fresh ones may lie outside.

Source:
    T. Kalibera and R. Jones, *Rigorous Benchmarking in Reasonable Time*, ISMM 2013 (levels);
    A. Abedi and T. Brecht, *Conducting repeatable experiments in highly variable cloud computing
    environments*, ICPE 2017 (randomized interleaved trials); L. Bulej et al., *Duet benchmarking*,
    ICPE 2020. Coverage: `benches/comparison_coverage.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.statistics import sequential, student
from plimsoll.statistics.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

LEAST_GROUPS = sequential.LEAST
"""Groups from which on the interval holds for fresh processes."""

_LEAST_ROUNDS = 2

WIDEST = math.log(1000)
"""Half the width of the widest interval that is told, on logarithms: beyond it nothing is known."""

_FARTHEST = 300.0
"""No interval reaches farther, on logarithms, so that both its ends are numbers."""


@dataclass(frozen=True)
class PairedGroup:
    """What one group of fresh processes shows of a ratio.

    Attributes:
        total: Logarithm of the ratio of totals.
        rounds: Logarithms of the ratios of single rounds; empty where only all of them together
            have the quantity, as a 99th percentile does.
    """

    total: float
    rounds: tuple[float, ...]


@dataclass(frozen=True)
class Plan:
    """How a comparison looks at its numbers.

    Attributes:
        taken: Groups there were at each look so far, the present one last.
        planned: The most groups that there will be.
        error: Share of comparisons in which any interval may miss the truth.
    """

    taken: tuple[int, ...]
    planned: int
    error: float = 0.05


@dataclass(frozen=True)
class PairedRatio:
    """The ratio of two servers.

    Attributes:
        value: The ratio.
        interval: Its interval; None where nothing was repeated.
        groups: Groups that it rests on.
        scatter: Standard deviation of the logarithms of groups; None below `LEAST_GROUPS`.
        reach: Half the width of the interval on logarithms; None without one.
    """

    value: float
    interval: Interval | None
    groups: int
    scatter: float | None
    reach: float | None

    @property
    def told(self) -> Interval | None:
        """Its interval; None where it reaches beyond a factor of 1,000 to both sides."""
        return None if self.reach is None or self.reach > WIDEST else self.interval

    @property
    def holds_for_fresh_processes(self) -> bool:
        """Whether the interval is one of fresh processes, not of those that ran only."""
        return self.scatter is not None


def ratio(groups: Sequence[PairedGroup], plan: Plan) -> PairedRatio | None:
    """The ratio of two servers with its interval.

    Args:
        groups: The ratio of each group.
        plan: How the comparison looks at its numbers; its last look is at these groups.

    Returns:
        The ratio, a geometric mean over groups; None without a single group.
    """
    count = len(groups)
    if not count:
        return None
    totals = np.array([group.total for group in groups])
    middle = float(totals.mean())
    if count < LEAST_GROUPS:
        reach = _reach_of_rounds(groups, plan.error)
        return PairedRatio(math.exp(middle), _around(middle, reach), count, None, reach)
    scatter = float(totals.std(ddof=1))
    taken = tuple(one for one in plan.taken if LEAST_GROUPS <= one < count)
    errors = sequential.reach((*taken, count), max(plan.planned, count), plan.error)
    reach = min(errors * scatter / math.sqrt(count), _FARTHEST)
    return PairedRatio(math.exp(middle), _around(middle, reach), count, scatter, reach)


def _reach_of_rounds(groups: Sequence[PairedGroup], error: float) -> float | None:
    """Half the width of the interval of too few groups: rounds scatter about a level of each."""
    freedom = min(len(group.rounds) for group in groups) - 1
    if freedom < _LEAST_ROUNDS - 1:
        return None
    variances = [np.var(group.rounds, ddof=1) / len(group.rounds) for group in groups]
    spread = math.sqrt(float(sum(variances))) / len(groups)
    return min(student.two_sided(freedom, 1 - error) * spread, _FARTHEST)


def _around(middle: float, reach: float | None) -> Interval | None:
    return None if reach is None else Interval(math.exp(middle - reach), math.exp(middle + reach))
