"""Tells the engines of a distributed JMeter test apart: each counts its own active threads.

`Hostname` is the engine's host. Names of threads are `engine-group 1-2`: host and port of the
engine, if the test is distributed, then name and number of the thread group, and the number of the
thread. Every engine runs the same groups, so names of several engines differ before a hyphen and
are the same behind it. Numbers of groups begin again for groups that set up or tear down, so two
names of one number need not be of two engines. What tells more engines is used: two of them may
share a host, and logs of several tests may be joined.

Source: `StandardJMeterEngine`, `RemoteJMeterEngineImpl` and `ThreadGroup` of Apache JMeter 5.6.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from plimsoll.intake.blocks import WORD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from plimsoll.recording import UsersBound

HOST, THREAD = "Hostname", "threadName"

MOST_NAMES = 1 << 16
"""Names of threads that are looked at in each block."""

MOST_GROUPS = 10_000
"""Names of thread groups that are told apart."""

MOST_LETTERS = 256
"""Longer names of thread groups are left out: work grows with their hyphens."""

_THREAD_NAME = re.compile(r"(.*) (\d+)-\d+", re.DOTALL)
"""Engine and name of a thread group, its number in the plan, and the number of the thread."""

_OTHER_PHASE = re.compile(r"\b(set.?up|tear.?down)\b", re.IGNORECASE)
"""In names of groups that run before or after the others, and are numbered by themselves."""


@dataclass
class Engines:
    """What the rows so far tell of their engines.

    Attributes:
        hosts: Values of `Hostname`.
        groups: Engines and names of thread groups, each with its numbers in the plan.
        by_threads: Engines that the names of threads tell; none unless they tell several.
    """

    hosts: set[str] = field(default_factory=set[str])
    groups: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    by_threads: frozenset[str] = frozenset()

    @property
    def count(self) -> int:
        """How many engines are told apart."""
        return max(len(self.by_threads), len(self.hosts), 1)

    def are_threads_needed(self) -> bool:
        """Whether names of threads tell whose row it is."""
        return len(self.by_threads) > len(self.hosts)

    @property
    def sign(self) -> str:
        """The column that tells them."""
        return THREAD if self.are_threads_needed() else HOST

    @property
    def is_unclear(self) -> bool:
        """Whether one number has names of several groups, which nothing explains."""
        if self.count > 1:
            return False
        numbers = Counter(
            number
            for name, found in self.groups.items()
            if not _OTHER_PHASE.search(name)
            for number in found
        )
        return max(numbers.values(), default=0) > 1

    @property
    def users_bound(self) -> UsersBound:
        """Whether the active threads are those of all engines."""
        if not self.groups:
            return "likely"
        return "none" if self.is_unclear else "certain"

    def of(self, columns: Mapping[str, pa.Array], rows: int) -> Any:
        """The engine of each row; null where it is not known.

        Args:
            columns: Columns of some rows.
            rows: Their number.
        """
        if HOST in columns:
            self.hosts.update(filter(None, columns[HOST].dictionary.to_pylist()))
        if THREAD in columns:
            self._see(columns[THREAD].dictionary.slice(0, MOST_NAMES).to_pylist())
        if THREAD in columns and self.are_threads_needed():
            threads = columns[THREAD]
            named = [self._engine(name or "") for name in threads.dictionary.to_pylist()]
            return pa.array(named, pa.string()).dictionary_encode().take(threads.indices)
        return columns[HOST] if HOST in columns else pa.nulls(rows, WORD)

    def _see(self, names: Iterable[str | None]) -> None:
        known = len(self.groups)
        for name in names:
            match = _THREAD_NAME.fullmatch(name or "")
            if match and len(self.groups) < MOST_GROUPS and len(match[1]) <= MOST_LETTERS:
                self.groups.setdefault(match[1], set()).add(match[2])
        if len(self.groups) > known:
            self.by_threads = _engines(self.groups)

    def _engine(self, name: str) -> str | None:
        """The engine of a thread: the longest with which its name begins."""
        found = (one for one in self.by_threads if name.startswith(f"{one}-"))
        return max(found, key=len, default=None)


def _engines(groups: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """What stands before the group that most engines have; none if no group has several."""
    before: dict[tuple[str, str], set[str]] = {}
    for name, numbers in groups.items():
        if _OTHER_PHASE.search(name):
            continue
        for hyphen in re.finditer("(?<=.)-", name):
            for number in numbers:
                group = (name[hyphen.end() :], number)
                before.setdefault(group, set()).add(name[: hyphen.start()])
    most = max(before, key=lambda group: (len(before[group]), len(group[0])), default=None)
    return frozenset(before[most]) if most and len(before[most]) > 1 else frozenset()
