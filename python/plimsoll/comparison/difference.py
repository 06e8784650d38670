"""Difference: whether B is faster than A, slower, the same, or whether that is undecided.

Two witnesses decide, at full speed throughput and the server's CPU time per request, which other
programs hardly touch. They share the error, so both intervals hold together in 95 % of comparisons:
each has half of it, or four fifths CPU time per request that was measured side by side, where it is
by far the narrower one. Other quantities are shown with half of the error, and decide nothing.

- Throughput excludes 1 and does not lie within the tolerance: *faster* or *slower*.
- Otherwise CPU time per request excludes 1 in that way, and throughput does not contradict it: its
  interval holds what that cost lets expect. Nor does the cost in turns, where that is another one:
  its interval holds this cost, or it is on the same side of 1. The throughput of a server that
  waits for another program, or that has too few connections, does not depend on its cost: such
  servers have the same speed, and the cost is named beside it.
- Otherwise *same*: throughput lies within the tolerance; or, where other programs blur it, CPU time
  per request does and so does the throughput that the server would have had with all the processor
  time it wanted. Without that last part a server that waits for a lock, and so costs no more, would
  be called the same.
- Otherwise *undecided*.

At a fixed rate throughput is what was requested. There the 99th percentile of the response time
decides, and CPU time per request where that is open: *slower* means a longer latency, or a request
that costs more. *Same* needs the latency. A user who names a quantity has it alone decide, with the
whole error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import geometric_mean, median
from typing import TYPE_CHECKING, Literal

from plimsoll.comparison import turn_pairs
from plimsoll.comparison.turn_pairs import A, B
from plimsoll.statistics import paired
from plimsoll.statistics.paired import PairedRatio, Plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.comparison.turn_pairs import GroupTimes
    from plimsoll.recording.turns import Turn
    from plimsoll.statistics.intervals import Interval
    from plimsoll.statistics.paired import PairedGroup

Answer = Literal["faster", "slower", "same", "undecided"]
Metric = Literal["throughput", "cpu_per_request", "p99"]
Source = Literal["cpu_per_request", "cpu_obtained", "both"]

METRICS: tuple[Metric, ...] = ("throughput", "cpu_per_request", "p99")
"""Every quantity that may decide."""

AT_FULL_SPEED: tuple[Metric, ...] = ("throughput", "cpu_per_request")
"""What decides where both servers get all the load that they can take."""

AT_A_RATE: tuple[Metric, ...] = ("p99", "cpu_per_request")
"""What decides where both get requests at one rate."""

WITHIN = 0.02
"""A smaller difference is none, by default."""

ERROR = 0.05
"""Share of comparisons in which any interval of a witness may miss the truth."""

COST_SIDE_BY_SIDE = 0.8
"""Share of the error that CPU time per request has where it was measured side by side."""

MOST_FAILED = 0.001
"""Beyond this share of failed requests of one server, speeds are not compared."""

_UNDECIDED: tuple[Answer, Metric | None] = ("undecided", None)


@dataclass(frozen=True)
class Failed:
    """Share of requests that failed, of each server."""

    a: float
    b: float

    @property
    def are_too_many(self) -> bool:
        """Whether one of the servers failed too often to be compared."""
        return max(self.a, self.b) > MOST_FAILED


@dataclass(frozen=True)
class Difference:
    """How B stands to A.

    Attributes:
        answer: What holds for B.
        deciding: What may decide.
        witness: What decided; None when undecided.
        within: The tolerance: a ratio closer to 1 than this is the same.
        throughput: B / A, correct responses per second; None without a complete round.
        cpu_per_request: B / A, CPU time of the server per correct response, side by side where both
            worked so; None when not measured.
        cpu_obtained: B / A, processor time that the server got; None when not measured.
        undisturbed: B / A, throughput with all processor time wanted; None when not measured.
        p99: B / A, 99th percentile of the response time; None when not measured.
        failed: Share of requests that failed.
        groups: Starts of fresh processes.
        rounds: Pairs of turns.
        a_per_s: Throughput of A in responses per second: the geometric mean over groups of the
            total of its turns, so that `b_per_s / a_per_s` is the ratio.
        b_per_s: The same of B.
        a_p99_ns: 99th percentile of A's response times, the geometric mean over groups, in
            nanoseconds; None when not measured.
        b_p99_ns: The same of B.
        void: Servers whose loads are void, so that their speed is not compared.
        void_by_itself: The server of which each start is void by its own fault, and none of the
            other's; empty for neither.
        silent: Servers that returned nothing in all turns of a group.
        silent_side_by_side: Those that returned nothing in all turns of a group side by side.
        cpu_per_request_in_turns: CPU time per response in turns of one alone; None where
            `cpu_per_request` is that, and when not measured.
        uncounted: Servers whose CPU time is unknown in at least half of the turns of a group.
    """

    answer: Answer
    deciding: tuple[Metric, ...]
    witness: Metric | None
    within: float
    throughput: PairedRatio | None
    cpu_per_request: PairedRatio | None
    cpu_obtained: PairedRatio | None
    undisturbed: PairedRatio | None
    p99: PairedRatio | None
    failed: Failed
    groups: int
    rounds: int
    a_per_s: float
    b_per_s: float
    a_p99_ns: float | None = None
    b_p99_ns: float | None = None
    void: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    silent_side_by_side: tuple[str, ...] = ()
    cpu_per_request_in_turns: PairedRatio | None = None
    uncounted: tuple[str, ...] = ()
    void_by_itself: str = ""

    @property
    def is_comparable(self) -> bool:
        """Whether both servers responded to loads whose numbers can be compared."""
        return not self.failed.are_too_many and not self.void and not self.is_silent

    @property
    def is_silent(self) -> bool:
        """Whether a server returned nothing in a part of a group, in turns or side by side."""
        return bool(self.silent or self.silent_side_by_side)

    def of(self, metric: Metric) -> PairedRatio | None:
        """The ratio of one quantity; None when it was not measured."""
        ratios = {
            "throughput": self.throughput,
            "cpu_per_request": self.cpu_per_request,
            "p99": self.p99,
        }
        return ratios[metric]

    def answer_of(self, metric: Metric) -> Answer:
        """What one quantity says of B by itself."""
        if not self.is_comparable:
            return "undecided"
        return _by_itself(metric, self.of(metric), self.within)

    @property
    def ratio(self) -> PairedRatio | None:
        """The ratio of the witness that decided; of what decides first where none did."""
        return self.of(self.witness or self.deciding[0])

    @property
    def smallest(self) -> float | None:
        """The smallest difference that shows after so many groups, A against A: 0.018.

        It is half the width of the better witness's interval, which does not depend on how far
        apart A and B are. None below three groups.
        """
        return min(self.detectable.values(), default=None)

    @property
    def detectable(self) -> dict[Metric, float]:
        """Half the width of the interval of each witness; those of fresh processes only."""
        found: dict[Metric, PairedRatio | None] = {
            metric: self.of(metric) for metric in self.deciding
        }
        return {
            metric: math.expm1(one.reach or 0.0)
            for metric, one in found.items()
            if one is not None and one.told is not None and one.scatter is not None
        }

    @property
    def source(self) -> Source | None:
        """Which factor a difference of throughput comes from; None when neither stands out.

        A factor counts where it points to the answer: a slower server may well have got more CPU
        time.
        """
        if self.answer not in ("faster", "slower") or self.deciding != AT_FULL_SPEED:
            return None
        is_slower = self.answer == "slower"
        cost = _side(self.cpu_per_request, 0.0) == ("more" if is_slower else "less")
        got = _side(self.cpu_obtained, 0.0) == ("less" if is_slower else "more")
        if cost and got:
            return "both"
        return "cpu_per_request" if cost else "cpu_obtained" if got else None

    def needed(self) -> tuple[Metric, int] | None:
        """Which witness would decide first, and after how many more groups, as far as it scatters.

        Returns:
            None when that is unknown.
        """
        if not self.is_comparable or self.answer != "undecided":
            return None
        known: list[tuple[float, Metric]] = [
            (groups, metric)
            for metric in self.deciding
            if not math.isinf(groups := self._needed(metric))
        ]
        if not known:
            return None
        groups, metric = min(known, key=lambda one: one[0])
        least = max(paired.LEAST_GROUPS, self.groups + 1)
        return metric, max(math.ceil(groups), least) - self.groups

    def _needed(self, metric: Metric) -> float:
        """Groups until the interval of a witness excludes 1, or shows that both are the same."""
        ratio = self.of(metric)
        if ratio is None or ratio.reach is None:
            return math.inf
        apart = _groups_until(ratio, _away(ratio))
        is_cost = metric == "cpu_per_request" and self.deciding == AT_FULL_SPEED
        in_turns = self.cpu_per_request_in_turns
        if is_cost and not explains(ratio, self.throughput, in_turns):
            apart = math.inf
        same = max(
            (
                _groups_until(one, math.log1p(self.within) - _away(one))
                for one in self._same(metric)
            ),
            default=math.inf,
        )
        return min(apart, same)

    def _same(self, metric: Metric) -> tuple[PairedRatio, ...]:
        """The ratios that must all lie within the tolerance before a witness says *same*."""
        ratio = self.of(metric)
        if metric != "cpu_per_request" or len(self.deciding) == 1:
            return (ratio,) if ratio else ()
        if self.deciding != AT_FULL_SPEED or not ratio or not self.undisturbed:
            return ()
        return ratio, self.undisturbed


def difference(
    turns: Sequence[Turn],
    plan: Plan,
    within: float = WITHIN,
    times: Sequence[GroupTimes] = (),
    deciding: tuple[Metric, ...] = AT_FULL_SPEED,
    void: tuple[str, ...] = (),
    side_by_side: Sequence[Turn] = (),
) -> Difference:
    """How B stands to A.

    Args:
        turns: Turns of both, named `turn_pairs.A` and `turn_pairs.B`.
        plan: Looks so far and planned; its error is shared by the witnesses.
        within: A ratio closer to 1 than this is the same: 0.02.
        times: Response times of each group.
        deciding: What may decide: `AT_FULL_SPEED`, `AT_A_RATE`, or one quantity.
        void: Servers whose loads are void: then nothing is decided.
        side_by_side: Turns of both at the same time, which tell what a request costs; without any,
            `turns` do.
    """
    rates = turn_pairs.groups(turns, turn_pairs.throughput)
    found: dict[Metric, list[PairedGroup]] = {
        "throughput": rates,
        "cpu_per_request": turn_pairs.groups(side_by_side or turns, turn_pairs.cpu_per_request),
        "p99": turn_pairs.p99(times),
    }
    sharing = sum(bool(found[metric]) for metric in deciding)
    each = replace(plan, error=plan.error / max(sharing, 1))
    plans = dict.fromkeys(METRICS, each)
    if side_by_side and sharing > 1:
        plans |= _plans_side_by_side(plan)
    ratios: dict[Metric, PairedRatio | None] = {
        metric: paired.ratio(found[metric], plans[metric]) for metric in METRICS
    }
    in_turns = turn_pairs.groups(turns, turn_pairs.cpu_per_request) if side_by_side else ()
    cost_in_turns = paired.ratio(in_turns, each)
    undisturbed = paired.ratio(_undisturbed(turns, side_by_side), plans["cpu_per_request"])
    a_per_s, b_per_s = _rates(turns)
    every = (*turns, *side_by_side)
    failed = Failed(turn_pairs.failure_ratio(every, A), turn_pairs.failure_ratio(every, B))
    silent, silent_side_by_side = turn_pairs.silent(turns), turn_pairs.silent(side_by_side)
    answer, witness = _UNDECIDED
    if not (failed.are_too_many or void or silent or silent_side_by_side):
        answer, witness = _answered(deciding, ratios, undisturbed, cost_in_turns, within)
    return Difference(
        answer=answer,
        deciding=deciding,
        witness=witness,
        within=within,
        throughput=ratios["throughput"],
        cpu_per_request=ratios["cpu_per_request"],
        cpu_obtained=paired.ratio(turn_pairs.groups(turns, turn_pairs.cpu_obtained), each),
        undisturbed=undisturbed,
        p99=ratios["p99"],
        failed=failed,
        groups=len(rates),
        rounds=turn_pairs.rounds(turns),
        a_per_s=a_per_s,
        b_per_s=b_per_s,
        a_p99_ns=geometric_mean([one.a_p99_ns for one in times]) if times else None,
        b_p99_ns=geometric_mean([one.b_p99_ns for one in times]) if times else None,
        void=void,
        silent=silent,
        silent_side_by_side=silent_side_by_side,
        cpu_per_request_in_turns=cost_in_turns,
        uncounted=turn_pairs.uncounted(every),
    )


def _plans_side_by_side(plan: Plan) -> dict[Metric, Plan]:
    """How the witnesses share the error where a request's cost was measured side by side."""
    return {
        "cpu_per_request": replace(plan, error=plan.error * COST_SIDE_BY_SIDE),
        "throughput": replace(plan, error=plan.error * (1 - COST_SIDE_BY_SIDE)),
    }


def _undisturbed(turns: Sequence[Turn], side_by_side: Sequence[Turn]) -> list[PairedGroup]:
    if side_by_side:
        return turn_pairs.undisturbed_at_cost(turns, side_by_side)
    return turn_pairs.groups(turns, turn_pairs.undisturbed)


def _answered(
    deciding: tuple[Metric, ...],
    ratios: Mapping[Metric, PairedRatio | None],
    undisturbed: PairedRatio | None,
    cost_in_turns: PairedRatio | None,
    within: float,
) -> tuple[Answer, Metric | None]:
    """What holds for B, and what decided that; None when undecided."""
    rate, cost, latency = (ratios[metric] for metric in METRICS)
    if deciding == AT_FULL_SPEED:
        return _decided(rate, cost, undisturbed, within, cost_in_turns)
    if deciding == AT_A_RATE:
        return _decided_at_a_rate(latency, cost, within)
    (only,) = deciding
    answer = _by_itself(only, ratios[only], within)
    return answer, None if answer == "undecided" else only


def _decided(
    rate: PairedRatio | None,
    cost: PairedRatio | None,
    undisturbed: PairedRatio | None,
    within: float,
    cost_in_turns: PairedRatio | None,
) -> tuple[Answer, Metric | None]:
    by_rate, by_cost = _side(rate, within), _side(cost, within)
    if by_rate in ("more", "less"):
        return "faster" if by_rate == "more" else "slower", "throughput"
    if by_cost in ("more", "less") and explains(cost, rate, cost_in_turns):
        return "slower" if by_cost == "more" else "faster", "cpu_per_request"
    if by_rate == "same":
        return "same", "throughput"
    is_same = by_cost == "same" == _side(undisturbed, within)
    if is_same and _is_as_in_turns(cost, cost_in_turns, math.log1p(within)):
        return "same", "cpu_per_request"
    return _UNDECIDED


def _decided_at_a_rate(
    latency: PairedRatio | None, cost: PairedRatio | None, within: float
) -> tuple[Answer, Metric | None]:
    """By latency; where it is open, or the same, by what a request costs."""
    by_latency = _by_itself("p99", latency, within)
    by_cost = _by_itself("cpu_per_request", cost, within)
    if by_latency in ("faster", "slower"):
        return by_latency, "p99"
    if by_cost in ("faster", "slower"):
        return by_cost, "cpu_per_request"
    return by_latency, None if by_latency == "undecided" else "p99"


def _by_itself(metric: Metric, ratio: PairedRatio | None, within: float) -> Answer:
    """What one quantity says of B; less is better of all but throughput."""
    side = _side(ratio, within)
    if side in ("same", "open"):
        return "same" if side == "same" else "undecided"
    return "faster" if (side == "more") == (metric == "throughput") else "slower"


Side = Literal["more", "less", "same", "open"]


def _side(ratio: PairedRatio | None, within: float) -> Side:
    """Where the interval of a ratio of fresh processes lies."""
    if ratio is None or ratio.interval is None or not ratio.holds_for_fresh_processes:
        return "open"
    if lies_within(ratio.interval, within):
        return "same"
    return "more" if ratio.interval.low > 1 else "less" if ratio.interval.high < 1 else "open"


def lies_within(interval: Interval, within: float) -> bool:
    """Whether an interval of a ratio is as close to 1 as that, to both sides alike."""
    return interval.low >= 1 / (1 + within) and interval.high <= 1 + within


def explains(
    cost: PairedRatio | None, rate: PairedRatio | None, in_turns: PairedRatio | None
) -> bool:
    """Whether the throughput is what a cost per request lets expect, which turns do not deny.

    Args:
        cost: CPU time per request.
        rate: Throughput.
        in_turns: CPU time per request in turns; None where `cost` is that.
    """
    return (
        cost is not None
        and rate is not None
        and rate.interval is not None
        and rate.interval.holds(1 / cost.value)
        and _is_as_in_turns(cost, in_turns, 0.0)
    )


def _is_as_in_turns(cost: PairedRatio | None, in_turns: PairedRatio | None, within: float) -> bool:
    """Whether turns allow for a cost side by side, or show one to the same side of 1.

    Args:
        cost: CPU time per request side by side.
        in_turns: The same in turns; None where it was not measured.
        within: As close to 1 as this, on logarithms, costs are to no side.
    """
    if cost is None or in_turns is None or in_turns.interval is None:
        return True
    sides = {_beyond(math.log(one.value), within) for one in (cost, in_turns)}
    return len(sides) == 1 or in_turns.interval.holds(cost.value)


def _beyond(away: float, within: float) -> int:
    """On which side of 0 a number is, 0 within the tolerance."""
    return 0 if abs(away) <= within else 1 if away > 0 else -1


def _away(ratio: PairedRatio) -> float:
    """How far a ratio is from 1, on logarithms."""
    return abs(math.log(ratio.value))


def _groups_until(ratio: PairedRatio, reach: float) -> float:
    """Groups until half the width of the interval is this; infinite where nothing is left.

    Source:
        The width falls with the root of the number; what Student's distribution and the looks add
        falls too, so this is rather too many.
    """
    if reach <= 0.0:
        return math.inf
    return ratio.groups * ((ratio.reach or 0.0) / reach) ** 2 + 1


def _rates(turns: Sequence[Turn]) -> tuple[float, float]:
    """Throughput of A and B; where no round has both, the median of the turns of each."""
    return turn_pairs.mean_rates(turns) or (_median_per_s(turns, A), _median_per_s(turns, B))


def _median_per_s(turns: Sequence[Turn], entry: str) -> float:
    own = [turn for turn in turns if turn.entry == entry and turn.duration_ns]
    return 1e9 * median([turn.requests / turn.duration_ns for turn in own] or [0.0])
