"""A server between its turns: it settles after its warm-up, and is frozen if it goes on working.

A runtime that compiles or collects in the background takes its core from the server at turn.

Each thread of a process runs for a moment when the process is stopped, and again when it goes on:
together 15 µs, and 60 ms at either time for 8,000 threads. They do so before a turn begins, and
before the next server has its own.
"""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.processes import cpu_clock, process_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

IDLE_CORES = 0.02
"""A server that uses more while it rests is frozen in its later rests."""

TRAILING_NS = 10_000_000
"""CPU time that a server may use after a turn for what it did in it."""

SETTLED_CORES = 0.05
"""A server that uses less has settled after its warm-up."""

LOOK_S = 0.2
"""For how long the CPU time of a server is measured to see whether it has settled."""

SETTLE_S = 10.0
"""The longest that a server is given to settle."""

MANY_THREADS = 200
"""From so many threads on it takes longer than a millisecond until all have stopped, or go on."""

LOOK_AT_MANY_S = 0.002
"""For how long their CPU time is measured to see whether they have."""

STILL = 0.2
"""They have if they use less than this share of a core."""

LONGEST_OF_THREAD_S = 0.00002
"""The longest that each of them is given."""


@dataclass
class RestingServer:
    """The rests of one server.

    Attributes:
        processes: Gives the ids of the server's processes.
        freezes: Whether it is frozen while it rests.
    """

    processes: Callable[[], Sequence[int]]
    freezes: bool = False
    _since_s: float | None = None
    _used: dict[int, int] | None = None
    _known: frozenset[process_table.Process] = frozenset()
    _frozen: frozenset[process_table.Process] = frozenset()

    def settle(self) -> None:
        """Waits until the server has nothing to do any more, 10 s at most.

        One that goes on working after its warm-up will do so after its turns, and is frozen.
        """
        self.freezes |= not self.wait_until_idle()

    def wait_until_idle(self) -> bool:
        """Waits until the server has nothing to do any more, 10 s at most.

        Returns:
            Whether it had nothing to do from the first moment on.
        """
        end_s, was_idle = time.monotonic() + SETTLE_S, True
        while time.monotonic() < end_s:
            if _busy_cores(self.processes, LOOK_S) < SETTLED_CORES:
                break
            was_idle = False
        return was_idle

    def begin(self) -> None:
        """The server rests from now on."""
        if self.freezes:
            # At once: to find processes takes milliseconds, in which they would go on working.
            self._freeze(self._known)
            self._freeze(self._alive())
            _wait_for_many(self._frozen)
        self._used, self._since_s = cpu_clock.of(self.processes()), time.monotonic()

    def end(self) -> None:
        """The server may work again."""
        if self._used is not None and self._since_s is not None:
            rested_ns = (time.monotonic() - self._since_s) * 1e9
            self.freezes |= self._grown_ns(self._used) > max(IDLE_CORES * rested_ns, TRAILING_NS)
        self._used = self._since_s = None
        if self.freezes:
            self._known = self._alive()
        for one in self._frozen:
            process_table.send(one, signal.SIGCONT)
        _wait_for_many(self._frozen)
        self._frozen = frozenset()

    def _freeze(self, processes: frozenset[process_table.Process]) -> None:
        for one in processes - self._frozen:
            process_table.send(one, signal.SIGSTOP)
        self._frozen |= processes

    def _alive(self) -> frozenset[process_table.Process]:
        found = map(process_table.process, self.processes())
        return frozenset(one for one in found if one is not None)

    def _grown_ns(self, used: dict[int, int]) -> int:
        """CPU time since a reading; 0 where a process has ended since."""
        return cpu_clock.grown(used, cpu_clock.of(self.processes())) or 0


def _wait_for_many(processes: frozenset[process_table.Process]) -> None:
    """Waits until threads that were stopped or go on have noticed it, if there are many."""
    threads = sum(one.threads for one in processes)
    if threads < MANY_THREADS:
        return
    pids, end_s = [one.pid for one in processes], time.monotonic() + threads * LONGEST_OF_THREAD_S
    while time.monotonic() < end_s and _busy_cores(lambda: pids, LOOK_AT_MANY_S) >= STILL:
        pass


def _busy_cores(processes: Callable[[], Sequence[int]], for_s: float) -> float:
    """Cores that processes keep busy from now on for so long; 0 where one of them ends."""
    used, began_s = cpu_clock.of(processes()), time.monotonic()
    time.sleep(for_s)
    grown_ns = cpu_clock.grown(used, cpu_clock.of(processes())) or 0
    return grown_ns / 1e9 / (time.monotonic() - began_s)
