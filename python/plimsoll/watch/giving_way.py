"""Giving way: whoever looks on takes no core from server and driver, as far as there are others.

What it takes all the same is counted among other programs by the check `undisturbed`, like anything
else on the host.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

LOWEST = 19
"""The lowest priority of nice(2)."""


def lower_priority() -> None:
    """Gives this thread, and those it starts from now on, the lowest priority."""
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, LOWEST)


def keep_off(cores: Iterable[int], allowed: Iterable[int]) -> None:
    """Has every thread of this process run on other cores than some, if there are others.

    Args:
        cores: Cores of server and driver; empty where these may use all.
        allowed: Cores that this process was started with.
    """
    others = {*allowed} - {*cores}
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # the thread has just ended
            os.sched_setaffinity(int(task.name), others or {*allowed})
