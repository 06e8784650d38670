"""This host: its cores, its limit of open files, how busy it is, and what it is."""

from __future__ import annotations

import os
import platform
import resource
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from plimsoll import machine
from workbench.pairing import percent, spread, words

QUIET_RATIO = 0.05
"""Share of all cores that other programs may take on a machine that counts as quiet."""

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Cores:
    """Who runs where.

    Attributes:
        all: Cores that the benches may use.
        server: Core of the server.
        tool: Core of the tool; the server's where there is no other.
    """

    all: tuple[int, ...]
    server: int
    tool: int


def cores() -> Cores:
    """The first core for the server, the last one for the tool."""
    allowed = machine.allowed_cores()
    return Cores(allowed, allowed[0], allowed[-1])


@contextmanager
def confined(to: tuple[int, ...]) -> Iterator[None]:
    """Whatever is started meanwhile runs on these cores only."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, to)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


SPARE_FILES = 100
"""Open files that a tool or the server needs besides its connections."""


def allow_connections(asked: int) -> int:
    """Raises the limit of open files, for this process and all that it starts.

    Args:
        asked: Connections that one process is to keep open.

    Returns:
        As many connections as are allowed now, at most the requested ones.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < asked + SPARE_FILES:
        _raise_limit(asked + SPARE_FILES, hard)
    return min(asked, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - SPARE_FILES)


def _raise_limit(needed: int, hard: int) -> None:
    """Raises it to what is needed; beyond the hard limit only root may."""
    for limits in ((needed, max(needed, hard)), (hard, hard)):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        except (ValueError, OSError):
            continue
        return


def busy_s() -> float:
    """Processor time of all programs on all cores since the host started, stolen time included.

    Source: `proc_stat(5)`, line `cpu`; to the tick, mostly 10 ms.
    """
    first = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0]
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, first.split()[1:9])
    return (user + nice + system + irq + softirq + steal) / _TICKS_PER_S


def others(ratios: Iterable[float]) -> str:
    """How much of the machine other programs took, and what that means for the figures.

    Args:
        ratios: Share of all cores in each run.
    """
    taken = spread([*ratios])
    if taken is None:
        return ""
    said = f"Other programs took {words(taken, percent, ' to ')} of all cores meanwhile."
    if taken.median <= QUIET_RATIO:
        return said
    return f"{said} **The machine was not quiet: take the figures again before using them.**"


def described() -> str:
    """The host in one sentence, with the day."""
    facts, cores = machine.facts(), machine.allowed_cores()
    virtual = "a virtual machine" if facts["virtual"] else "a machine"
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {virtual} with {len(cores)} cores "
        f"({facts['cpu_model']}), {facts['distribution']}, Linux {platform.release()}"
    )
