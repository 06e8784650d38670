"""What an agent does with loads that take turns: several rest here, and one at a time works.

A turn begins at an instant that the lab names by this host's clock, so the way of its order over
the network is no part of it. What is read of this host lies at both ends of each turn, as where one
machine does everything.
"""

from __future__ import annotations

import shutil
import threading
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll.drivers import turning
from plimsoll.drivers.turning import CommonStart, DriverUse
from plimsoll.errors import EngineFailed, HostLost
from plimsoll.hosts import disk
from plimsoll.hosts.agent import steps
from plimsoll.hosts.answers import StepState
from plimsoll.hosts.host import GONE
from plimsoll.processes import cpu_clock
from plimsoll.processes.tree import ProcessTree
from plimsoll.sampling import rests
from plimsoll.sampling.rests import TurnReadings
from plimsoll.sampling.sampler import Sampler
from plimsoll.sampling.scope import Scope

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from plimsoll.drivers.job import DriverJob, DriverResult
    from plimsoll.drivers.turning import EngineLoad, EngineTurn
    from plimsoll.hosts.host_job import HostJob
    from plimsoll.recording.readings import Reading, ScopeName

BEFORE: tuple[ScopeName, ...] = ("driver", "machine")
"""In which order scopes are read before a turn: the machine, whose idle time also passes, last."""

AFTER: tuple[ScopeName, ...] = ("machine", "driver")
"""In which order scopes are read after a turn."""


@dataclass
class TurnedLoad:
    """A load of this host that takes turns.

    Attributes:
        job: What it generates.
        readings: What was read of it and of this host.
        has_ended: Whether it has ended as ordered, so that its rows are whole.
    """

    job: DriverJob
    readings: TurnReadings = field(default_factory=TurnReadings)
    has_ended: bool = False
    _running: ExitStack = field(default_factory=ExitStack)
    _sampler: Sampler = field(default_factory=Sampler)
    _load: EngineLoad | None = None
    _tree: ProcessTree | None = None
    _before: list[Reading] = field(default_factory=list["Reading"])
    _thorough_ns: int | None = None

    @property
    def problems(self) -> dict[str, str]:
        """What could not be read, and why."""
        return self._sampler.problems

    def begin(self) -> None:
        """Has it rest until its first turn.

        Raises:
            PlimsollError: The engine did not start.
        """
        self._load = self._running.enter_context(turning.started(self.job))
        self._tree = ProcessTree(self._load.process, with_root=False)
        self._sampler.watch(Scope("machine"))
        self._sampler.watch(Scope("driver", self._tree, peer=self.job.address))

    def read(self) -> None:
        """Reads this host right before a turn."""
        thorough = self._thorough_ns is None
        self._before = self._sampler.read_alone(thorough=thorough, order=BEFORE)

    def turn(self, duration_ns: int, start: CommonStart) -> EngineTurn:
        """Has a turn.

        Raises:
            PlimsollError: The engine is gone.
        """
        load, before = self._required(), self._before
        used = self._used()
        turn = load.turn(duration_ns, start)
        cpu_ns = cpu_clock.grown(used, self._used())
        after = self._sampler.read_alone(thorough=self._is_thorough(turn.end_ns), order=AFTER)
        is_first = not self.readings.kept
        self.readings.begin(before, load.zero_ns + turn.start_ns)
        ends_stage = is_first or load.has_ended
        self.readings.end(after, load.zero_ns + turn.end_ns, ends_stage=ends_stage)
        delay_ns = rests.delay_ns("driver", before, after)
        return replace(turn, used=DriverUse(cpu_ns, delay_ns))

    def finish(self, at_ns: int) -> DriverResult:
        """Ends it, early when its schedule is not over.

        Args:
            at_ns: The time of the load at which the last host rested.

        Raises:
            PlimsollError: The engine ended with an error.
        """
        driven = self._required().finish(CommonStart(0, at_ns))
        self.has_ended = True
        return driven

    def close(self) -> None:
        """Stops it."""
        self._running.close()

    def _required(self) -> EngineLoad:
        if self._load is None:
            raise EngineFailed("no such load rests here", "report it to Plimsoll")
        return self._load

    def _used(self) -> dict[int, int]:
        """CPU time of the engine's processes, as the last readings found them."""
        return {} if self._tree is None else cpu_clock.of(tuple(self._tree.stats))

    def _is_thorough(self, at_ns: int) -> bool:
        if self._thorough_ns is not None and at_ns - self._thorough_ns < rests.THOROUGH_EVERY_NS:
            return False
        self._thorough_ns = at_ns
        return True


@dataclass
class _OrderedWork:
    """What a load is ordered to do."""

    state: StepState = field(default_factory=lambda: StepState(has_ended=False))
    is_over: threading.Event = field(default_factory=threading.Event)


class TurnedLoads:
    """The loads of this host that take turns; its methods may be called from any thread.

    Args:
        folder: Where each has a folder of its own.
    """

    def __init__(self, folder: Path) -> None:
        """There are none."""
        self._folder = folder
        self._loads: dict[str, TurnedLoad] = {}
        self._works: dict[str, _OrderedWork] = {}
        self._left: set[str] = set()

    def __len__(self) -> int:
        """How many there are that may still run."""
        return len(self._loads.keys() - self._left)

    def add(self, key: str, order: HostJob) -> None:
        """Begins to have another load rest; what loads of before have left is removed.

        Args:
            key: Names it from now on.
            order: What it generates.
        """
        for left in [*self._left]:
            self.remove(left)
        into = self._folder / key
        into.mkdir(parents=True)
        self._loads[key] = TurnedLoad(order.within(into))
        self.begin(key, TurnedLoad.begin)

    def folder(self, key: str) -> Path:
        """The folder of a load.

        Raises:
            HostLost: There is none of that name any more.
        """
        return self.of(key).job.into

    def of(self, key: str) -> TurnedLoad:
        """A load.

        Raises:
            HostLost: There is none of that name any more.
        """
        if key not in self._loads:
            raise HostLost(GONE, "see the output of its agent")
        return self._loads[key]

    def begin(self, key: str, work: Callable[[TurnedLoad], object]) -> None:
        """Has a load do what may take longer than the lab waits for an answer."""
        load, self._works[key] = self.of(key), (begun := _OrderedWork())
        threading.Thread(target=_done, args=(begun, work, load), daemon=True).start()

    def state(self, key: str, wait_s: float) -> StepState:
        """How the last work of a load stands; waits for its end, but only so long.

        Raises:
            HostLost: There is none of that name any more.
        """
        self.of(key)
        work = self._works[key]
        work.is_over.wait(wait_s)
        return work.state

    def remove(self, key: str) -> None:
        """Stops a load, and removes what it has left."""
        load = self._loads.pop(key, None)
        if load is not None:
            load.close()
        self._left.discard(key)
        shutil.rmtree(self._folder / key, ignore_errors=True)

    def close(self) -> None:
        """Stops all of them; the rows of those that have ended stay until the next load."""
        for key, load in [*self._loads.items()]:
            if load.has_ended:
                load.close()
                self._left.add(key)
            else:
                self.remove(key)


def _done(begun: _OrderedWork, work: Callable[[TurnedLoad], object], load: TurnedLoad) -> None:
    begun.state = steps.ended(_written, work, load)
    begun.is_over.set()


def _written(work: Callable[[TurnedLoad], object], load: TurnedLoad) -> object:
    """Does some work; an error names the folder that could not be written."""
    with disk.written(load.job.into):
        return work(load)
