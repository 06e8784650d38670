"""Process trees, as they come and go."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

ProcessKey = tuple[int, ...]
"""Number and start of a process; the number of a thread may follow."""


@dataclass(frozen=True)
class ProcessStat:
    """What the kernel says of one process in one line.

    Attributes:
        pid: Number of the process.
        parent: Number of its parent.
        major_faults: Page faults that needed a disk.
        user_ticks: User time of all its threads, in clock ticks.
        system_ticks: System time of all its threads, in clock ticks.
        threads: Its threads.
        started_ticks: Its start, in clock ticks since boot; tells a number used again apart.

    Source:
        proc_pid_stat(5).
    """

    pid: int
    parent: int
    major_faults: int
    user_ticks: int
    system_ticks: int
    threads: int
    started_ticks: int

    @property
    def identity(self) -> tuple[int, int]:
        """Number and start: no two processes of one boot share both."""
        return self.pid, self.started_ticks


def parse_stat(text: str) -> ProcessStat:
    """One `/proc/<pid>/stat`.

    The name of the program stands in brackets and may hold spaces and brackets itself, so the
    fields are counted from the last closing one.

    Source:
        proc_pid_stat(5); fields 4, 12, 14, 15, 20, 22 of it.
    """
    pid, _, rest = text.partition(" (")
    fields = rest.rpartition(")")[2].split()
    return ProcessStat(
        pid=int(pid),
        parent=int(fields[1]),
        major_faults=int(fields[9]),
        user_ticks=int(fields[11]),
        system_ticks=int(fields[12]),
        threads=int(fields[17]),
        started_ticks=int(fields[19]),
    )


def parse_waited_s(text: str) -> float:
    """Processor time of the processes that one has waited for, and of those they waited for.

    Args:
        text: The content of the one's `/proc/<pid>/stat`.

    Returns:
        User and system time, in seconds.

    Source:
        proc_pid_stat(5); fields 16, `cutime`, and 17, `cstime`.
    """
    fields = text.rpartition(")")[2].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


class ProcessTree:
    """A process and all that it started, read again and again.

    A process that once belonged to the tree belongs to it until it ends, also when its parent has
    ended before it.

    Args:
        root: Number of the first process.
        with_root: Whether that process belongs to the tree itself; a warden does not.
        proc: Where the kernel shows processes.
    """

    def __init__(self, root: int, *, with_root: bool = True, proc: Path = PROC) -> None:
        """A tree that has not been read yet."""
        self.root = root
        self.with_root = with_root
        self.proc = proc
        self.stats: dict[int, ProcessStat] = {}
        self._known: dict[int, ProcessStat] = {}
        self._strangers: set[int] = set()
        self._counted: dict[str, dict[ProcessKey, float]] = {}

    def refresh(self) -> None:
        """Reads which processes belong to the tree now, and their `stats`.

        Only members and processes not seen before are opened, so it stays cheap where thousands of
        others run.
        """
        present = {int(name) for name in os.listdir(self.proc) if name.isdecimal()}  # noqa: PTH208
        self._strangers &= present
        read = {pid: stat for pid in present - self._strangers if (stat := self._stat(pid))}
        members = self._members(read)
        self._strangers |= read.keys() - members
        self._known = {pid: read[pid] for pid in sorted(members)}
        self.stats = {
            pid: stat for pid, stat in self._known.items() if self.with_root or pid != self.root
        }

    def followed_by(self, root: int) -> ProcessTree:
        """The tree of a process that comes after this one; its counters go on where these stood.

        Args:
            root: Number of its first process.
        """
        later = ProcessTree(root, with_root=self.with_root, proc=self.proc)
        later._counted = self._counted
        return later

    def file(self, pid: int, name: str) -> Path:
        """Path of one of the kernel's files on a process."""
        return self.proc / str(pid) / name

    def grown(self, quantity: str, values: Mapping[ProcessKey, float]) -> float:
        """Sum of a counter over all processes that ever belonged to the tree.

        An ended process keeps the last value it was seen with, so the sum never falls.

        Args:
            quantity: Name of the counter.
            values: Its value for each process (or thread) that is alive.

        Returns:
            The sum, in the unit of the values.
        """
        known = self._counted.setdefault(quantity, {})
        for key, value in values.items():
            known[key] = max(value, known.get(key, 0.0))
        return sum(known.values())

    def _members(self, read: Mapping[int, ProcessStat]) -> set[int]:
        """Numbers of the processes that belong to the tree."""
        members = {pid for pid, stat in self._known.items() if _same(stat, read.get(pid))}
        if self.root in read and (not self._known or self.root in members):
            members.add(self.root)
        while children := {pid for pid, stat in read.items() if stat.parent in members} - members:
            members |= children
        return members

    def _stat(self, pid: int) -> ProcessStat | None:
        try:
            return parse_stat(self.file(pid, "stat").read_text())
        except (OSError, ValueError, IndexError):
            return None


def _same(earlier: ProcessStat, later: ProcessStat | None) -> bool:
    return later is not None and earlier.identity == later.identity
