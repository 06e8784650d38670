"""Paces: what trials and reports took on this host, so that the next plan is estimated well.

They are in a user file, and may be deleted. What is mostly computing is kept as it would take if
nobody else used the processor. Of each quantity the last runs are kept. An estimate takes the
shortest of those on a machine that was used least: what others use only makes a run longer
(decision 141).
"""

from __future__ import annotations

import math
import re
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from plimsoll import estimates, events, plan
from plimsoll.estimates import FrameworkPace, Paces, PlanTiming
from plimsoll.lab import kept_paces
from plimsoll.lab.kept_paces import HOST, OF_CHECK, Kept, Series, framework_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from plimsoll.campaign.framework import Framework
    from plimsoll.events import Event, Listener
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording

    _Ended = tuple[Trial, Recording]
    """A trial that is over, and what happened."""

AS_QUIET = 1.15
"""Slowness of a run / the least of those kept up to which both count as equally quiet."""

MOST_SLOWNESS = 3.0
"""The most that a machine in use is taken to be slower for as long as a run.

Measured on two cores that builds and tests used too: seven runs were slowed by 1.2 to 4.3, while
the half second of computing before them took 1.9 to 8 times as long as alone.
"""

RECENT_S = 3600.0
"""For so long the last run says how busy the machine is, in seconds."""

QUIET_PERCENT = 5.0
"""Share of the last minute in which some task waited for a core, up to which a machine is quiet."""

PRESSURE = Path("/proc/pressure/cpu")
"""How long tasks waited for a core; the kernel's document on pressure stall information."""

OWN_TIMES = Path("/proc/thread-self/schedstat")
"""How long this thread ran and waited; the kernel's document on scheduler statistics."""

BESIDE_S = 1.5
"""Seconds of a trial besides its load, its server and contract: versions, digests, verdicts."""

START, BESIDE, IN_TURNS, GATE, RATE = "start", "beside", "in turns", "gate", "rate "
"""Names of the quantities of a framework; the rate has its endpoint behind it."""

TURN, PROGRAM, REPORT = "turn", "program", "report "
BEGIN, BEGIN_WITH_DATABASE = "begin", "begin with database"
"""Names of those of the host; the report has its class of size behind it."""


@dataclass(frozen=True)
class _Choice:
    """How one number is made of those of several runs.

    Attributes:
        time: That of a time.
        rate: That of a rate of requests.
    """

    time: Callable[[Series], float]
    rate: Callable[[Series], float]


def known(frameworks: Iterable[Framework]) -> Paces:
    """What is known of this host and of some frameworks."""
    kept, now = kept_paces.read(), slowness()
    if not kept.quantities:
        return replace(estimates.NOTHING_KNOWN, slowness=now)
    references = {_key(one): one.reference for one in frameworks}
    last = _last_slowness(kept, now)
    extremes = (
        replace(_chosen(kept, references, LEAST), slowness=min(now, last)),
        replace(_chosen(kept, references, MOST), slowness=max(now, last)),
    )
    usual = _chosen(kept, references, USUAL)
    return replace(usual, slowness=math.sqrt(now * last), extremes=extremes)


def _chosen(kept: Kept, references: Mapping[str, str], choice: _Choice) -> Paces:
    """What is kept as one number for each quantity."""
    paces = {
        key: _framework_pace(series, choice)
        for key, series in kept.quantities.items()
        if START in series
    }
    host = {name: choice.time(one) for name, one in kept.quantities.get(HOST, {}).items()}
    return Paces(
        frameworks={references[key]: one for key, one in paces.items() if key in references},
        others=tuple(one for key, one in paces.items() if key not in references),
        turn_s=host.get(TURN),
        program_s=host.get(PROGRAM),
        begin_s=host.get(BEGIN),
        begin_with_database_s=host.get(BEGIN_WITH_DATABASE),
        report_factors={
            int(name.removeprefix(REPORT)): factor
            for name, factor in host.items()
            if name.startswith(REPORT)
        },
        last_slowness=kept.last_slowness,
        last_at_s=kept.last_at_s,
    )


def _framework_pace(series: Mapping[str, Series], choice: _Choice) -> FrameworkPace:
    def time_s(name: str) -> float | None:
        return choice.time(series[name]) if name in series else None

    rates = {
        name.removeprefix(RATE): choice.rate(one)
        for name, one in series.items()
        if name.startswith(RATE)
    }
    return FrameworkPace(
        start_s=choice.time(series[START]),
        beside_s=time_s(BESIDE),
        in_turns_s=time_s(IN_TURNS),
        gate_s=time_s(GATE),
        requests_per_s=rates,
    )


def _on_quiet(series: Series) -> list[float]:
    """The values of the runs during which the machine was used least, in order."""
    quiet = AS_QUIET * min(one.slowness for one in series)
    return sorted(one.value for one in series if one.slowness <= quiet)


def _shortest(series: Series) -> float:
    """The shortest of up to four runs on a quiet machine; of five, the second."""
    values = _on_quiet(series)
    return values[(len(values) - 1) // 4]


def _fastest(series: Series) -> float:
    """The greatest rate of up to four runs on a quiet machine; of five, the second."""
    values = _on_quiet(series)
    return values[-1 - (len(values) - 1) // 4]


def _least(series: Series) -> float:
    return min(one.value for one in series)


def _most(series: Series) -> float:
    return max(one.value for one in series)


USUAL = _Choice(_shortest, _fastest)
"""What an estimate takes."""

LEAST, MOST = _Choice(_least, _least), _Choice(_most, _most)
"""The ends of its range."""


def _last_slowness(kept: Kept, now: float) -> float:
    """That of the last run, where the machine may still be as busy; else what is seen now.

    What this thread has seen is half a second, in which others may have been idle by chance; where
    hardly a task waited in the last minute, they were not. The next run is expected to be between.
    """
    is_recent = 0 <= time.time() - kept.last_at_s < RECENT_S
    return kept.last_slowness if is_recent and not is_quiet() else now


def is_quiet() -> bool:
    """Whether hardly a task of this machine waited for a core in the last minute; else unknown."""
    try:
        found = re.search(r"^some .*avg60=([\d.]+)", PRESSURE.read_text("ascii"), re.MULTILINE)
    except OSError:
        return False
    return found is not None and float(found[1]) < QUIET_PERCENT


def slowness() -> float:
    """How many times as long as alone this thread took so far: from 1 to `MOST_SLOWNESS`.

    It is the time that it was ready to run, over the time that it ran; 1 where the kernel counts
    neither.
    """
    try:
        ran_ns, waited_ns, _slices = map(int, OWN_TIMES.read_text("ascii").split())
    except (OSError, ValueError):
        return 1.0
    return min(MOST_SLOWNESS, (ran_ns + waited_ns) / ran_ns) if ran_ns else 1.0


def keep_report(trials: int, passed_s: float) -> None:
    """Keeps how long a report took.

    Args:
        trials: The number of its trials; without any, nothing is kept.
        passed_s: Seconds that it took.
    """
    if trials:
        factor = passed_s / slowness() / estimates.report_s(trials)
        _keep(_new_run(), HOST, {f"{REPORT}{estimates.size_class(trials)}": factor})


def keep_program(started_s: float) -> None:
    """Keeps how long the program of a run took to start.

    Args:
        started_s: Seconds from the start of its process until the run was asked for.
    """
    _keep(_new_run(), HOST, {PROGRAM: started_s / slowness()})


def keep_check(framework: Framework, started_and_stopped_s: float, checked_s: float) -> None:
    """Keeps what a check tells of trials to come, unless there were trials.

    Args:
        framework: The framework.
        started_and_stopped_s: Seconds of its start and of its stop.
        checked_s: Mean seconds of the contract check of an endpoint; a trial has two.
    """
    if framework.reference not in known([framework]).frameworks:
        beside_s = 2 * checked_s / slowness() + BESIDE_S
        pace = FrameworkPace(started_and_stopped_s, beside_s=beside_s)
        _keep(OF_CHECK, _key(framework), _quantities(pace))


def _new_run() -> str:
    return str(time.time_ns())


@dataclass
class _Turns:
    """What turns of a group take besides their loads.

    Attributes:
        warm_ups_s: Length of the loads that only warm up its servers, which come first.
        at_s: When the last turn ended, or the group began, in seconds of the monotonic clock.
        rests_s: Framework to the seconds of the rests in its warm-up.
    """

    warm_ups_s: float = 0.0
    at_s: float = 0.0
    rests_s: dict[str, float] = field(default_factory=dict[str, float])
    _load_s: float = 0.0
    _between_s: list[float] = field(default_factory=list[float])

    def take(self, event: events.TurnEnded, now_s: float) -> None:
        """Notes a turn, or a pulse of a warm-up.

        Args:
            event: Its end.
            now_s: When that was, in seconds of the monotonic clock.
        """
        load_s = event.progress.at_s
        apart_s = now_s - self.at_s - (load_s - self._load_s)
        is_first, self.at_s, self._load_s = not self._load_s, now_s, load_s
        if is_first:
            return
        if load_s <= self.warm_ups_s:
            name = event.trial.framework.reference
            self.rests_s[name] = self.rests_s.get(name, 0.0) + apart_s
        else:
            self._between_s.append(apart_s)

    @property
    def around_s(self) -> float:
        """Seconds around a turn; where an endpoint follows another, there are more."""
        return median(self._between_s) if self._between_s else 0.0


@dataclass
class PaceKeeper:
    """A listener that passes events on, and keeps the pace of each trial that completes.

    Attributes:
        on_event: The listener that events are passed on to.
        timing: How trials follow each other.
        run_begun_s: When the run began, in seconds of the monotonic clock; None where its begin
            says nothing of the next, because something was built or hosts joined.
    """

    on_event: Listener
    timing: PlanTiming = estimates.AT_ONCE
    run_begun_s: float | None = None
    _run: str = field(default_factory=_new_run)
    _begun_s: float = 0.0
    _ended: list[_Ended] = field(default_factory=list["_Ended"])
    _turns: _Turns = field(default_factory=_Turns)
    _examined: tuple[Framework, float] | None = None
    _gates_s: dict[str, float] = field(default_factory=dict[str, float])

    def __call__(self, event: Event) -> None:
        """Passes an event on."""
        now_s = time.monotonic()
        self._note_gate(now_s)
        match event:
            case events.TrialStarted():
                self._begin((event.trial,), now_s)
            case events.GroupStarted():
                self._begin(event.trials, now_s)
            case events.TurnEnded():
                self._turns.take(event, now_s)
            case events.Step():
                self._keep(now_s)
                self._examined = (event.examined, now_s) if event.examined else None
            case events.CoolingDown() | events.CampaignEnded():
                self._keep(now_s)
            case _:
                pass
        self.on_event(event)
        if isinstance(event, events.TrialEnded):
            self._ended.append((event.trial, event.recording))

    def _begin(self, trials: Sequence[Trial], now_s: float) -> None:
        """Trials begin; those before them are over."""
        self._keep(now_s)
        if self.run_begun_s is not None:
            begin_s, self.run_begun_s = now_s - self.run_begun_s, None
            name = BEGIN_WITH_DATABASE if self.timing.has_database else BEGIN
            passed_s = begin_s - sum(self._gates_s.values())
            _keep(self._run, HOST, {name: passed_s / slowness()})
        self._begun_s = now_s
        self._turns = _Turns(plan.start_warm_ups_s(trials), now_s)

    def _note_gate(self, now_s: float) -> None:
        """Notes what the compliance gate of a framework took that is over."""
        if self._examined is not None:
            (framework, begun_s), self._examined = self._examined, None
            self._gates_s[framework.reference] = now_s - begun_s

    def _keep(self, now_s: float) -> None:
        """Keeps what the trials took that ran since the last beginning."""
        if not self._ended:
            return
        ended, self._ended = self._ended, []
        found = self._measured(ended, now_s - self._begun_s)
        if not found:
            return
        if self.timing.turn_s:
            _keep(self._run, HOST, {TURN: self._turns.around_s})
        for framework, pace in found:
            _keep(self._run, _key(framework), _quantities(pace))

    def _measured(
        self, ended: Sequence[_Ended], passed_s: float
    ) -> list[tuple[Framework, FrameworkPace]]:
        """What a trial, or each of a group, says of its framework; nothing of one that failed.

        What none of them has taken alone, they took alike.
        """
        trials = [trial for trial, _ in ended]
        starts_s = {trial.framework.reference: self._start_s(trial, one) for trial, one in ended}
        servers = plan.servers_of_each(trials)
        counted_s = (
            estimates.loads_s(trials)
            + estimates.ROW_S * sum(_sent(one) for _, one in ended)
            + sum(starts_s[name] * count for name, count in servers.items())
            + self._turns.around_s * sum(map(self.timing.turns, trials))
            + self.timing.idle_around_s
        )
        around_s = max(0.0, (passed_s - counted_s) / len(ended))
        return [
            (trial.framework, self._pace(trial, one, starts_s, around_s))
            for trial, one in ended
            if one.ending.kind == "completed" and _sent(one)
        ]

    def _pace(
        self, trial: Trial, recording: Recording, starts_s: Mapping[str, float], around_s: float
    ) -> FrameworkPace:
        name = trial.framework.reference
        load = trial.load
        slower, gate_s = slowness(), self._gates_s.get(name)
        has_rate = load.is_saturating and load.request_limit is None
        rates = {trial.endpoint.name: _sent(recording) / load.duration_s} if has_rate else {}
        return FrameworkPace(
            start_s=starts_s[name],
            beside_s=None if self.timing.turn_s else around_s / slower,
            in_turns_s=around_s / slower if self.timing.turn_s else None,
            gate_s=None if gate_s is None else gate_s / slower,
            requests_per_s=rates,
        )

    def _start_s(self, trial: Trial, recording: Recording) -> float:
        """Seconds of the start of a server, with the rests in its warm-up."""
        server_s = (recording.server.start_s if recording.server else None) or 0.0
        rests_s = max(0.0, recording.warming_s - trial.start_warm_up_s)
        return server_s + rests_s + self._turns.rests_s.get(trial.framework.reference, 0.0)


def _sent(recording: Recording) -> int:
    return (recording.driver.sent if recording.driver else None) or 0


def _key(framework: Framework) -> str:
    return framework_key(framework.folder, framework.variant)


def _quantities(pace: FrameworkPace) -> dict[str, float]:
    """A pace as quantities with their names, without those that are unknown."""
    times_s = {
        START: pace.start_s,
        BESIDE: pace.beside_s,
        IN_TURNS: pace.in_turns_s,
        GATE: pace.gate_s,
    }
    known = {name: value for name, value in times_s.items() if value is not None}
    rates = {f"{RATE}{endpoint}": rate for endpoint, rate in pace.requests_per_s.items()}
    return {**known, **rates}


def _keep(run: str, key: str, values: Mapping[str, float]) -> None:
    """Keeps quantities of a run, of a framework or of the host; trials say how busy it was."""
    now = slowness()
    kept = kept_paces.add(kept_paces.read(), run, now, {key: values})
    if key != HOST and run != OF_CHECK:
        kept = replace(kept, last_slowness=now, last_at_s=time.time())
    kept_paces.write(kept)
