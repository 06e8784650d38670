"""System calls of a server, counted by the kernel for half a second of the warm-up.

The trace point `raw_syscalls:sys_enter` counts them, as `perf stat -e` does. While anybody counts,
every system call of the host takes a slower path. So they are counted shortly before the
measurement window, at the same rate, and not in it: its processor time is a result.

Source: perf_event_open(2); the kernel's documents on event tracing.
"""

from __future__ import annotations

import errno
import itertools
import os
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll.recording.readings import Reading
from plimsoll.sampling import perf_events

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from plimsoll.campaign.load import Stage
    from plimsoll.processes.tree import ProcessTree

QUANTITY = "system_calls"

ROOT_VARIABLE = "PLIMSOLL_TRACEFS"
"""Environment variable with another folder than `ROOT`, for hosts that mount it elsewhere."""

ROOT = Path("/sys/kernel/tracing")

LENGTH_S = 0.5
"""For how long is counted."""

APART_S = 0.1
"""How long before the measurement window that ends: the kernel then takes its slower path back."""

_EVENT = "events/raw_syscalls/sys_enter/id"
_PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")


def refusal() -> str:
    """Why system calls cannot be counted on this host; empty where they can."""
    try:
        os.close(perf_events.opened(perf_events.TRACEPOINT, _event(), task=os.getpid()))
    except (OSError, ValueError) as error:
        return _reason(error)
    return ""


def window_ns(stages: Sequence[Stage]) -> tuple[int, int] | None:
    """From when to when a load is counted, in nanoseconds since its zero.

    Args:
        stages: Its stages.

    Returns:
        A part of the warm-up before its first hold; None where that is too short, or there is none.
    """
    passed_s = 0.0
    for stage, following in itertools.pairwise(stages):
        passed_s += stage.duration_s
        if (stage.kind, following.kind) == ("warm_up", "hold"):
            until_s = passed_s - APART_S
            is_long = stage.duration_s >= LENGTH_S + 2 * APART_S
            return (round((until_s - LENGTH_S) * 1e9), round(until_s * 1e9)) if is_long else None
    return None


@dataclass
class SystemCalls:
    """Counts the system calls of a process tree in a window, in a thread of its own.

    Attributes:
        tree: The processes.
        window_ns: From when to when, in nanoseconds since the zero of the load.
        readings: What was read at both ends of the window; empty where the kernel refused.
    """

    tree: ProcessTree
    window_ns: tuple[int, int]
    readings: list[Reading] = field(default_factory=list[Reading])
    _thread: threading.Thread | None = None
    _ended: threading.Event = field(default_factory=threading.Event)

    def begin(self, zero_ns: int) -> None:
        """Begins to wait for the window.

        Args:
            zero_ns: Zero of the load by CLOCK_MONOTONIC.
        """
        self._thread = threading.Thread(target=self._count, args=(zero_ns,), daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Ends it, also before its window."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _count(self, zero_ns: int) -> None:
        """Counts; one that the kernel refuses, or that ended early, leaves no reading."""
        from_ns, until_ns = (zero_ns + at_ns for at_ns in self.window_ns)
        if self._waited(from_ns):
            return
        with suppress(OSError, ValueError), counters(self.tree) as opened:
            first = _read(opened)
            if opened and not self._waited(until_ns):
                self.readings = [first, _read(opened)]

    def _waited(self, until_ns: int) -> bool:
        """Waits until an instant; whether the end came before."""
        return self._ended.wait(max(0, until_ns - time.monotonic_ns()) / 1e9)


@contextmanager
def counters(tree: ProcessTree) -> Generator[list[int]]:
    """A counter for each thread of a tree; what it starts later is counted with it.

    Raises:
        OSError: The kernel refuses.
        ValueError: It says nothing that can be understood.
    """
    event = _event()
    with ExitStack() as closing:
        found: list[int] = []
        for thread in _threads(tree):
            try:
                counter = perf_events.opened(perf_events.TRACEPOINT, event, task=thread)
            except ProcessLookupError:
                continue
            closing.callback(os.close, counter)
            found.append(counter)
        yield found


def _threads(tree: ProcessTree) -> Iterator[int]:
    tree.refresh()
    for pid in tree.stats:
        with suppress(FileNotFoundError, ProcessLookupError):
            yield from map(int, os.listdir(tree.file(pid, "task")))  # noqa: PTH208


def _read(opened: Sequence[int]) -> Reading:
    began_ns = time.monotonic_ns()
    counted = sum(map(perf_events.value, opened))
    return Reading((began_ns + time.monotonic_ns()) // 2, "server", QUANTITY, float(counted))


def _event() -> int:
    """Number of the trace point.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no number.
    """
    return int((Path(os.environ.get(ROOT_VARIABLE) or ROOT) / _EVENT).read_text())


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"the kernel's trace events are not at `{os.environ.get(ROOT_VARIABLE) or ROOT}`"
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM):
        level = ""
        with suppress(OSError):
            level = f" (`kernel.perf_event_paranoid` is {_PARANOID.read_text().strip()})"
        return f"the kernel permits no perf events{level}"
    return f"the kernel has no perf event for them: {error}"
