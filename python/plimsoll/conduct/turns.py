"""Several servers take turns: each is started and warmed up once, and rests while others work.

Turns are short and their order is drawn for each round, so what disturbs the host for a second or
an hour disturbs all alike: their ratios within rounds hold where their figures do not. Each server
keeps a trial and a recording of its own, from which its rests are left out.

Source:
    A. Abedi and T. Brecht, Conducting repeatable experiments in highly variable cloud computing
    environments, ICPE 2017; L. Bulej et al., Duet benchmarking, ICPE 2020.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from plimsoll import machine
from plimsoll.conduct import recomputed_bodies
from plimsoll.conduct import trial as one_trial
from plimsoll.conduct.resting import Rest
from plimsoll.conduct.trial_state import TrialState
from plimsoll.drivers import turning
from plimsoll.errors import DriverError, FrameworkError
from plimsoll.events import Listener, Progress, TurnEnded, ignore
from plimsoll.processes import affinity, cpu_clock
from plimsoll.processes.tree import ProcessTree
from plimsoll.recording.turns import Turn
from plimsoll.sampling import control
from plimsoll.sampling.rests import TurnReadings
from plimsoll.sampling.scope import Scope
from plimsoll.serving import here

if TYPE_CHECKING:
    from types import TracebackType

    from plimsoll.conduct.run_config import RunConfig
    from plimsoll.drivers.turning import EngineTurn, TurningLoad
    from plimsoll.plan import Trial
    from plimsoll.processes.interruption import Interruption
    from plimsoll.recording import Recording
    from plimsoll.recording.readings import Reading, ScopeName
    from plimsoll.serving.here import LocalServer
    from plimsoll.storage.results import Results

BEFORE: tuple[ScopeName, ...] = ("server", "driver", "database", "upstream", "machine")
"""In which scopes are read before a turn: the host, whose idle time also passes, last."""

AFTER: tuple[ScopeName, ...] = ("machine", "server", "driver", "database", "upstream")
"""In which scopes are read after a turn: the host first."""

THOROUGH_EVERY_NS = 5_000_000_000
"""Time of the load after which a reading is thorough."""


def conduct(
    trials: Sequence[Trial],
    setting: RunConfig,
    results: Results,
    interruption: Interruption,
    tell: Listener = ignore,
) -> tuple[Recording, ...]:
    """Conducts trials that take turns: all servers start, then rounds of turns, then all stop.

    A server or load generator that fails ends its own trial; the others go on.

    Args:
        trials: The trials; their loads are alike.
        setting: What they have in common, with the length of a turn.
        results: Where their recordings go.
        interruption: Knows of Ctrl-C.
        tell: Told each phase and each turn.

    Returns:
        What happened in each, in the order of `trials`.

    Raises:
        HostError: This host cannot conduct one of them; nothing is kept.
        StorageError: A recording could not be written; nothing is kept.
        Interrupted: Ctrl-C; nothing is kept.
        KeyboardInterrupt: Ctrl-C; nothing is kept.
    """
    with ExitStack() as folders:
        seats = [
            _Seat.of(trial, setting, folders.enter_context(results.trial(trial.id)))
            for trial in trials
        ]
        with ExitStack() as servers:
            for seat in seats:
                servers.push(seat.leave)
                seat.begin(interruption, tell)
            _measure_idle(seats, setting, tell)
            with control.ready(seats[0].known.server_cores) as work:
                _take_turns(seats, setting, work, tell)
            _measure_idle(seats, setting, tell)
            for seat in seats:
                seat.end(tell)
        for seat in seats:
            seat.known.beside = len(seats)
        return tuple(one_trial.closed(seat.known, seat.into, interruption, tell) for seat in seats)


def _take_turns(
    seats: Sequence[_Seat], setting: RunConfig, work: control.Control, tell: Listener
) -> None:
    """All before the holds in one turn each, then rounds in an order drawn for each.

    Between rounds, about once a second, the control runs; so it follows each server as often.
    """
    draw = Random(f"{seats[0].known.trial.seed}/turns")  # noqa: S311 - a seed makes it repeatable
    number, passed_ns, ran_ns = 0, 0, 0
    while working := [seat for seat in seats if seat.is_working]:
        if number and time.monotonic_ns() - ran_ns >= control.EVERY_NS:
            _measure_machine(seats, work)
            ran_ns = time.monotonic_ns()
        for seat in draw.sample(working, len(working)):
            turn = seat.turn(setting.turn_s, number, tell) if number else seat.warm_up(tell)
            if turn is not None:
                passed_ns += turn.end_ns - turn.start_ns
                passed = replace(seat.with_busy_cores(turn.progress), at_s=passed_ns / 1e9)
                tell(TurnEnded(seat.known.trial, passed))
        number += 1
    _measure_machine(seats, work)


def _measure_idle(seats: Sequence[_Seat], setting: RunConfig, tell: Listener) -> None:
    """Reads power while no server has load and none is frozen, if that is requested."""
    if not setting.idle_s:
        return
    for seat in seats:
        seat.wake()
    idle = one_trial.idle_readings(setting, tell)
    for seat in seats:
        seat.known.idle += idle


def _measure_machine(seats: Sequence[_Seat], work: control.Control) -> None:
    """Runs the control; each trial keeps what it took, by the clock of its own load."""
    took = work.run()
    for seat in seats:
        seat.note(took)


@dataclass
class _Seat:
    """One trial among those that take turns."""

    known: TrialState
    into: Path
    readings: TurnReadings = field(default_factory=TurnReadings)
    turns: list[Turn] = field(default_factory=list[Turn])
    _processes: ExitStack = field(default_factory=ExitStack)
    _running: LocalServer | None = None
    _load: TurningLoad | None = None
    _server: ProcessTree | None = None
    _driver: ProcessTree | None = None
    _rest: Rest = field(default_factory=lambda: Rest(tuple))
    _thorough_ns: int = 0
    _passed_ns: int = 0

    @classmethod
    def of(cls, trial: Trial, setting: RunConfig, into: Path) -> _Seat:
        """The seat of a trial, before anything runs."""
        known = TrialState(trial, setting, provenance=one_trial.provenance_of(trial, setting))
        return cls(known, into)

    @property
    def is_working(self) -> bool:
        """Whether turns of its load are left."""
        return self._load is not None and not self._load.has_ended

    def leave(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stops whatever of it runs, at once when the error is a second Ctrl-C."""
        self._processes.__exit__(kind, error, trace)

    def begin(self, interruption: Interruption, tell: Listener) -> None:
        """Starts its server, checks the contract, and has its load rest until the first turn."""
        known = self.known
        try:
            log, cores = self.into / "server.log", known.server_cores
            service = known.trial.load.service
            starting = partial(
                here.Here().started,
                known.trial.framework,
                log,
                cores,
                service,
                seed=known.trial.seed,
            )
            running = self._processes.enter_context(
                one_trial.started(known, starting, interruption, tell)
            )
            one_trial.examine(known, running, tell)
            scope = running.scope
            self._running, self._server = running, scope.tree
            self._rest = Rest(running.processes)
            self._processes.callback(self._rest.end)
            load = turning.started(one_trial.job_of(known, self.into))
            self._load = self._processes.enter_context(load)
            self._driver = driver = ProcessTree(self._load.process, with_root=False)
            address = known.server.address if known.server else ""
            scopes = (
                scope,
                Scope("driver", driver, peer=address),
                *one_trial.third_parties(known),
            )
            for each in (Scope("machine"), *scopes):
                known.sampler.watch(each)
        except (FrameworkError, DriverError) as error:
            self._fail(error)

    def warm_up(self, tell: Listener) -> EngineTurn | None:
        """Has all before its holds in one turn, and settles; None where there is no such turn.

        Nobody else works meanwhile, so the server may use every core: a runtime that compiles in
        the background is done in half of the time (decision 82).
        """
        length_s = self.known.trial.load.before_holds_s
        with affinity.widened(
            self._rest.processes, self.known.server_cores, machine.allowed_cores()
        ):
            turn = self.turn(length_s, 0, tell) if length_s else None
            self.settle()
        return turn

    def turn(self, duration_s: float, number: int, tell: Listener) -> EngineTurn | None:
        """Has its turn; None when the server or its load turned out to be gone.

        A server that works while it rests works only within its turn: readings are made while it is
        frozen, or its CPU time of a turn would exceed what its cores can do in it.
        """
        load, running = self._load, self._running
        if load is None or running is None:
            return None
        try:
            # Readings take milliseconds, in which a server that is frozen does nothing.
            before = self._read(thorough=not self.turns, order=BEFORE)
            used_before = self._used()
            self._rest.end()
            duration_ns = round(duration_s * 1e9)
            turn = load.turn(duration_ns)
            self._rest.begin()
            used = self._used()
            after = self._read(thorough=self._is_thorough(turn.end_ns), order=AFTER)
            self._passed_ns = turn.end_ns
            self.readings.begin(before, load.zero_ns + turn.start_ns)
            self.readings.end(after, load.zero_ns + turn.end_ns, is_last=load.has_ended)
            recorded = self._recorded(turn, number, used_before, used, before, after)
            self.turns.append(replace(recorded, planned_ns=duration_ns))
            if not running.alive():
                self.end(tell)
        except (FrameworkError, DriverError) as error:
            self._fail(error)
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
            self.known.control += control.readings(took, self._load.zero_ns + self._passed_ns)

    def wake(self) -> None:
        """Has its server run on, where it was frozen."""
        self._rest.end()

    def settle(self) -> None:
        """Waits after the warm-up until its server is idle."""
        self._rest.end()
        if self.is_working:
            self._rest.settle()
            self._rest.begin()

    def end(self, tell: Listener) -> None:
        """Ends its load, checks the contract again, and stops its server."""
        load, running = self._load, self._running
        if load is None or running is None:
            return
        self._load = None
        self._rest.end()
        try:
            self.known.driven = load.finish()
            stages = self.known.driven.stages
            self.known.recomputed = recomputed_bodies.of(self.known.exchanges, stages, [self.into])
            running.check_alive()
            one_trial.verified("after", self.known, running, tell)
        except (FrameworkError, DriverError) as error:
            self.known.fail(error)
        finally:
            self._close()

    def _fail(self, error: FrameworkError | DriverError) -> None:
        """Its trial is over; what was read so far is kept."""
        self.known.fail(error)
        self._load = None
        self._close()

    def _close(self) -> None:
        """Keeps what was read, and stops its server and its load."""
        self.known.sampler.readings = self.readings.kept
        self.known.turns = tuple(self.turns)
        self.known.was_frozen = self._rest.freezes
        self._processes.close()

    def _read(self, *, thorough: bool, order: Sequence[ScopeName]) -> list[Reading]:
        sampler = self.known.sampler
        sampler.readings = []
        sampler.read(thorough=thorough, order=order)
        return sampler.readings

    def _is_thorough(self, at_ns: int) -> bool:
        if at_ns - self._thorough_ns < THOROUGH_EVERY_NS:
            return False
        self._thorough_ns = at_ns
        return True

    def _used(self) -> _Used:
        """By the processes that the last readings found: to find them takes milliseconds."""
        trees = (self._server, self._driver)
        server, driver = (() if tree is None else tuple(tree.stats) for tree in trees)
        return _Used(cpu_clock.of(server), cpu_clock.of(driver))

    def _recorded(
        self,
        turn: EngineTurn,
        number: int,
        before: _Used,
        after: _Used,
        readings_before: Sequence[Reading],
        readings_after: Sequence[Reading],
    ) -> Turn:
        trial = self.known.trial
        return Turn(
            group=trial.repetition,
            round=number,
            entry=trial.framework.title,
            start_ns=turn.start_monotonic_ns,
            duration_ns=turn.end_ns - turn.start_ns,
            requests=turn.requests,
            failures=turn.failures,
            server_cpu_ns=cpu_clock.grown(before.server, after.server),
            driver_cpu_ns=cpu_clock.grown(before.driver, after.driver),
            server_delay_ns=_delay_ns("server", readings_before, readings_after),
            driver_delay_ns=_delay_ns("driver", readings_before, readings_after),
        )


@dataclass(frozen=True)
class _Used:
    """CPU time so far of each process, in nanoseconds."""

    server: dict[int, int]
    driver: dict[int, int]


def _delay_ns(scope: ScopeName, before: Sequence[Reading], after: Sequence[Reading]) -> int | None:
    """By how much run delay grew; None where the kernel does not say."""
    first, last = (
        [one.value for one in readings if (one.scope, one.quantity) == (scope, "run_delay_s")]
        for readings in (before, after)
    )
    return round((last[0] - first[0]) * 1e9) if first and last else None
