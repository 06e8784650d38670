"""Which cores the threads of processes may use."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

PASSES = 100
"""Times that threads are looked for: one that is not confined yet may start others."""


def confine(pids: Iterable[int], cores: Iterable[int]) -> None:
    """Has every thread of some processes run on some cores, and those that they start as well.

    Processes and threads that end meanwhile are left out.

    Args:
        pids: The processes.
        cores: Numbers of cores, at least one.

    Source:
        sched_setaffinity(2): it is that of a thread, and inherited.
    """
    allowed = {*cores}
    for _ in range(PASSES):
        others = [task for task in _threads(pids) if _cores(task) not in (None, allowed)]
        if not others:
            return
        for task in others:
            with suppress(OSError):
                os.sched_setaffinity(task, allowed)


@contextmanager
def confined(
    processes: Callable[[], Iterable[int]], cores: Iterable[int]
) -> Generator[frozenset[int]]:
    """Processes run on some cores for as long as the block runs, and then where they did before.

    Threads that they start meanwhile get the cores of the first one.

    Args:
        processes: Gives the ids of the processes that live.
        cores: Numbers of cores, at least one.

    Yields:
        The cores that all of them have now; others than requested where the kernel refuses.
    """
    before = {task: found for task in _threads(processes()) if (found := _cores(task))}
    confine(processes(), cores)
    try:
        yield frozenset().union(*(_cores(task) or () for task in before))
    finally:
        first = next(iter(before.values()), set[int]())
        for task in _threads(processes()):
            with suppress(OSError):
                os.sched_setaffinity(task, before.get(task, first))


@contextmanager
def widened(
    processes: Callable[[], Iterable[int]], cores: Iterable[int], within: Iterable[int]
) -> Generator[None]:
    """Processes that are confined to some cores may use more of them for as long as the block runs.

    Args:
        processes: Gives the ids of the processes that live.
        cores: What they are confined to; empty where they are not, and nothing happens.
        within: What they may use within the block.
    """
    own = {*cores}
    if not own:
        yield
        return
    confine(processes(), within)
    try:
        yield
    finally:
        confine(processes(), own)


def _threads(pids: Iterable[int]) -> Generator[int]:
    for pid in {*pids}:
        with suppress(OSError):
            yield from [int(task.name) for task in Path(f"/proc/{pid}/task").iterdir()]


def _cores(task: int) -> set[int] | None:
    """Cores that a thread may use; None when it has ended."""
    try:
        return os.sched_getaffinity(task)
    except OSError:
        return None
