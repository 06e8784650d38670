"""Run delay: how long threads were ready to run and waited for a core, and how long they ran.

All are counters in seconds.

Where nothing else runs, a thread waits for threads of its own tree only, as those of a server with
more threads than cores do. So run delay is a witness beside the balance of the cores
(`aggregate/cores.py`): what others take and no thread waits for costs nothing.

A kernel without scheduler statistics shows nothing, or zeros, and then there is no reading. A
thread that ended keeps its last reading, because the kernel passes its run delay to no other
thread. How long the same threads ran shows how much of the tree they stand for.

Source: the kernel's document on scheduler statistics (`sched-stats`), the first two fields of
`/proc/<pid>/task/<tid>/schedstat`, in nanoseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.processes.tree import ProcessTree, ThreadKey
    from plimsoll.sampling.scope import Scope

_MANY = 200
"""With more threads only thorough readings read them: each costs a file, about 15 µs."""


def read(scope: Scope) -> dict[str, float]:
    """Run delay and run time of a process tree so far, and of its busiest thread, in seconds."""
    tree = scope.tree
    if tree is None or not (scope.thorough or _are_few(tree)):
        return {}
    ran: dict[ThreadKey, float] = {}
    waited: dict[ThreadKey, float] = {}
    for thread, text in tree.threads("schedstat"):
        ran[thread], waited[thread] = parse_times(text)
    if not any(ran.values()):
        return {}
    busiest_s = tree.greatest("run_time_s", ran)
    return {
        "busiest_thread_s": busiest_s,
        "run_delay_s": tree.grown("run_delay_s", waited),
        "run_time_s": tree.grown("run_time_s", ran),
    }


def parse_times(text: str) -> tuple[float, float]:
    """How long a thread ran, and how long it was ready and waited for a core, in seconds.

    Args:
        text: The content of `/proc/<pid>/task/<tid>/schedstat`.
    """
    ran, waited, _slices = text.split()
    return int(ran) / 1e9, int(waited) / 1e9


def _are_few(tree: ProcessTree) -> bool:
    return sum(stat.threads for stat in tree.stats.values()) <= _MANY
