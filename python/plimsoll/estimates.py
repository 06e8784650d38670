"""Estimates: the time and disk space that the trials of a plan need.

A run is its loads, the starts of its servers, what lies around each trial, the compliance gate,
pauses, and the report. What earlier runs took on this host replaces what is assumed. Both are as
on a host that nobody else uses, and take longer where others use the processor now. Where earlier
runs differ, an estimate has a range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Self

from plimsoll import plan
from plimsoll.campaign.power import SETTLE_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.campaign.framework import Framework
    from plimsoll.campaign.line_settings import LineSettings
    from plimsoll.campaign.load import Load, Stage
    from plimsoll.plan import Trial

REQUEST_BYTES = 48
"""Size of the record of one request before compression."""

ROW_S = 2e-6
"""Seconds for which each request is stored, summarised and judged after the load."""

ASSUMED_PROGRAM_S = 1.0
"""Seconds in which the program starts, assumed: the interpreter and its imports."""

EXIT_S = 0.5
"""Seconds in which the program ends, after what it can measure."""

ASSUMED_BEGIN_S = 1.0
"""Seconds of a run before its first server, assumed: digests of what runs, facts of the host."""

ASSUMED_DATABASE_S = 3.0
"""Seconds by which the begin is assumed to be longer where PostgreSQL starts in it."""

ASSUMED_REQUESTS_PER_S = 50_000.0
"""Requests per second assumed if the load does not define them."""

ASSUMED_START_S = 0.3
"""Seconds that a server is assumed to need until it responds."""

ASSUMED_BESIDE_S = 1.5
"""Seconds assumed for the rest of a trial with a server of its own.

Two checks of the contract, the stop, files, and verdicts apart from rows.
"""

ASSUMED_IN_TURNS_S = 1.2
"""The same of a trial in turns, whose server others share."""

ASSUMED_TURN_S = 0.03
"""Seconds assumed around each turn: readings before and after it, the control between rounds."""

ASSUMED_GATE_S = 2.0
"""Seconds assumed for the compliance gate of a framework, without the start of its server."""

REPORT_S = 3.0
"""Seconds of verdicts on a campaign and its report, assumed by an estimate."""

SCATTERED = 1.3
"""Longest time by earlier runs / shortest from which the range is named: about ±15 %."""

REPORT_PER_TRIAL_S = 0.6
"""The same for each trial: its charts in every format."""


@dataclass(frozen=True)
class FrameworkPace:
    """What earlier trials of a framework on this host tell about the next.

    What is mostly computing is kept as it would take on a host that nobody else uses.

    Attributes:
        start_s: Seconds until its server responds, with the rests of its warm-up.
        beside_s: Seconds of a trial besides its start, its load and what depends on the number of
            requests; None where no trial had a server of its own.
        in_turns_s: The same for a trial in turns, and besides its turns; None where there was none.
        gate_s: Seconds of its compliance gate; None where it was not examined.
        requests_per_s: Requests per second of a closed load, by endpoint.
    """

    start_s: float
    beside_s: float | None = None
    in_turns_s: float | None = None
    gate_s: float | None = None
    requests_per_s: Mapping[str, float] = field(default_factory=dict[str, float])

    def rate_at(self, endpoint: str) -> float:
        """Requests per second of a closed load: there, else of its other endpoints, else assumed.

        Args:
            endpoint: Name of the endpoint.
        """
        known = self.requests_per_s
        if endpoint in known:
            return known[endpoint]
        return fmean(known.values()) if known else ASSUMED_REQUESTS_PER_S

    def around_s(self, *, takes_turns: bool) -> float | None:
        """Seconds of a trial besides what is counted apart; None where there was none.

        Args:
            takes_turns: Whether its server is shared.
        """
        return self.in_turns_s if takes_turns else self.beside_s


@dataclass(frozen=True)
class Paces:
    """What is known of this host.

    Attributes:
        frameworks: By reference; those that never ran here are missing.
        turn_s: Seconds around each turn; None where there was none.
        program_s: Seconds in which the program started that conducted a run; None where there was
            none.
        begin_s: Seconds from then to its first server; None where there was none.
        begin_with_database_s: The same where PostgreSQL starts in it.
        report_factors: How much longer a report takes than `report_s` says, by `size_class`.
        others: Frameworks that ran here, and that nobody asks for.
        slowness: How many times as long as alone computing takes now, because others use the
            processor too: at least 1.
        last_slowness: The same of the last run, over all of it.
        last_at_s: When that was, in seconds since 1970.
        extremes: The same by the shortest and by the longest that was kept of each; empty where
            nothing was.
    """

    frameworks: Mapping[str, FrameworkPace] = field(default_factory=dict[str, FrameworkPace])
    turn_s: float | None = None
    program_s: float | None = None
    begin_s: float | None = None
    begin_with_database_s: float | None = None
    report_factors: Mapping[int, float] = field(default_factory=dict[int, float])
    others: tuple[FrameworkPace, ...] = ()
    slowness: float = 1.0
    last_slowness: float = 1.0
    last_at_s: float = 0.0
    extremes: tuple[Paces, ...] = ()

    @property
    def around_turn_s(self) -> float:
        """Seconds around each turn, known or assumed."""
        return ASSUMED_TURN_S if self.turn_s is None else self.turn_s

    def of(self, trial: Trial) -> FrameworkPace:
        """What is known of the framework of a trial, or assumed.

        A runtime that compiles rests about as long as it is loaded in its warm-up (decision 109).
        """
        rests_s = trial.framework.warm_up_s if trial.start_warm_up_s else 0.0
        assumed = FrameworkPace(self.slowness * ASSUMED_START_S + rests_s)
        return self.frameworks.get(trial.framework.reference, assumed)

    def rate(self, framework: Framework, endpoint: str) -> float:
        """Requests per second of a closed load, known or assumed.

        Args:
            framework: The framework.
            endpoint: Name of the endpoint.
        """
        known = self.frameworks.get(framework.reference)
        return known.rate_at(endpoint) if known else ASSUMED_REQUESTS_PER_S

    def around_s(self, trial: Trial, *, takes_turns: bool) -> float:
        """Seconds of a trial besides what is counted apart: its framework's, else those of others.

        Args:
            trial: The trial.
            takes_turns: Whether its server is shared.
        """
        kept = self.of(trial).around_s(takes_turns=takes_turns)
        if kept is not None:
            return self.slowness * kept
        every = (*self.frameworks.values(), *self.others)
        found = [one.around_s(takes_turns=takes_turns) for one in every]
        assumed_s = ASSUMED_IN_TURNS_S if takes_turns else ASSUMED_BESIDE_S
        return self.slowness * _mean_of(found, assumed_s)

    def examined_s(self, trial: Trial) -> float:
        """Seconds of the compliance gate of a framework, with the start of its server.

        Args:
            trial: A trial of the framework.
        """
        kept = self.of(trial)
        if kept.gate_s is not None:
            return self.slowness * kept.gate_s
        every = (*self.frameworks.values(), *self.others)
        gates_s = [None if one.gate_s is None else one.gate_s - one.start_s for one in every]
        return self.slowness * max(0.0, _mean_of(gates_s, ASSUMED_GATE_S)) + kept.start_s

    def until_first_server_s(self, *, has_database: bool) -> float:
        """Seconds of a run before its first server, with the start of the program.

        Args:
            has_database: Whether PostgreSQL starts in it.
        """
        program_s = ASSUMED_PROGRAM_S if self.program_s is None else self.program_s
        begin_s = ASSUMED_BEGIN_S if self.begin_s is None else self.begin_s
        if has_database:
            kept = self.begin_with_database_s
            begin_s = begin_s + ASSUMED_DATABASE_S if kept is None else kept
        return self.slowness * (program_s + begin_s)

    def report_s(self, trials: int) -> float:
        """Seconds of the report of some trials, by the reports of the nearest number of trials.

        Args:
            trials: Their number.
        """
        sizes = self.report_factors
        nearest = min(sizes, key=lambda one: abs(one - size_class(trials)), default=None)
        return self.slowness * report_s(trials) * (1.0 if nearest is None else sizes[nearest])


@dataclass(frozen=True)
class PlanTiming:
    """How trials follow each other, as far as it takes time.

    Attributes:
        cool_down_s: Pause between two trials, or two groups in turns, in seconds.
        idle_s: Seconds for which the idle host is read before and after each of them.
        turn_s: Length of a turn in seconds; 0 where each trial has a server of its own.
        has_gate: Whether each framework passes the compliance gate first.
        has_database: Whether PostgreSQL runs beside the servers.
    """

    cool_down_s: float = 0.0
    idle_s: float = 0.0
    turn_s: float = 0.0
    has_gate: bool = False
    has_database: bool = False

    @classmethod
    def of(cls, campaign: Campaign) -> Self:
        """That of a campaign."""
        return cls(
            campaign.cool_down_s,
            campaign.idle_s,
            campaign.turn_s,
            has_gate=campaign.compliance,
            has_database=any(one.database is not None for one in campaign.endpoints),
        )

    def parts(self, trials: Sequence[Trial]) -> tuple[tuple[Trial, ...], ...]:
        """Trials between two pauses: groups in turns, else each alone."""
        return plan.groups(trials) if self.turn_s else tuple((trial,) for trial in trials)

    def turns(self, trial: Trial) -> int:
        """How many turns a trial has: one before its holds, and those in them."""
        if not self.turn_s:
            return 0
        before_s = trial.load.before_holds_s
        return bool(before_s) + math.ceil((trial.load.duration_s - before_s) / self.turn_s)

    @property
    def idle_around_s(self) -> float:
        """Seconds that reading the idle host takes before and after a part, with its pauses."""
        return 2 * (self.idle_s + SETTLE_S) if self.idle_s else 0.0


NOTHING_KNOWN = Paces()
"""The paces of a host on which nothing ran."""

AT_ONCE = PlanTiming()
"""Trials with servers of their own, without pauses."""


@dataclass(frozen=True)
class PlanEstimate:
    """Time and disk space that a plan needs.

    Attributes:
        trials: Number of trials.
        load_s: Time under load, in seconds.
        duration_s: Total time of `run` in seconds: loads, pauses, the rest of each trial, report,
            and `searches_s`.
        requests: Requests sent.
        bytes: Size of their records before compression, all trials together.
        largest_trial_bytes: The same for the trial with the most requests.
        assumed_trials: Trials whose framework never ran on this host.
        slowness: How many times as long as alone what is computed takes now, because others use
            the processor.
        least_s: The total time if all were as short as the shortest of earlier runs.
        most_s: The same if all were as long as the longest.
        searches_s: The most that searches of load lines take, in seconds; 0 for none. Their tries
            count in no other number but the total times.
    """

    trials: int
    load_s: float
    duration_s: float
    requests: int
    bytes: int
    largest_trial_bytes: int
    assumed_trials: int
    slowness: float = 1.0
    least_s: float = 0.0
    most_s: float = 0.0
    searches_s: float = 0.0

    @property
    def is_scattered(self) -> bool:
        """Whether earlier runs differ so much that the total time is a range."""
        return self.most_s > SCATTERED * self.least_s


def estimate(
    trials: Sequence[Trial],
    timing: PlanTiming = AT_ONCE,
    paces: Paces = NOTHING_KNOWN,
    *,
    with_report: bool = True,
    line: LineSettings | None = None,
) -> PlanEstimate:
    """Time and disk space that some trials need.

    The number of requests of a closed load depends on the server: it is taken from the pace, up to
    the limits of the load: its think time and its number of requests. An open load defines it.

    Args:
        trials: The trials.
        timing: How they follow each other.
        paces: What is known of this host.
        with_report: Whether the begin of the run and its report count.
        line: What is searched after the trials; None for nothing.
    """
    requests = _requests_of_each(trials, paces)
    every = (paces, *paces.extremes)
    searches_s = [_searches_s(trials, line, timing, one) if line else 0.0 for one in every]
    durations_s = [
        _run_s(trials, timing, one, with_report=with_report) + searched_s
        for one, searched_s in zip(every, searches_s, strict=True)
    ]
    return PlanEstimate(
        trials=len(trials),
        load_s=loads_s(trials, paces),
        duration_s=durations_s[0],
        requests=sum(requests),
        bytes=sum(requests) * REQUEST_BYTES,
        largest_trial_bytes=max(requests, default=0) * REQUEST_BYTES,
        assumed_trials=sum(trial.framework.reference not in paces.frameworks for trial in trials),
        slowness=paces.slowness,
        least_s=min(durations_s),
        most_s=max(durations_s),
        searches_s=searches_s[0],
    )


def _searches_s(
    trials: Sequence[Trial], line: LineSettings, timing: PlanTiming, paces: Paces
) -> float:
    """The most that the searches of load lines take: their budgets, and what these leave out.

    A budget has no pauses and no longer warm-ups of frameworks, and each try is in the report.
    """
    entries = {(one.endpoint.name, one.framework.reference): one for one in trials}.values()
    tries = [_most_tries(one, line, paces) for one in entries]
    beside_s = (
        count * (timing.cool_down_s + timing.idle_around_s + longer_warm_up_s(one.framework, line))
        for count, one in zip(tries, entries, strict=True)
    )
    every = len(trials) + sum(tries)
    report_s = paces.report_s(every) - paces.report_s(len(trials))
    return line.budget_s * len(tries) + sum(beside_s) + max(0.0, report_s)


def _most_tries(trial: Trial, line: LineSettings, paces: Paces) -> int:
    """How many tries of the shortest length fit into the budget of an entry; the first always."""
    load_s = line.tried(1.0, line.usual_hold_s).duration_s + line.server_warm_up_s
    around_s = paces.of(trial).start_s + paces.around_s(trial, takes_turns=False)
    return max(1, math.floor(line.budget_s / (load_s + around_s)))


def longer_warm_up_s(framework: Framework, line: LineSettings) -> float:
    """Seconds by which a framework's warm-up is longer than that which a try's budget has.

    Args:
        framework: The framework.
        line: What is searched.
    """
    return max(0.0, framework.warm_up_s - (line.server_warm_up_s or line.warm_up_s))


def _run_s(
    trials: Sequence[Trial], timing: PlanTiming, paces: Paces, *, with_report: bool
) -> float:
    duration_s = conducting_s(trials, timing, paces)
    duration_s += ROW_S * sum(_requests_of_each(trials, paces))
    if with_report and trials:
        duration_s += EXIT_S
        duration_s += paces.until_first_server_s(has_database=timing.has_database)
        duration_s += paces.report_s(len(trials))
    return duration_s


def conducting_s(trials: Sequence[Trial], timing: PlanTiming, paces: Paces) -> float:
    """Seconds that some trials take, without what depends on the number of requests."""
    parts = timing.parts(trials)
    pauses_s = timing.idle_around_s * len(parts) + timing.cool_down_s * max(0, len(parts) - 1)
    around_s = sum(paces.around_s(one, takes_turns=bool(timing.turn_s)) for one in trials)
    return (
        loads_s(trials, paces)
        + sum(starts_s(part, paces) for part in parts)
        + around_s
        + paces.around_turn_s * sum(map(timing.turns, trials))
        + pauses_s
        + (_gates_s(trials, paces) if timing.has_gate else 0.0)
    )


def loads_s(trials: Sequence[Trial], paces: Paces = NOTHING_KNOWN) -> float:
    """Length of the loads of some trials, with those that only warm up their servers.

    A load with a number of requests may end earlier.

    Args:
        trials: The trials.
        paces: What is known of this host.
    """
    return plan.start_warm_ups_s(trials) + sum(
        _load_s(trial.load, _rate(trial, paces)) for trial in trials
    )


def starts_s(part: Sequence[Trial], paces: Paces) -> float:
    """Seconds of the starts of the servers of a trial, or of a group in turns."""
    of_each = {trial.framework.reference: paces.of(trial).start_s for trial in part}
    return sum(of_each[name] * count for name, count in plan.servers_of_each(part).items())


def report_s(trials: int) -> float:
    """Seconds that the report of some trials is assumed to take."""
    return REPORT_S + REPORT_PER_TRIAL_S * trials if trials else 0.0


def size_class(trials: int) -> int:
    """How large a report is, as a power of two: most of a small one is not about its trials."""
    return max(0, trials).bit_length()


def _gates_s(trials: Sequence[Trial], paces: Paces) -> float:
    return sum({one.framework.reference: paces.examined_s(one) for one in trials}.values())


def _mean_of(found: Sequence[float | None], assumed: float) -> float:
    """The mean of what is known; where nothing is, what is assumed."""
    known = [one for one in found if one is not None]
    return fmean(known) if known else assumed


def _requests_of_each(trials: Sequence[Trial], paces: Paces) -> list[int]:
    return [_requests(trial.load, _rate(trial, paces)) for trial in trials]


def _rate(trial: Trial, paces: Paces) -> float:
    return paces.rate(trial.framework, trial.endpoint.name)


def _load_s(load: Load, requests_per_s: float) -> float:
    if load.request_limit is None or load.model == "open":
        return load.duration_s
    left, before_s = float(load.request_limit), 0.0
    for stage in load.stages:
        rate_per_s = _stage_rate_per_s(load, stage, requests_per_s)
        sent = rate_per_s * stage.duration_s
        if sent >= left:
            return before_s + left / rate_per_s
        left, before_s = left - sent, before_s + stage.duration_s
    return before_s


def _requests(load: Load, requests_per_s: float) -> int:
    total = sum(
        _stage_rate_per_s(load, stage, requests_per_s) * stage.duration_s for stage in load.stages
    )
    return round(total if load.request_limit is None else min(total, load.request_limit))


def _stage_rate_per_s(load: Load, stage: Stage, requests_per_s: float) -> float:
    """Requests per second in a stage: of an open load its own, else what pace and load allow."""
    level = stage.mean_level
    if load.model == "open":
        return level
    if load.think_time_s > 0:
        return min(requests_per_s, level / load.think_time_s)
    return requests_per_s if level > 0 else 0.0
