"""How many servers may run at the same time: as many as memory and threads of the host allow.

What a server needs under load is unknown before its load. Its memory grows by buffers, heaps and
the connections it keeps, so each is taken to need twice what it had at rest and some more. Threads
are those of a server at rest: pools are filled when it starts.

Source: `MemTotal`, proc_meminfo(5); `kernel.pid_max`, proc_sys_kernel(5), which counts threads;
`memory.max` and `pids.max` of control groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.machine import Fact
    from plimsoll.recording import RecordedServer

FEWEST = 2
"""Servers that a group has whatever memory they need: one alone is compared with nothing."""

MEMORY_RATIO = 0.75
"""Share of the memory that the servers of a group may need."""

THREADS_RATIO = 1 / 3
"""Share of the threads that the host allows, from which on no further server starts: the next one
may have as many as are left, and one that cannot start its threads ends."""

GROWTH_RATIO = 2.0
"""Memory of a server under load by that at rest."""

GROWTH_BYTES = 256 * 2**20
"""What it may need besides: buffers of connections, the first garbage of a heap, and 110 MB of the
lab for the requests of 25 endpoints."""


@dataclass(frozen=True)
class GroupRoom:
    """What the servers of a group may need in all.

    Attributes:
        memory_bytes: Memory; None where it is unknown.
        threads: Threads; likewise.
    """

    memory_bytes: float | None = None
    threads: float | None = None

    @classmethod
    def of(cls, host: Mapping[str, Fact]) -> GroupRoom:
        """The room on a host.

        Args:
            host: Its facts.
        """
        memory = _least(host, "memory_bytes", "cgroup_memory_bytes")
        threads = _least(host, "processes_max", "cgroup_processes")
        return cls(
            None if memory is None else MEMORY_RATIO * memory,
            None if threads is None else THREADS_RATIO * threads,
        )

    def is_full(self, at_rest: Sequence[RecordedServer]) -> bool:
        """Whether one more server may be too much.

        Args:
            at_rest: The servers that run, without load.
        """
        if (
            self.threads is not None
            and sum(one.rest_threads or 1 for one in at_rest) > self.threads
        ):
            return True
        if self.memory_bytes is None or len(at_rest) < FEWEST:
            return False
        needed = [GROWTH_RATIO * _memory_bytes(one) + GROWTH_BYTES for one in at_rest]
        return sum(needed) + max(needed) > self.memory_bytes


UNLIMITED = GroupRoom()
"""Room for whatever starts."""


def _least(host: Mapping[str, Fact], *names: str) -> float | None:
    """The least of some facts that are known."""
    known = [float(value) for name in names if isinstance(value := host.get(name), int | float)]
    return min(known, default=None)


def _memory_bytes(server: RecordedServer) -> int:
    """Its memory at rest, with what its processes share counted once where that is known."""
    return server.rest_pss_bytes or server.rest_rss_bytes or 0
