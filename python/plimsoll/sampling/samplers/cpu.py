"""Processor time: of a process tree, of each core, taken by a hypervisor, withheld.

All are counters in seconds. Source: proc_pid_stat(5), proc_stat(5), and the kernel's documents on
pressure stall information (PSI) and on the bandwidth control of control groups (`cpu.stat`).
"""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import TYPE_CHECKING

from plimsoll import machine
from plimsoll.processes.tree import PROC, TICKS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from plimsoll.processes.tree import ProcessTree
    from plimsoll.sampling.scope import Scope

RESOURCES = ("cpu", "memory", "io")


def read(scope: Scope) -> dict[str, float]:
    """Processor time of a scope so far, in seconds."""
    return _of_machine() if scope.tree is None else _of_tree(scope.tree)


def parse_cores(text: str, now_s: float, ticks_per_s: int = TICKS_PER_S) -> dict[str, float]:
    """Busy time of all cores and of each one, the part of it in interrupts, and stolen time.

    Busy is what was neither idle, nor waiting for a disk, nor taken by the hypervisor. Most kernels
    measure these, and only guess user and system time by what they find at each tick: a program
    that wakes in step with the ticks is found always, or never. All in seconds.

    Args:
        text: The content of `/proc/stat`.
        now_s: CLOCK_MONOTONIC when it was read; only differences between readings mean something.
        ticks_per_s: Clock ticks of the kernel in one second.

    Source:
        proc_stat(5); `get_idle_time` in `fs/proc/stat.c`, `tick_nohz_stop_idle` of Linux.
    """
    values = {"core_busy_s": 0.0, "core_interrupt_s": 0.0, "cpu_steal_s": 0.0}
    for line in text.splitlines()[1:]:
        name, *ticks = line.split()
        if not name.startswith("cpu"):
            break
        idle, waiting, hard, soft, steal = (int(tick) / ticks_per_s for tick in ticks[3:8])
        busy_s, interrupt_s = now_s - idle - waiting - steal, hard + soft
        values[f"core{name[3:]}_busy_s"] = busy_s
        values[f"core{name[3:]}_interrupt_s"] = interrupt_s
        values[f"core{name[3:]}_steal_s"] = steal
        values["core_busy_s"] += busy_s
        values["core_interrupt_s"] += interrupt_s
        values["cpu_steal_s"] += steal
    return values


def parse_pressure(text: str) -> float | None:
    """How long some task had to wait, in seconds; None when the file does not say.

    Args:
        text: The content of a file in `/proc/pressure`.
    """
    for line in text.splitlines():
        kind, *fields = line.split()
        if kind == "some":
            return int(dict(field.split("=") for field in fields)["total"]) / 1e6
    return None


def parse_throttled(text: str) -> float | None:
    """How long a control group was stopped for having used up its time, in seconds.

    The kernel stops a group on each core apart, and adds up the times of all cores.

    Args:
        text: The content of `cpu.stat`: `throttled_usec` in version 2, `throttled_time`, in
            nanoseconds, in version 1.

    Returns:
        The time; None when the text does not say, as that of a group that has no limit.

    Source:
        `unthrottle_cfs_rq` in `kernel/sched/fair.c` of Linux.
    """
    values = dict(line.split() for line in text.splitlines())
    if "throttled_usec" in values:
        return int(values["throttled_usec"]) / 1e6
    return int(values["throttled_time"]) / 1e9 if "throttled_time" in values else None


def _of_tree(tree: ProcessTree) -> dict[str, float]:
    spent = tree.spent
    return {
        "cpu_user_s": spent.user_ticks / TICKS_PER_S,
        "cpu_system_s": spent.system_ticks / TICKS_PER_S,
    }


def _of_machine() -> dict[str, float]:
    values = parse_cores((PROC / "stat").read_text(), time.monotonic())
    values["plimsoll_cpu_s"] = time.process_time()
    for resource in RESOURCES:
        waited_s = _pressure(resource)
        if waited_s is not None:
            values[f"pressure_{resource}_s"] = waited_s
    withheld_s = _withheld.until_now(_groups())
    if withheld_s is not None:
        values["cgroup_throttled_s"] = withheld_s
    return values


class Withheld:
    """Time withheld from nested control groups: from one reading to the next the greatest growth.

    Groups within each other are stopped at the same time, so a sum would count that twice.
    """

    def __init__(self) -> None:
        """Nothing has been withheld before the first reading."""
        self._at: dict[Path, float] = {}
        self._total_s = 0.0
        self._reading = threading.Lock()

    def until_now(self, groups: Iterable[Path]) -> float | None:
        """The time since the first reading, in seconds; None where no group says.

        Args:
            groups: Folders of the groups.
        """
        with self._reading:
            read = {group: _throttled(group) for group in groups}
            now = {group: stopped_s for group, stopped_s in read.items() if stopped_s is not None}
            grown = [stopped_s - self._at.get(group, stopped_s) for group, stopped_s in now.items()]
            self._at = now
            self._total_s += max([0.0, *grown])
            return self._total_s if now else None


_withheld = Withheld()
"""Of this process, which stays in its groups."""


@cache
def _groups() -> tuple[Path, ...]:
    """Control groups of this process, which it does not leave."""
    return machine.control_groups("cpu")


def _throttled(folder: Path) -> float | None:
    try:
        return parse_throttled((folder / "cpu.stat").read_text())
    except OSError:
        return None


def _pressure(resource: str) -> float | None:
    """Pressure on a resource; None where the kernel was built or booted without it."""
    try:
        return parse_pressure((PROC / "pressure" / resource).read_text())
    except OSError:
        return None
