"""Ladders: what each server costs at rates that all of them have, and without load.

A step of which the server was saturated, or whose rate was not met, is no point of the line: there
a request no longer costs what it costs below. It is full where the server was at its limit: its
cores were saturated, or it did not meet the rate and nothing else explains that. The load generator
explains it, and so does its pool of connections where responses were as fast as at a low rate. So
does whatever voids the trial, unless that follows from a rate beyond the server's limit. A step
that is not full counts as any trial does, so its verdict is told.

RAPL leaves out much of what a host draws, so the power of all steps of a campaign is by one source.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Literal

from plimsoll import wording
from plimsoll.aggregate import cores, step_costs
from plimsoll.aggregate.trial import stored
from plimsoll.campaign.line_settings import PEAK
from plimsoll.findings import beyond as beyonds
from plimsoll.findings.trial import state_of
from plimsoll.statistics import intervals, ranks, straight_line
from plimsoll.statistics.missing_values import median_of_known
from plimsoll.verdicts.catalogue import is_by_server, title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.aggregate.energy import Energy, Source
    from plimsoll.aggregate.step_costs import StandingCost, StepCost
    from plimsoll.aggregate.trial import Tables
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.recording import Recording
    from plimsoll.statistics.intervals import Estimate
    from plimsoll.statistics.ranks import Ranks
    from plimsoll.statistics.straight_line import StraightLine
    from plimsoll.storage.results import Results

Side = Literal["before", "after"]
"""Whether a server without load was read before a load or after it."""

SIDES: tuple[Side, ...] = ("before", "after")

SATURATED = 0.95
"""Share of its cores from which on a server is saturated: no cost of a request is seen beyond."""

LEAST_MET = 0.99
"""Share of the requested rate that must be answered."""

FEWEST_FOR_A_LINE = 2
FEWEST_TO_BEND = 3
"""Rates that a bend needs; what repetitions of one rate answered differs by chance."""

_CHANCE = 4.0
"""Fewer arrivals than a Poisson schedule has are chance within so many standard deviations."""


@dataclass(frozen=True)
class LadderStep:
    """One repetition of one rate.

    Attributes:
        trial: What is known of it.
        requested_per_s: The requested rate.
        cost: What the server needed; None where nothing was measured.
        left_out: Why it is no point of the line; empty where it is one.
        is_full: Whether that is because the server was at its limit, which ladders may reach. It
            doubts nothing.
    """

    trial: TrialFindings
    requested_per_s: float
    cost: StepCost | None
    left_out: str = ""
    is_full: bool = False


@dataclass(frozen=True)
class EntryLadder:
    """The ladder of one framework at one endpoint.

    Attributes:
        framework: Framework and variant.
        endpoint: Name of the endpoint.
        is_yardstick: Whether it is Plimsoll's own server, which has no rank beside others.
        steps: Every step, by rate and repetition.
        cores: Busy cores over responses per second, by the steps that count: the slope is CPU
            seconds per response. None with fewer than two rates.
        user: The same of user mode alone.
        system: The same of the kernel alone.
        power: Watts over responses per second: the slope is joules per response. None where
            power was not read at two rates.
        power_source: The source of its power, that of all ladders of a campaign; None without any.
    """

    framework: str
    endpoint: str
    is_yardstick: bool
    steps: tuple[LadderStep, ...]
    cores: StraightLine | None = None
    user: StraightLine | None = None
    system: StraightLine | None = None
    power: StraightLine | None = None
    power_source: Source | None = None

    @property
    def counting(self) -> tuple[LadderStep, ...]:
        """The steps that are points of the line."""
        return tuple(one for one in self.steps if not one.left_out)

    @property
    def state(self) -> State:
        """How far to believe it."""
        if self.cores is None:
            return "failed" if all(one.trial.state == "failed" for one in self.steps) else "void"
        return state_of([one.trial for one in self.counting])

    def standing_cores(self, side: Side) -> Estimate | None:
        """Busy cores without load; None where they were not read."""
        return self._standing(side, lambda one: one.busy_cores)

    def standing_bytes(self, side: Side) -> Estimate | None:
        """Memory without load; None where it was not read."""
        return self._standing(side, lambda one: one.rss_bytes)

    def _standing(
        self, side: Side, value_of: Callable[[StandingCost], float | None]
    ) -> Estimate | None:
        """The middle of the steps of which something without load is known."""
        costs = [one.cost for one in self.steps if one.cost is not None]
        sides = [one.before if side == "before" else one.after for one in costs]
        values = [value_of(one) for one in sides if one is not None]
        known = [value for value in values if value is not None]
        return intervals.estimate(known) if known else None

    @property
    def idle_power_w(self) -> float | None:
        """Power of the host without load; None where it was not read."""
        found = [self.power_of(one) for one in self.counting]
        return median_of_known([one and one.idle_w for one in found])

    def power_of(self, step: LadderStep) -> Energy | None:
        """Power of the host in a step, by the source of the ladder; None where it is unknown."""
        if step.cost is None or self.power_source is None:
            return None
        return step.cost.power.get(self.power_source)

    @property
    def loaded_bytes(self) -> float | None:
        """Memory at the highest rate that counts; None where it is unknown."""
        return median_of_known([one.cost and one.cost.rss_bytes for one in self._at(max)])

    @property
    def switches(self) -> tuple[float | None, float | None]:
        """Context switches for each response, at the lowest and the highest rate that counts."""
        return self._ends(lambda one: one.switches_per_request)

    @property
    def system_calls(self) -> tuple[float | None, float | None]:
        """System calls for each response, likewise."""
        return self._ends(lambda one: one.system_calls_per_request)

    def _ends(
        self, value_of: Callable[[StepCost], float | None]
    ) -> tuple[float | None, float | None]:
        """A value at the lowest and at the highest rate that counts."""
        low, high = (
            median_of_known([one.cost and value_of(one.cost) for one in self._at(chosen)])
            for chosen in (min, max)
        )
        return low, high

    def _at(self, chosen: Callable[[Sequence[float]], float]) -> list[LadderStep]:
        """The steps that count at the lowest or the highest of their rates."""
        rates = [one.requested_per_s for one in self.counting]
        return [one for one in self.counting if one.requested_per_s == chosen(rates)]


@dataclass(frozen=True)
class RankedLadder:
    """One framework in a ranking by the cost of a request.

    Attributes:
        ladder: Its ladder.
        ranks: The ranks it may have; None where it has none.
    """

    ladder: EntryLadder
    ranks: Ranks | None = None


@dataclass(frozen=True)
class LadderRanking:
    """The frameworks at one endpoint by what each request costs, the cheapest first.

    Attributes:
        endpoint: Name of the endpoint.
        places: The frameworks; those without a rank last.
    """

    endpoint: str
    places: tuple[RankedLadder, ...]


def is_step(recording: Recording) -> bool:
    """Whether a trial of a campaign of kind `ladder` is a step, and not the peak."""
    return recording.load.name != PEAK


def of_campaign(results: Results, trials: Sequence[TrialFindings]) -> tuple[EntryLadder, ...]:
    """The ladders of a campaign, in the order of endpoint and framework.

    Args:
        results: Where the readings of the trials are.
        trials: What is known of each trial.

    Raises:
        StorageError: Readings cannot be read.
    """
    grouped: dict[tuple[str, str], list[TrialFindings]] = {}
    for one in trials:
        grouped.setdefault((one.recording.endpoint, one.recording.title), []).append(one)
    found = [_entry(results, grouped[key]) for key in sorted(grouped)]
    source = _power_source([step for one in found for step in one.counting])
    return tuple(_with_power(replace(one, power_source=source)) for one in found)


def rankings(ladders: Sequence[EntryLadder]) -> tuple[LadderRanking, ...]:
    """A ranking for each endpoint.

    Args:
        ladders: The ladders of a campaign.
    """
    endpoints = dict.fromkeys(one.endpoint for one in ladders)
    return tuple(
        LadderRanking(name, _ranked([one for one in ladders if one.endpoint == name]))
        for name in endpoints
    )


def _ranked(ladders: Sequence[EntryLadder]) -> tuple[RankedLadder, ...]:
    is_beside = any(not one.is_yardstick for one in ladders)
    competing = [
        one.cores.slope.interval
        if one.cores and one.state != "void" and not (one.is_yardstick and is_beside)
        else None
        for one in ladders
    ]
    places = map(RankedLadder, ladders, ranks.lowest_first(competing))
    return tuple(sorted(places, key=_order))


def _order(one: RankedLadder) -> tuple[bool, bool, float]:
    """Ranked ones first, the yardstick last."""
    slope = one.ladder.cores.slope.value if one.ladder.cores else 0.0
    return one.ladder.is_yardstick, one.ranks is None, slope


def _entry(results: Results, trials: Sequence[TrialFindings]) -> EntryLadder:
    first = trials[0].recording
    held = [one for one in trials if is_step(one.recording)]
    steps = [_step(results, one, _unloaded_ns(one, held)) for one in held]
    steps.sort(key=lambda one: (one.requested_per_s, one.trial.recording.repetition))
    counting = [one for one in steps if not one.left_out]
    apart = len({one.requested_per_s for one in counting})
    found = [one.cost for one in counting if one.cost is not None and apart >= FEWEST_FOR_A_LINE]
    rates = [one.completed_per_s for one in found]
    busy = [one.busy_cores or 0.0 for one in found]
    weighted = straight_line.weights(rates, busy)
    line = _straight_or_bent(straight_line.line(rates, busy, weighted), apart)
    return EntryLadder(
        framework=first.title,
        endpoint=first.endpoint,
        is_yardstick=first.is_yardstick,
        steps=tuple(steps),
        cores=line,
        user=straight_line.line(rates, [one.user_cores or 0.0 for one in found], weighted),
        system=straight_line.line(rates, [one.system_cores or 0.0 for one in found], weighted),
    )


def _power_source(steps: Sequence[LadderStep]) -> Source | None:
    """The wall if all steps have it, else RAPL if any has that; None where none has either."""
    known = [one.cost.power for one in steps if one.cost is not None]
    if not any(known):
        return None
    has_all = all("wall" in power for power in known)
    return "wall" if has_all or not any("rapl" in power for power in known) else "rapl"


def _with_power(ladder: EntryLadder) -> EntryLadder:
    """A ladder with its watts over responses per second, if they are known at two rates."""
    known = [
        (one.requested_per_s, one.cost.completed_per_s, power.gross_w)
        for one in ladder.counting
        if one.cost is not None and (power := ladder.power_of(one)) is not None
    ]
    apart = len({requested for requested, _, _ in known})
    if apart < FEWEST_FOR_A_LINE:
        return ladder
    rates, watts = [rate for _, rate, _ in known], [power for _, _, power in known]
    return replace(ladder, power=_straight_or_bent(straight_line.line(rates, watts), apart))


def _straight_or_bent(line: StraightLine | None, rates: int) -> StraightLine | None:
    """A line, without a bend that too few rates show."""
    return replace(line, bend=None) if line and rates < FEWEST_TO_BEND else line


def _requested_per_s(trial: TrialFindings) -> float:
    """The rate of a step."""
    stages = trial.recording.load.stages
    return stages[-1].start if stages else 0.0


def _unloaded_ns(trial: TrialFindings, steps: Sequence[TrialFindings]) -> float | None:
    """Median latency at rates that leave most connections of a step free; None without any."""
    most_per_s = beyonds.LOW * trial.summary.throughput_per_s if trial.summary else 0.0
    low = [one for one in steps if one.has_ended_well and _requested_per_s(one) <= most_per_s]
    return median_of_known([one.summary and one.summary.service_time.p50_ns for one in low])


def _step(results: Results, trial: TrialFindings, unloaded_ns: float | None) -> LadderStep:
    """A step with its cost, and why it does not count."""
    requested_per_s = _requested_per_s(trial)
    if not trial.has_ended_well or trial.summary is None:
        reason = trial.recording.ending.message or "nothing was measured"
        return LadderStep(trial, requested_per_s, None, reason)
    tables = stored(results, trial.recording)
    completed_per_s = trial.summary.throughput_per_s
    cost = step_costs.of_trial(tables.usage, tables.holds, completed_per_s, tables.requests)
    if full := _saturated(trial.recording, tables):
        return LadderStep(trial, requested_per_s, cost, full, is_full=True)
    missed = _missed(completed_per_s, requested_per_s, trial.summary.duration_s)
    left_out = _doubt(trial, tables, unloaded_ns, missed)
    if missed and not left_out:
        return LadderStep(trial, requested_per_s, cost, missed, is_full=True)
    if not left_out and cost.busy_cores is None:
        left_out = "CPU use of the server could not be read"
    return LadderStep(trial, requested_per_s, cost, left_out)


def _saturated(recording: Recording, tables: Tables) -> str:
    """How busy the server kept its cores, where that is its limit; else empty."""
    busy_ratio = cores.server_busy_ratio(recording, tables.usage)
    if busy_ratio is None or busy_ratio < SATURATED:
        return ""
    return f"the server's cores were {wording.percent(round(busy_ratio, 3))} busy"


def _doubt(trial: TrialFindings, tables: Tables, unloaded_ns: float | None, missed: str) -> str:
    """What else than the limit of the server leaves a step out; empty for nothing."""
    by_driver = beyonds.of_driver(trial, tables, unloaded_ns) if missed else None
    if by_driver is not None:
        return f"{missed}: {by_driver.sentence.removesuffix('.')}"
    void = [
        title_of(one)
        for one in trial.verdicts
        if one.level == "void" and not (missed and is_by_server(one, is_overloaded=True))
    ]
    return f"void ({wording.listed(void)})" if void else ""


def _missed(completed_per_s: float, requested_per_s: float, hold_s: float) -> str:
    """By how much responses missed the requested rate; empty where they met it."""
    expected = requested_per_s * hold_s
    missing = expected - completed_per_s * hold_s - _CHANCE * sqrt(expected)
    if missing > (1 - LEAST_MET) * expected:
        answered = wording.percent(round(completed_per_s / requested_per_s, 3))
        return f"{answered} of the requested rate was achieved"
    return ""
