"""Regression limit: whether B loses more than is allowed, `--max-regression 3%`.

At full speed a loss is 1 - B / A of throughput. Where its interval leaves the limit open, CPU time
per request may tell: it lets expect a loss of 1 - 1 / (B / A) of a saturated server. A throughput
that was measured goes first: the rate of a server that waits for another program, or that has too
few connections, does not depend on what a request costs.

Where servers worked side by side, their cost settles a limit only if their cost in turns lies on
the same side of the limit, as estimated. Side by side each has only a part of the cores. So work
of a fixed amount (a metrics thread, a timer) weighs twice as much per request.

At a fixed rate, or of a quantity that the user named, a loss is what the quantity itself grew by,
B / A - 1; of throughput what it fell by. The limit is *crossed* where a whole interval lies beyond
it, *kept* where none reaches it, and *open* otherwise. So each error has the probability of the
interval, and a loss that is about as great as the limit stays open for ever: set the limit to half
of the loss that must not get through. At a rate which only A carries, B loses throughput, and that
crosses a limit as well.

Where speeds cannot be compared, the limit is open, unless that is the fault of B alone: its
requests fail, it returns nothing, or its loads are void by what it does, and nothing of the kind is
so of A. Then every limit is crossed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll.comparison.difference import AT_A_RATE, AT_FULL_SPEED, MOST_FAILED, explains
from plimsoll.comparison.turn_pairs import A, B

if TYPE_CHECKING:
    from plimsoll.comparison.difference import Difference, Metric
    from plimsoll.statistics.paired import PairedRatio

State = Literal["kept", "crossed", "open"]

Fault = Literal["failing", "silent", "void"]

MOST_OF_A = 0.1
"""Where requests of A fail, B fails by its own fault if its share is at least ten times as much."""


@dataclass(frozen=True)
class SmallestLoss:
    """The smallest loss for which a limit can be settled after so many groups, A against A.

    Attributes:
        metric: The quantity that would lose it.
        reach: Half the width of its interval, on logarithms.
        grows: Whether a loss is what it grows by, as at a fixed rate.
    """

    metric: Metric
    reach: float
    grows: bool

    @property
    def loss(self) -> float:
        """As a share of what A has: 0.021."""
        return math.expm1(self.reach) if self.grows else -math.expm1(-self.reach)

    def times_as_long(self, limit: float) -> float:
        """How many times the groups a limit takes: the width falls with the root of the number."""
        reach = math.log1p(limit) if self.grows else -math.log1p(-limit)
        return (self.reach / reach) ** 2


def smallest_loss(found: Difference) -> SmallestLoss | None:
    """The smallest loss for which a limit can be settled: to keep it takes every quantity.

    At full speed that is throughput, or in its place the cost of a request together with throughput
    without waits for cores.

    Args:
        found: How B stands to A.

    Returns:
        None where it is unknown, as below three groups.
    """
    if found.deciding == AT_FULL_SPEED:
        by_cost = max(_reach(found.cpu_per_request), _reach(found.undisturbed))
        widest = SmallestLoss("throughput", min(_reach(found.throughput), by_cost), grows=False)
    else:
        metric = max(found.deciding, key=lambda one: _reach(found.of(one)))
        widest = SmallestLoss(metric, _reach(found.of(metric)), grows=metric != "throughput")
    return widest if math.isfinite(widest.reach) else None


def _reach(ratio: PairedRatio | None) -> float:
    """Half the width of an interval of fresh processes, on logarithms; infinite without one."""
    if ratio is None or ratio.reach is None or not ratio.holds_for_fresh_processes:
        return math.inf
    return ratio.reach


def state(found: Difference, limit: float) -> State:
    """Whether B loses more than a limit.

    Args:
        found: How B stands to A.
        limit: The greatest loss that is allowed, as a share of what A has: 0.03.
    """
    if not found.is_comparable:
        return "open" if fault(found) is None else "crossed"
    settled = _settled(found, limit)
    return "open" if settled != "open" and _is_denied(found, limit, settled) else settled


def fault(found: Difference) -> Fault | None:
    """Why B crosses every limit, though its speed cannot be compared.

    Returns:
        None where it can be, or where that is not the fault of B alone.
    """
    silent = (*found.silent, *found.silent_side_by_side)
    if found.failed.a > MOST_FAILED or A in (*found.void, *silent):
        return None
    if found.failed.b > MOST_FAILED and found.failed.a <= MOST_OF_A * found.failed.b:
        return "failing"
    if B in silent:
        return "silent"
    return "void" if B in found.void and found.void_by_itself == B else None


def is_by_lost_rate(found: Difference, limit: float) -> bool:
    """Whether B crosses a limit since it does not carry a rate that A carries."""
    is_lost = _loss(found.throughput, limit, is_cost=False) == "crossed"
    return found.is_comparable and found.deciding == AT_A_RATE and is_lost


def is_denied_in_turns(found: Difference, limit: float) -> bool:
    """Whether a limit is open only since the cost in turns lies on its other side."""
    return found.is_comparable and state(found, limit) != _settled(found, limit)


def is_by_cost(found: Difference, limit: float) -> bool:
    """Whether CPU time per request settles the limit, since throughput leaves it open."""
    is_open = _loss(found.throughput, limit, is_cost=False) == "open"
    return found.deciding == AT_FULL_SPEED and is_open and state(found, limit) != "open"


def _settled(found: Difference, limit: float) -> State:
    """What the quantities say that decide, whatever the cost in turns is."""
    if is_by_lost_rate(found, limit):
        return "crossed"
    if found.deciding != AT_FULL_SPEED:
        return _of_each(found, limit)
    by_rate = _loss(found.throughput, limit, is_cost=False)
    return by_rate if by_rate != "open" else _by_cost(found, limit)


def _is_denied(found: Difference, limit: float, settled: State) -> bool:
    """Whether a cost side by side settled it, and that in turns is on the other side of it."""
    in_turns = found.cpu_per_request_in_turns
    is_by_rate = _loss(found.throughput, limit, is_cost=False) != "open"
    if in_turns is None or (found.deciding == AT_FULL_SPEED and is_by_rate):
        return False
    cost = in_turns.value
    loss = 1 - 1 / cost if found.deciding == AT_FULL_SPEED else cost - 1
    return (loss > limit) != (settled == "crossed")


def _by_cost(found: Difference, limit: float) -> State:
    """What the cost of a request says of a throughput that is too blurred to tell."""
    cost, in_turns = found.cpu_per_request, found.cpu_per_request_in_turns
    by_cost = _loss(cost, limit, is_cost=True)
    if by_cost == "crossed":
        is_worse = found.answer == "slower" and explains(cost, found.throughput, in_turns)
        return "crossed" if is_worse else "open"
    is_blurred_only = _loss(found.undisturbed, limit, is_cost=False) == "kept"
    return "kept" if by_cost == "kept" and is_blurred_only else "open"


def _of_each(found: Difference, limit: float) -> State:
    """Crossed by any of what decides, kept by all."""
    losses = {_grown(found.of(one), limit, is_rate=one == "throughput") for one in found.deciding}
    if "crossed" in losses:
        return "crossed"
    return "kept" if losses == {"kept"} else "open"


def _grown(ratio: PairedRatio | None, limit: float, *, is_rate: bool) -> State:
    """Where the interval of what a quantity lost lies."""
    if is_rate:
        return _loss(ratio, limit, is_cost=False)
    if ratio is None or ratio.interval is None or not ratio.holds_for_fresh_processes:
        return "open"
    least, most = ratio.interval.low - 1, ratio.interval.high - 1
    return "crossed" if least > limit else "kept" if most < limit else "open"


def _loss(ratio: PairedRatio | None, limit: float, *, is_cost: bool) -> State:
    """Where the interval of a loss lies."""
    if ratio is None or ratio.interval is None or not ratio.holds_for_fresh_processes:
        return "open"
    low, high = ratio.interval.low, ratio.interval.high
    least, most = (1 - 1 / low, 1 - 1 / high) if is_cost else (1 - high, 1 - low)
    return "crossed" if least > limit else "kept" if most < limit else "open"
