"""One trial among those that take turns: its load, its turns, and what is read in them."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.conduct import recomputed_bodies, recording, runtime_warm_up, sampled_bodies
from plimsoll.conduct import trial as one_trial
from plimsoll.conduct.database_at_turns import DatabaseAtTurns
from plimsoll.conduct.trial_state import TrialState
from plimsoll.drivers import turning
from plimsoll.drivers.turning import DriverUse
from plimsoll.errors import DriverError, FrameworkError, HostLost
from plimsoll.processes import cpu_clock
from plimsoll.processes.tree import ProcessTree
from plimsoll.recording.readings import Reading
from plimsoll.recording.turns import Turn
from plimsoll.sampling import control, rests
from plimsoll.sampling.rests import TurnReadings
from plimsoll.sampling.scope import Scope
from plimsoll.storage.parquet import writing

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.drivers.job import DriverJob, DriverResult
    from plimsoll.drivers.turning import EngineTurn, TurningLoad
    from plimsoll.events import Listener, Progress
    from plimsoll.plan import Trial
    from plimsoll.recording.readings import ScopeName
    from plimsoll.serving.place import PlacedServer
    from plimsoll.serving.server_turns import ServerTurn, ServerTurns

BESIDE: tuple[ScopeName, ...] = ("driver", "database", "upstream")
"""Scopes of this host beside a server: read before it, and its machine, and after both."""

Passed = Callable[["Trial", "EngineTurn", "Progress"], None]
"""Told of a turn that is over, with the state of its load."""


@dataclass(frozen=True)
class ServerAtTurn:
    """A server that runs.

    Attributes:
        server: The server.
        turns: Its side of turns.
    """

    server: PlacedServer
    turns: ServerTurns


@dataclass
class GroupMember:
    """One trial among those that take turns."""

    known: TrialState
    into: Path
    readings: TurnReadings = field(default_factory=TurnReadings)
    turns: list[Turn] = field(default_factory=list[Turn])
    _processes: ExitStack = field(default_factory=ExitStack)
    _start: ServerAtTurn | None = None
    _load: TurningLoad | None = None
    _driver: ProcessTree | None = None
    _thorough_ns: int = 0
    _passed_ns: int = 0
    _ends_ns: list[int] = field(default_factory=list[int])

    def __post_init__(self) -> None:
        """Its database may be on a host of its own."""
        self._database = DatabaseAtTurns(self.known)

    @classmethod
    def of(cls, trial: Trial, setting: RunConfig, into: Path) -> GroupMember:
        """Know the trial, before anything runs."""
        known = TrialState(trial, setting, provenance=one_trial.provenance_of(trial, setting))
        return cls(known, into)

    @property
    def log(self) -> Path:
        """The log of its server."""
        return self.into / "server.log"

    @property
    def has_failed(self) -> bool:
        """Whether an error ended it."""
        return self.known.ending.kind != "completed"

    @property
    def is_working(self) -> bool:
        """Whether turns of its load are left."""
        return self._load is not None and not self._load.has_ended

    @property
    def response_s(self) -> float:
        """Mean response time in its last turn, in seconds; infinite where that had no response.

        Source: J. D. C. Little, A proof for the queuing formula L = λW, 1961.
        """
        load, last = self.known.trial.load, self.turns[-1] if self.turns else None
        if last is None or not last.requests:
            return math.inf
        in_flight = load.peak_connections * load.in_flight_each
        return in_flight * last.duration_ns / last.requests / 1e9

    def leave(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops its load if it runs."""
        self._processes.__exit__(kind, error, trace)

    def examine(self, start: ServerAtTurn, tell: Listener) -> None:
        """Checks the contract with the server that it has."""
        self._start = start
        try:
            one_trial.examine(self.known, start.server, tell)
        except FrameworkError as error:
            self.fail(error)

    def load_unrecorded(self, length_s: float, passed: Passed) -> DriverResult | None:
        """Loads the server as its own load begins, without a recording; None where that failed."""
        try:
            with self.unrecorded(length_s) as load:
                turn, driven = runtime_warm_up.pulse(load, length_s)
        except (DriverError, HostLost) as error:
            self.fail(error)
            return None
        passed(self.known.trial, turn, turn.progress)
        return driven

    def unrecorded(self, length_s: float) -> AbstractContextManager[TurningLoad]:
        """A load that rests, of the kind that its own begins with; it is not recorded.

        Args:
            length_s: For how long it works in all its turns together, in seconds.
        """
        return runtime_warm_up.unrecorded(
            partial(one_trial.job_of, self.known), length_s, self._started
        )

    def begin(self) -> None:
        """Has its load rest until the first turn, unless it has failed."""
        start, known = self._start, self.known
        if start is None or self.has_failed:
            return
        try:
            start.server.check_alive()
            load = self._started(one_trial.job_of(known, self.into))
            self._load = self._processes.enter_context(load)
            if self._load.process is not None:
                self._driver = ProcessTree(self._load.process, with_root=False)
                address = known.server.address if known.server else ""
                known.sampler.watch(Scope("driver", self._driver, peer=address))
            for each in one_trial.third_parties(known):
                known.sampler.watch(each)
            self._database.begin(self._processes)
        except (FrameworkError, DriverError, HostLost) as error:
            self.fail(error)

    def warm_up(self, tell: Listener) -> EngineTurn | None:
        """Has all before its holds in one turn, and settles; None where there is no such turn.

        Nobody else works meanwhile, so the server may use every core, as before its first trial.
        """
        if self._start is None:
            return None
        turns, length_s = self._start.turns, self.known.trial.load.before_holds_s
        with turns.widened():
            turn = self.turn(length_s, 0, tell) if length_s else None
            if self.is_working:
                turns.settle()
        return turn

    def turn(self, duration_s: float, number: int, tell: Listener) -> EngineTurn | None:
        """Has its turn; None when the server or its load turned out to be gone."""
        load, start = self._load, self._start
        if load is None or start is None:
            return None
        duration_ns = round(duration_s * 1e9)
        try:
            turn, read = self._worked(load, start, duration_ns)
            self._keep(load, turn, read, ends_stage=not number or load.has_ended)
            recorded = turn_of(self.known.trial, number, turn, read.served, read.used)
            # The end of the load cuts the last turn short: requests began in all of it.
            planned_ns = min(duration_ns, recorded.duration_ns)
            self.turns.append(replace(recorded, planned_ns=planned_ns))
            if not read.served.is_alive:
                self.end(tell)
        except (FrameworkError, DriverError, HostLost) as error:
            self.fail(error)
            return None
        return turn

    def with_busy_cores(self, progress: Progress) -> Progress:
        """The state of the load after the last turn, with the cores kept busy in that turn."""
        last = self.turns[-1]
        cpu_ns = (last.server_cpu_ns, last.driver_cpu_ns)
        server, driver = (None if one is None else one / max(last.duration_ns, 1) for one in cpu_ns)
        return replace(progress, server_busy_cores=server, driver_busy_cores=driver)

    def note(self, took: Mapping[str, float]) -> None:
        """Keeps what the control took, at the time at which its load rests."""
        if self._load is not None:
            at_ns, host = self._load.zero_ns + self._passed_ns, self.known.setting.server_host
            found = control.readings(took, at_ns)
            self.known.control += [replace(one, host=host) for one in found]

    def note_others(self, paces: Mapping[int, float]) -> None:
        """Keeps the pace of those that it took turns with, by round, at the end of its own turn."""
        host = self.known.setting.server_host
        self.known.control += [
            Reading(at_ns, "machine", "others_pace_ratio", paces[turn.round], host)
            for turn, at_ns in zip(self.turns, self._ends_ns, strict=False)
            if turn.round in paces
        ]

    def end(self, tell: Listener) -> None:
        """Ends its load, and checks the contract again."""
        load, start = self._load, self._start
        if load is None or start is None:
            return
        self._load = None
        try:
            # A server that is found to work in this very rest is not frozen in it.
            self.known.was_frozen = start.turns.freezes
            start.turns.wake()
            self.known.driven = driven = load.finish()
            folders = [self.into / one.host for one in driven.hosts]
            checked = (self.known.exchanges, driven.stages, folders or [self.into])
            self.known.recomputed = recomputed_bodies.of(*checked)
            self.known.sampled_bodies = sampled_bodies.of(*checked)
            with writing(self.into):
                recording.convert_rows(self.into, recording.sources_of(driven.hosts, self.into))
                for folder in folders:
                    shutil.rmtree(folder, ignore_errors=True)
            start.server.check_alive()
            one_trial.verified("after", self.known, start.server, tell)
        except (FrameworkError, DriverError, HostLost) as error:
            self.known.fail(error)
        finally:
            self._rest(start)
            self._close()

    def lose(self, error: HostLost) -> None:
        """The host of its server is gone: its trial is over, unless it had been before."""
        if self.known.driven is None and not self.has_failed:
            self.fail(error)

    def fail(self, error: FrameworkError | DriverError | HostLost) -> None:
        """Its trial is over; what was read so far is kept."""
        self.known.fail(error)
        self._load = None
        self._close()

    @staticmethod
    def _rest(start: ServerAtTurn) -> None:
        """The server rests; whoever needs it next learns that its host is gone."""
        with suppress(HostLost):
            start.turns.rest()

    def _close(self) -> None:
        """Keeps what was read, and stops its load."""
        self.known.sampler.readings = self.readings.kept
        self.known.turns = tuple(self.turns)
        self.known.was_frozen = self._start is not None and self._start.turns.freezes
        self._processes.close()

    def _started(self, job: DriverJob) -> AbstractContextManager[TurningLoad]:
        """A load that rests, on this host or on those that generate all loads."""
        return (self.known.setting.turning or turning.started)(job)

    def _is_thorough(self, at_ns: int) -> bool:
        if at_ns - self._thorough_ns < rests.THOROUGH_EVERY_NS:
            return False
        self._thorough_ns = at_ns
        return True

    def _worked(
        self, load: TurningLoad, start: ServerAtTurn, duration_ns: int
    ) -> tuple[EngineTurn, _ReadAtTurn]:
        """Has all that takes part work for a turn, with what was read at both ends of it."""
        sampler, is_first = self.known.sampler, not self.turns
        self._database.read_before(thorough=is_first)
        before = sampler.read_alone(thorough=is_first, order=BESIDE)
        used_before = self._used()
        start.turns.begin(thorough=is_first)
        try:
            turn = load.turn(duration_ns)
        except BaseException:
            self._rest(start)
            raise
        thorough = self._is_thorough(turn.end_ns)
        served = start.turns.end(thorough=thorough)
        cpu_ns = cpu_clock.grown(used_before, self._used())
        after = sampler.read_alone(thorough=thorough, order=BESIDE)
        self._database.read_after(thorough=thorough)
        used = turn.used or DriverUse(cpu_ns, rests.delay_ns("driver", before, after))
        return turn, _ReadAtTurn(before, after, served, used)

    def _keep(
        self, load: TurningLoad, turn: EngineTurn, read: _ReadAtTurn, *, ends_stage: bool
    ) -> None:
        """Keeps what was read, without its rests."""
        begin_ns, end_ns = load.zero_ns + turn.start_ns, load.zero_ns + turn.end_ns
        self._passed_ns = turn.end_ns
        self._ends_ns.append(end_ns)
        self.readings.begin((*read.beside_before, *read.served.before), begin_ns)
        self.readings.end((*read.served.after, *read.beside_after), end_ns, ends_stage=ends_stage)
        self._database.keep(begin_ns, end_ns, ends_stage=ends_stage)
        self.known.sampler.problems.update(read.served.problems)

    def _used(self) -> dict[int, int]:
        """CPU time of a load generator of this host, by the processes that were read last."""
        return {} if self._driver is None else cpu_clock.of(tuple(self._driver.stats))


def turn_of(
    trial: Trial, number: int, turn: EngineTurn, served: ServerTurn, used: DriverUse
) -> Turn:
    """What a server did in a turn.

    Args:
        trial: Its trial.
        number: The round.
        turn: What the load generator says of it.
        served: What was read of the server.
        used: What the load generators used.
    """
    return Turn(
        group=trial.repetition,
        round=number,
        entry=trial.framework.title,
        start_ns=turn.start_monotonic_ns,
        duration_ns=turn.end_ns - turn.start_ns,
        requests=turn.requests,
        failures=turn.failures,
        server_cpu_ns=served.cpu_ns,
        driver_cpu_ns=used.cpu_ns,
        server_delay_ns=rests.delay_ns("server", served.before, served.after),
        driver_delay_ns=used.delay_ns,
    )


@dataclass(frozen=True)
class _ReadAtTurn:
    """What was read at both ends of a turn.

    Attributes:
        beside_before: Readings of what is on this host beside a server, right before it.
        beside_after: The same right after it.
        served: What was read of the server and its machine.
        used: What the load generators used.
    """

    beside_before: list[Reading]
    beside_after: list[Reading]
    served: ServerTurn
    used: DriverUse
