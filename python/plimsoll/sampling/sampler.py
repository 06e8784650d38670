"""Every resource, read once a second while a trial runs.

What it costs, in processor time of the lab, on a virtual AMD EPYC: 1.7 ms a second for server,
driver and machine, and 1.5 ms more for each thousand connections of the server up to four thousand;
beyond these they are counted in thorough readings only. Run delay costs 15 µs for each thread, up
to two hundred of them; more are read in thorough readings only. Limits of open files cost 50 µs for
each process. A thorough reading, every fifth second, costs as much again, and 14 ms for a server of
200 threads or 20 ms for one that holds a gigabyte. Nothing of it runs in the server or the driver,
whose own loops are not stopped by it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice

from plimsoll.recording.readings import Reading, ScopeName
from plimsoll.sampling.samplers import SAMPLERS
from plimsoll.sampling.scope import Scope

INTERVAL_NS = 1_000_000_000
"""From one reading to the next."""

ORDER: tuple[ScopeName, ...] = ("server", "driver", "database", "upstream", "machine")
"""In which scopes are read; the instant of the first is the most exact."""

THOROUGH_EVERY = 5
"""Every so many readings one is thorough; the first and the last are, too."""

CPU_TIMES = ("cpu_user_s", "cpu_system_s")
"""Quantities that together are the processor time of a process tree."""

LATEST = 4_000
"""Readings among which the last two of a quantity are: two seconds of a thousand cores."""


@dataclass
class Sampler:
    """Reads resources once a second in a thread of its own; nothing it meets stops a trial.

    Attributes:
        clock: CLOCK_MONOTONIC in nanoseconds.
        readings: What was read so far.
        problems: What could not be read and why; each kind of problem once.
        cpu_s: Processor time of the thread, in seconds; known after the end.
    """

    clock: Callable[[], int] = time.monotonic_ns
    readings: list[Reading] = field(default_factory=list[Reading])
    problems: dict[str, str] = field(default_factory=dict[str, str])
    cpu_s: float = 0.0
    _scopes: dict[ScopeName, Scope] = field(default_factory=dict[ScopeName, Scope])
    _zero_ns: int = 0
    _count: int = 0
    _aligned: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    def watch(self, scope: Scope) -> None:
        """Adds a scope to those that are read."""
        self._scopes = {**self._scopes, scope.name: scope}

    def busy_cores(self, scope: ScopeName) -> float | None:
        """Cores that a scope kept busy between its last two readings; None before these."""
        if scope not in self._scopes:
            return None
        read: dict[str, list[Reading]] = {quantity: [] for quantity in CPU_TIMES}
        for one in islice(reversed(self.readings), LATEST):
            if one.scope == scope and one.quantity in read:
                read[one.quantity].append(one)
            if all(len(found) > 1 for found in read.values()):
                break
        pairs = [found[:2] for found in read.values() if len(found) > 1]
        if len(pairs) < len(CPU_TIMES):
            return None
        return sum(
            (last.value - before.value) / max(last.at_ns - before.at_ns, 1) * 1e9
            for last, before in pairs
        )

    def align(self, zero_ns: int) -> None:
        """From now on reads at whole seconds after an instant.

        Args:
            zero_ns: Zero of the trial by CLOCK_MONOTONIC.
        """
        self._zero_ns = zero_ns
        self._aligned.set()

    def read(self, *, thorough: bool, order: Sequence[ScopeName] = ORDER) -> None:
        """Reads every scope now.

        Args:
            thorough: Whether to read what disturbs or takes long, too.
            order: In which order scopes are read.
        """
        for name in order:
            if name in self._scopes:
                self._read_scope(replace(self._scopes[name], thorough=thorough))

    def read_alone(self, *, thorough: bool, order: Sequence[ScopeName]) -> list[Reading]:
        """What `read` reads now, without anything before it."""
        self.readings = []
        self.read(thorough=thorough, order=order)
        return self.readings

    def run(self) -> None:
        """Reads each second, from the zero of the trial until `end` is called."""
        self._aligned.wait()
        while not self._ended.wait(pause_s(self.clock(), self._zero_ns, self._count)):
            self.read(thorough=self._count % THOROUGH_EVERY == 0)
            self._count = next_count(self.clock(), self._zero_ns)
        self.cpu_s = time.thread_time()

    def end(self) -> None:
        """Ends `run`."""
        self._ended.set()
        self._aligned.set()

    def _read_scope(self, scope: Scope) -> None:
        began_ns = self.clock()
        try:
            if scope.tree is not None:
                scope.tree.refresh()
                if not scope.tree.stats:
                    return
            self._read_resources(scope, began_ns)
        except Exception as error:
            self.problems[f"{scope.name}: processes"] = repr(error)

    def _read_resources(self, scope: Scope, began_ns: int) -> None:
        """Reads each resource; its instant is the middle of the time that the reading took."""
        for sampler in SAMPLERS:
            values: Mapping[str, float] = {}
            try:
                values = sampler.read(scope)
            except Exception as error:
                self.problems[f"{scope.name}: {sampler.__name__.rpartition('.')[2]}"] = repr(error)
            ended_ns = self.clock()
            at_ns, began_ns = (began_ns + ended_ns) // 2, ended_ns
            for quantity, value in values.items():
                self.readings.append(Reading(at_ns, scope.name, quantity, float(value)))


def pause_s(now_ns: int, zero_ns: int, count: int) -> float:
    """Seconds until the reading of a number is due; 0 when it is overdue.

    Args:
        now_ns: The instant now.
        zero_ns: Zero of the trial, when reading 0 is due.
        count: Number of the reading.
    """
    return max(0, zero_ns + count * INTERVAL_NS - now_ns) / 1e9


def next_count(now_ns: int, zero_ns: int) -> int:
    """Number of the first reading that is due after an instant; missed ones are left out.

    Args:
        now_ns: The instant.
        zero_ns: Zero of the trial, when reading 0 is due.
    """
    return max(0, (now_ns - zero_ns) // INTERVAL_NS + 1)


@contextmanager
def sampling(*scopes: Scope) -> Generator[Sampler]:
    """Reads every resource once a second for as long as the block runs.

    One thorough reading is taken before the block and one after it. Whole seconds begin with
    `align`.

    Args:
        scopes: What is read; more may be added by `watch`, as soon as its processes are there.

    Yields:
        The sampler; its readings are complete after the block.
    """
    sampler = Sampler()
    for scope in scopes:
        sampler.watch(scope)
    sampler.read(thorough=True)
    thread = threading.Thread(target=sampler.run, name="sampler", daemon=True)
    thread.start()
    try:
        yield sampler
    finally:
        sampler.end()
        thread.join()
        sampler.read(thorough=True)
