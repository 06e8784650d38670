"""Paces: what trials and reports took on this host, so that the next plan is estimated well.

They are in a user file, and may be deleted. What is mostly computing is kept as it would take if
nobody else used the processor. Each is a mean in which what came last counts most, so a faster
framework is known after a few trials. What a busy machine took counts less.
"""

from __future__ import annotations

import json
import math
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from plimsoll import capacity, estimates, events, plan
from plimsoll.estimates import Course, FrameworkPace, Paces

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plimsoll.campaign.framework import Framework
    from plimsoll.events import Event, Listener
    from plimsoll.plan import Trial
    from plimsoll.recording import Recording

    _Ended = tuple[Trial, Recording]
    """A trial that is over, and what happened."""

WEIGHT = 1 / 3
"""Weight of what came last in a mean, on a machine that nobody else used."""

MOST_SLOWNESS = 3.0
"""The most that a machine in use is taken to be slower for as long as a run.

Measured on two cores that builds and tests used too: seven runs were slowed by 1.2 to 4.3, while
the half second of computing before them took 1.9 to 8 times as long as alone.
"""

RECENT_S = 3600.0
"""For so long the last run says how busy the machine is, in seconds."""

OWN_TIMES = Path("/proc/thread-self/schedstat")
"""How long this thread ran and waited; the kernel's document on scheduler statistics."""

BESIDE_S = 1.5
"""Seconds of a trial besides its load, its server and contract: versions, digests, verdicts."""


def known(frameworks: Iterable[Framework]) -> Paces:
    """What is known of this host and of some frameworks."""
    kept = _read()
    keys = {_key(one): one.reference for one in frameworks}
    of_each = {keys[key]: pace for key, pace in kept.frameworks.items() if key in keys}
    others = tuple(pace for key, pace in kept.frameworks.items() if key not in keys)
    expected = _expected_slowness(kept)
    return replace(kept, frameworks=of_each, others=others, slowness=expected)


def _expected_slowness(kept: Paces) -> float:
    """That of the next run: the geometric mean of now and of the last run, if that is recent.

    What this thread has seen is half a second, in which others may have been idle by chance.
    """
    age_s = time.time() - kept.last_at_s
    return math.sqrt(slowness() * kept.last_slowness) if 0 <= age_s < RECENT_S else slowness()


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
        kept, size = _read(), estimates.size_class(trials)
        factor = passed_s / slowness() / estimates.report_s(trials)
        factor = _mean(kept.report_factors.get(size, factor), factor)
        _write(replace(kept, report_factors={**kept.report_factors, size: factor}))


def keep_program(started_s: float) -> None:
    """Keeps how long the program of a run took to start.

    Args:
        started_s: Seconds from the start of its process until the run was asked for.
    """
    kept = _read()
    _write(replace(kept, program_s=_either(kept.program_s, started_s / slowness())))


def keep_check(framework: Framework, started_and_stopped_s: float, checked_s: float) -> None:
    """Keeps what a check tells of trials to come, unless there were trials.

    Args:
        framework: The framework.
        started_and_stopped_s: Seconds of its start and of its stop.
        checked_s: Mean seconds of the contract check of an endpoint; a trial has two.
    """
    if framework.reference not in known([framework]).frameworks:
        beside_s = 2 * checked_s / slowness() + BESIDE_S
        _keep([(_key(framework), FrameworkPace(started_and_stopped_s, beside_s=beside_s))])


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
        course: How trials follow each other.
        run_begun_s: When the run began, in seconds of the monotonic clock; None where its begin
            says nothing of the next, because something was built or hosts joined.
    """

    on_event: Listener
    course: Course = estimates.AT_ONCE
    run_begun_s: float | None = None
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
            _keep_begin(begin_s - sum(self._gates_s.values()), self.course)
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
        if found:
            turn_s = self._turns.around_s if self.course.turn_s else None
            _keep([(_key(one), pace) for one, pace in found], turn_s)

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
            + self._turns.around_s * sum(map(self.course.turns, trials))
            + self.course.idle_around_s
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
            beside_s=None if self.course.turn_s else around_s / slower,
            in_turns_s=around_s / slower if self.course.turn_s else None,
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


def _keep(measured: Iterable[tuple[str, FrameworkPace]], turn_s: float | None = None) -> None:
    """Keeps paces with earlier ones, and forgets frameworks whose folder is gone.

    Without a writable file, nothing is kept.
    """
    earlier = _read()
    kept = {key: pace for key, pace in earlier.frameworks.items() if _folder(key).is_dir()}
    for key, pace in measured:
        kept[key] = _merged(kept[key], pace) if key in kept else pace
    _write(
        replace(
            earlier,
            frameworks=kept,
            turn_s=_either(earlier.turn_s, turn_s),
            last_slowness=slowness(),
            last_at_s=time.time(),
        )
    )


def _keep_begin(passed_s: float, course: Course) -> None:
    """Keeps how long a run took until its first server."""
    kept, passed_s = _read(), passed_s / slowness()
    if course.has_database:
        begin_s = _either(kept.begin_with_database_s, passed_s)
        _write(replace(kept, begin_with_database_s=begin_s))
    else:
        _write(replace(kept, begin_s=_either(kept.begin_s, passed_s)))


def _merged(earlier: FrameworkPace, now: FrameworkPace) -> FrameworkPace:
    """Both as one; what only one of them has is taken from it."""
    rates = {
        name: _mean(earlier.requests_per_s.get(name, rate), rate)
        for name, rate in now.requests_per_s.items()
    }
    return FrameworkPace(
        start_s=_mean(earlier.start_s, now.start_s),
        beside_s=_either(earlier.beside_s, now.beside_s),
        in_turns_s=_either(earlier.in_turns_s, now.in_turns_s),
        gate_s=_either(earlier.gate_s, now.gate_s),
        requests_per_s={**earlier.requests_per_s, **rates},
    )


def _either(earlier: float | None, now: float | None) -> float | None:
    if earlier is None or now is None:
        return earlier if now is None else now
    return _mean(earlier, now)


def _mean(earlier: float, now: float) -> float:
    """What came last counts less, the busier the machine was: less of it can be taken off."""
    return earlier + WEIGHT / slowness() ** 2 * (now - earlier)


def _write(paces: Paces) -> None:
    with suppress(OSError, RuntimeError):
        path = _file()
        partial = path.with_name(f"{path.name}.{os.getpid()}")
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(asdict(paces)), "utf-8")
        partial.replace(path)


def _key(framework: Framework) -> str:
    return f"{framework.folder.resolve()}:{framework.variant}"


def _folder(key: str) -> Path:
    return Path(key.rpartition(":")[0])


def _read() -> Paces:
    """All that is kept; nothing of what is damaged, or of an earlier form."""
    try:
        content = json.loads(_file().read_text("utf-8"))
        frameworks = {key: FrameworkPace(**one) for key, one in content["frameworks"].items()}
        return Paces(
            frameworks,
            content["turn_s"],
            content.get("program_s"),
            content["begin_s"],
            content["begin_with_database_s"],
            {int(size): factor for size, factor in content["report_factors"].items()},
            last_slowness=content.get("last_slowness", 1.0),
            last_at_s=content.get("last_at_s", 0.0),
        )
    except (OSError, RuntimeError, ValueError, TypeError, AttributeError, KeyError):
        return estimates.NOTHING_KNOWN


def _file() -> Path:
    return capacity.state_folder() / "paces.json"
