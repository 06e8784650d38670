"""CPU time of processes to the nanosecond, as short turns need it.

`/proc/<pid>/stat` counts whole ticks, of which a turn of 250 ms has 25.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

_SCHEDULED = 2
"""CPUCLOCK_SCHED: time on a core, of the whole process when CPUCLOCK_PERTHREAD is not set."""


def of(pids: Iterable[int]) -> dict[int, int]:
    """CPU time so far of each process that lives, its ended threads included, in nanoseconds.

    Source:
        clock_getcpuclockid(3); `MAKE_PROCESS_CPUCLOCK` in `include/linux/posix-timers_types.h`.
    """
    found: dict[int, int] = {}
    for pid in pids:
        try:
            found[pid] = time.clock_gettime_ns((~pid << 3) | _SCHEDULED)
        except OSError:
            continue
    return found


def grown(before: Mapping[int, int], after: Mapping[int, int]) -> int | None:
    """CPU time between two readings; of a process that is new, all it has used.

    None when a process ended between them: what it used since the first one is unknown.
    """
    if before.keys() - after.keys():
        return None
    return sum(used - before.get(pid, 0) for pid, used in after.items())
