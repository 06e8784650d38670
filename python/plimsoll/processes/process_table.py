"""Process trees, read from /proc.

Only the standard library, since the supervisor uses it too.
"""

from __future__ import annotations

import os
import signal
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

_PROC = Path("/proc")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")

_LONGEST_STAT = 4096
"""More bytes than `stat` of a process has: 52 numbers of at most 20 digits, and a name."""


@dataclass(frozen=True)
class Process:
    """One process at one time.

    Attributes:
        pid: Its process id, which is reused after its end.
        parent: The process id of its parent.
        started_ticks: Clock ticks from boot to its start; unique together with `pid`.
        zombie: It has ended with all its threads, and its parent has not waited for it.
        name: Name of its program, at most 15 bytes.
        threads: How many threads it has; not compared.
    """

    pid: int
    parent: int
    started_ticks: int
    zombie: bool
    name: str
    threads: int = field(default=1, compare=False)


def process(pid: int) -> Process | None:
    """The process with an id, or None if there is none.

    Source:
        proc_pid_stat(5): `comm` (2) is in parentheses; `state` (3), `ppid` (4), `num_threads`
        (20), `starttime` (22). The state is that of the first thread, which others may outlive.
    """
    # Without pathlib: between turns the whole table is read, in a sixth of the time.
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        stat = os.read(descriptor, _LONGEST_STAT)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    before, _, after = stat.rpartition(b")")
    fields = after.split()
    zombie = fields[0] in b"ZX" and int(fields[17]) <= 1
    name = before.partition(b"(")[2].decode("utf-8", "replace")
    return Process(pid, int(fields[1]), int(fields[19]), zombie, name, int(fields[17]))


def own_age_s() -> float:
    """Seconds since this process was started.

    Source:
        proc_pid_stat(5): `starttime` (22) is in ticks since boot.
    """
    found = process(os.getpid())
    if found is None:
        return time.process_time()
    return time.clock_gettime(time.CLOCK_BOOTTIME) - found.started_ticks / _TICKS_PER_S


def everything() -> tuple[Process, ...]:
    """Every visible process of the host, by ascending id."""
    numbers = sorted(int(name) for name in os.listdir(_PROC) if name.isdigit())  # noqa: PTH208
    return tuple(found for number in numbers if (found := process(number)) is not None)


def descendants(pid: int) -> tuple[Process, ...]:
    """The descendants of a process, parents before children.

    A process that is forked while /proc is read may be missing; call it again to get all.
    """
    children: defaultdict[int, list[Process]] = defaultdict(list)
    for found in everything():
        children[found.parent].append(found)
    below: list[Process] = list(children[pid])
    for found in below:
        below.extend(children[found.pid])
    return tuple(below)


def marked(marker: str) -> tuple[Process, ...]:
    """The living processes with `marker` in their environment.

    Args:
        marker: Name and value: `NAME=value`.

    Source:
        proc_pid_environ(5): the environment at the start of the program.
    """
    return tuple(found for found in everything() if marker.encode() in _environment(found.pid))


def send(target: Process, number: signal.Signals) -> bool:
    """Sends a signal to this process, never to a later one with its id.

    Returns:
        Whether it was sent; False if the process is gone or belongs to another user.

    Source:
        pidfd_open(2): the descriptor refers to the process that had the id when it was opened.
    """
    try:
        descriptor = os.pidfd_open(target.pid)
    except OSError:
        return False
    try:
        return _is_still(target) and _signalled(descriptor, number)
    finally:
        os.close(descriptor)


def _is_still(target: Process) -> bool:
    now = process(target.pid)
    return now is not None and now.started_ticks == target.started_ticks


def _signalled(descriptor: int, number: signal.Signals) -> bool:
    try:
        signal.pidfd_send_signal(descriptor, number)
    except OSError:
        return False
    return True


def _environment(pid: int) -> list[bytes]:
    try:
        return (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
