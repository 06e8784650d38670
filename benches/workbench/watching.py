"""How long something takes, and the most memory that some processes hold meanwhile."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_LOOK_S = 0.2
"""How often memory is looked at."""


@dataclass
class Watched:
    """What was seen.

    Attributes:
        duration_s: From the beginning to the end of the block.
        peak_pss_bytes: The most memory held at one time; what processes share counts once.
    """

    duration_s: float = 0.0
    peak_pss_bytes: int = 0


@contextmanager
def watched() -> Generator[Watched]:
    """Watches all that this process has started, and all that these have, while the block runs."""
    seen, ended = Watched(), threading.Event()

    def look() -> None:
        while not ended.wait(_LOOK_S):
            held = sum(_pss_bytes(pid) for pid in descendants(os.getpid()))
            seen.peak_pss_bytes = max(seen.peak_pss_bytes, held)

    watcher = threading.Thread(target=look)
    watcher.start()
    began_s = time.monotonic()
    try:
        yield seen
    finally:
        seen.duration_s = time.monotonic() - began_s
        ended.set()
        watcher.join()


def _children(pid: int) -> set[int]:
    """Processes that a process has started, by `/proc/PID/task/TID/children`."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found.update(int(child) for child in task.read_text(encoding="ascii").split())
        except OSError:
            continue
    return found


def descendants(pid: int) -> set[int]:
    """Processes that a process has started, and that these have."""
    found: set[int] = set()
    todo = _children(pid)
    while todo:
        one = todo.pop()
        found.add(one)
        todo |= _children(one) - found
    return found


def _pss_bytes(pid: int) -> int:
    """Memory of a process, shared pages in parts; `proc_pid_smaps_rollup(5)`, `Pss`."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
