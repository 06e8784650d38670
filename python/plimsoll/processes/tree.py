"""CPU time and other counters of process trees, including ended processes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
"""Clock ticks per second, the unit of CPU time in /proc."""

_SETTLINGS = 5
"""The most attempts per refresh to attribute the counters of ended processes."""

ThreadKey = tuple[int, int, int]
"""Number and start of a process, and number of one of its threads."""


@dataclass(frozen=True)
class ProcessCounters:
    """Counters of a process since its start; they only grow.

    Attributes:
        major_faults: Page faults that needed a disk.
        user_ticks: User time, in clock ticks.
        system_ticks: System time, in clock ticks.
    """

    major_faults: int = 0
    user_ticks: int = 0
    system_ticks: int = 0

    @property
    def cpu_s(self) -> float:
        """User and system time, in seconds."""
        return (self.user_ticks + self.system_ticks) / TICKS_PER_S

    def __add__(self, other: ProcessCounters) -> ProcessCounters:
        """Each counter of both together."""
        return ProcessCounters(
            self.major_faults + other.major_faults,
            self.user_ticks + other.user_ticks,
            self.system_ticks + other.system_ticks,
        )

    def beyond(self, other: ProcessCounters) -> ProcessCounters:
        """By how much each counter exceeds the other's; 0 if it does not."""
        return ProcessCounters(
            max(self.major_faults - other.major_faults, 0),
            max(self.user_ticks - other.user_ticks, 0),
            max(self.system_ticks - other.system_ticks, 0),
        )


@dataclass(frozen=True)
class ProcessStat:
    """The kernel's counters of one process.

    Attributes:
        pid: Its process id.
        parent: Process id of its parent.
        own: Counters of all its threads, including ended ones.
        waited: Counters of its ended descendants, as far as their parents waited for them.
        threads: Number of its threads.
        started_ticks: Its start in clock ticks since boot, which identifies reused process ids.
        zombie: It has ended with all its threads, and its parent has not waited for it.

    Source:
        proc_pid_stat(5).
    """

    pid: int
    parent: int
    own: ProcessCounters
    waited: ProcessCounters
    threads: int
    started_ticks: int
    zombie: bool = False

    @property
    def identity(self) -> tuple[int, int]:
        """Process id and start, which are unique until the next boot."""
        return self.pid, self.started_ticks


def parse_stat(text: str) -> ProcessStat:
    """Parses one `/proc/<pid>/stat`.

    The name of the program is in parentheses and may contain spaces and parentheses itself, so
    fields are counted from the last closing one.

    Source:
        proc_pid_stat(5); fields 3, 4, 12 to 17, 20, 22 of it.
    """
    pid, _, rest = text.partition(" (")
    fields = rest.rpartition(")")[2].split()
    return ProcessStat(
        pid=int(pid),
        parent=int(fields[1]),
        own=ProcessCounters(int(fields[9]), int(fields[11]), int(fields[12])),
        waited=ProcessCounters(int(fields[10]), int(fields[13]), int(fields[14])),
        threads=int(fields[17]),
        started_ticks=int(fields[19]),
        zombie=fields[0] in ("Z", "X") and int(fields[17]) <= 1,
    )


class ProcessTree:
    """A process and all its descendants, read repeatedly; of some servers several such processes.

    A process that once belonged to the tree belongs to it until it ends, even if its parent ends
    first.

    Counters of ended processes remain counted. The kernel adds them to the process that waited for
    them, the parent or the supervisor that adopted them, even if they ran only between two
    refreshes. No process waits if a program ignores SIGCHLD, and unrelated ones do if there is no
    supervisor: the last counters seen are then kept.

    Args:
        root: Process id of the root.
        with_root: Whether the root belongs to the tree; a supervisor does not.
        others: Process ids of further roots, which belong to it with their descendants.
        proc: The proc file system.
    """

    def __init__(
        self, root: int, *, with_root: bool = True, others: Iterable[int] = (), proc: Path = PROC
    ) -> None:
        """Creates a tree that has not been read yet."""
        self.root = root
        self.roots = (root, *others)
        self.with_root = with_root
        self.proc = proc
        self.stats: dict[int, ProcessStat] = {}
        self._known: dict[int, ProcessStat] = {}
        self._strangers: set[str] = set()
        self._unclaimed = ProcessCounters()
        self._counted: dict[str, dict[ThreadKey, float]] = {}
        self._greatest: dict[str, float] = {}

    @property
    def spent(self) -> ProcessCounters:
        """Counters of all processes that ever belonged to the tree, at the last refresh."""
        return sum(map(self._of, self._known.values()), start=self._unclaimed)

    @property
    def ended_s(self) -> float:
        """CPU time of those that have ended, at the last refresh, in seconds."""
        living = (stat.own for stat in self.stats.values())
        return self.spent.beyond(sum(living, start=ProcessCounters())).cpu_s

    def refresh(self) -> None:
        """Reads which processes belong to the tree now, and their `stats`.

        Only members and new processes are opened, so it is cheap even with thousands of others.
        Parents are opened before their children, which usually have higher numbers, so that a child
        that ends meanwhile is not counted twice.
        """
        before = self._known
        present = set(os.listdir(self.proc))  # noqa: PTH208
        self._strangers &= present
        opened = sorted(int(name) for name in present - self._strangers if name.isdecimal())
        read = {pid: stat for pid in opened if (stat := self._stat(pid))}
        members = self._members(read)
        self._strangers |= {str(pid) for pid in read.keys() - members}
        self._known = {pid: read[pid] for pid in sorted(members)}
        self._settle(before)
        self.stats = {pid: stat for pid, stat in self._known.items() if self._counts(stat)}

    def pids(self) -> tuple[int, ...]:
        """Refreshes, and gives the ids of its processes, without opening those of others."""
        self.refresh()
        return tuple(self.stats)

    def followed_by(self, root: int) -> ProcessTree:
        """The tree of a successor process, whose counters continue these.

        Args:
            root: Process id of its root.
        """
        later = ProcessTree(root, with_root=self.with_root, proc=self.proc)
        later._counted = self._counted
        later._greatest = self._greatest
        later._unclaimed = self.spent
        return later

    def file(self, pid: int, name: str) -> Path:
        """Path of a file in `/proc/<pid>`."""
        return self.proc / str(pid) / name

    def threads(self, name: str) -> Iterator[tuple[ThreadKey, str]]:
        """Each thread of the tree with the content of a file in its folder of /proc.

        Threads that end meanwhile are skipped.

        Args:
            name: Name of the file in `/proc/<pid>/task/<tid>`.
        """
        for pid, stat in self.stats.items():
            folder = f"{self.proc}/{pid}/task"
            for thread in _listed(folder):
                try:
                    with open(f"{folder}/{thread}/{name}", errors="replace") as file:  # noqa: PTH123
                        yield (*stat.identity, int(thread)), file.read()
                except (FileNotFoundError, ProcessLookupError):
                    continue

    def greatest(self, quantity: str, values: Mapping[ThreadKey, float]) -> float:
        """Sum of what the thread that grew most grew by, from each reading to the next.

        To be called before `grown`, which keeps the values.

        Args:
            quantity: Name of the counter, as for `grown`.
            values: Its value for each living thread.

        Returns:
            The sum since the first reading, in the unit of the values.
        """
        known = self._counted.get(quantity)
        growths = (
            [] if known is None else [one - known.get(key, 0.0) for key, one in values.items()]
        )
        total = self._greatest.get(quantity, 0.0) + max(growths, default=0.0)
        self._greatest[quantity] = total
        return total

    def grown(self, quantity: str, values: Mapping[ThreadKey, float]) -> float:
        """Sum of a per-thread counter that the kernel does not pass on when a thread ends.

        An ended thread keeps its last known value, so the sum never decreases.

        Args:
            quantity: Name of the counter.
            values: Its value for each living thread.

        Returns:
            The sum, in the unit of the values.
        """
        known = self._counted.setdefault(quantity, {})
        for key, value in values.items():
            known[key] = max(value, known.get(key, 0.0))
        return sum(known.values())

    def _counts(self, stat: ProcessStat) -> bool:
        """Whether a process belongs to the tree; a supervisor does not."""
        return self.with_root or stat.pid != self.root

    def _of(self, stat: ProcessStat) -> ProcessCounters:
        """Counters that one process adds to the tree: its own, and those it waited for."""
        return stat.own + stat.waited if self._counts(stat) else stat.waited

    def _settle(self, before: Mapping[int, ProcessStat]) -> None:
        """Counts ended processes exactly once: through a parent, or here.

        Args:
            before: The processes known at the previous refresh.
        """
        ended = self._ended(before)
        for _ in range(_SETTLINGS):
            if not ended:
                return
            parents = {self.root, *(stat.parent for stat in ended)} & self._known.keys()
            for pid in parents:
                self._known[pid] = self._stat(pid) or self._known[pid]
            if not self._drop_ended_children(parents):
                break
            ended = self._ended(before)
        left = sum(map(self._of, ended), start=ProcessCounters())
        stayed = (pid for pid, stat in before.items() if _same(stat, self._known.get(pid)))
        claims = (self._known[pid].waited.beyond(before[pid].waited) for pid in stayed)
        claimed = sum(claims, start=ProcessCounters())
        self._unclaimed += left.beyond(claimed)

    def _ended(self, before: Mapping[int, ProcessStat]) -> list[ProcessStat]:
        """Those of some processes that are no longer known."""
        return [stat for pid, stat in before.items() if not _same(stat, self._known.get(pid))]

    def _drop_ended_children(self, parents: Set[int]) -> bool:
        """Drops children that ended since they were read, since their parents may count them now.

        Args:
            parents: Processes that were read again after their children.

        Returns:
            Whether there were any.
        """
        children = [stat for stat in self._known.values() if stat.parent in parents]
        dropped = [stat.pid for stat in children if not _same(stat, self._stat(stat.pid))]
        for pid in dropped:
            del self._known[pid]
        return bool(dropped)

    def _members(self, read: Mapping[int, ProcessStat]) -> set[int]:
        """Process ids of the tree."""
        members = {pid for pid, stat in self._known.items() if _same(stat, read.get(pid))}
        if not self._known:
            members = {root for root in self.roots if root in read}
        while children := {pid for pid, stat in read.items() if stat.parent in members} - members:
            members |= children
        return members

    def _stat(self, pid: int) -> ProcessStat | None:
        try:
            return parse_stat(self.file(pid, "stat").read_text(errors="replace"))
        except (OSError, ValueError, IndexError):
            return None


def shown(path: Path) -> str:
    """The content of a file of the kernel; empty if this host does not provide it.

    A name in it is of bytes: that of a program ends after 15, within a character or not.
    """
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def _same(earlier: ProcessStat, later: ProcessStat | None) -> bool:
    return later is not None and earlier.identity == later.identity


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except (FileNotFoundError, ProcessLookupError):
        return []
