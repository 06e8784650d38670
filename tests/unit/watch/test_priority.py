"""Whoever looks on gives way to server and driver."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CORES = sorted(os.sched_getaffinity(0))


def affinity_after(*calls: str) -> list[list[int]]:
    """Cores of each thread of a process after some calls."""
    code = f"""
import os, threading, time
from pathlib import Path
from plimsoll.watch import priority
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
{"; ".join(calls)}
print([sorted(os.sched_getaffinity(int(one.name))) for one in Path("/proc/self/task").iterdir()])
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return [*map(list, eval(ran.stdout))]  # noqa: S307 - it is what the code above prints


@pytest.mark.skipif(len(CORES) < 2, reason="this host has one core")
def test_every_thread_leaves_the_cores_of_server_and_driver() -> None:
    taken, others = CORES[:1], CORES[1:]
    assert affinity_after(f"priority.keep_off({taken}, {CORES})") == [others, others]


def test_without_other_cores_it_may_use_all() -> None:
    assert affinity_after(f"priority.keep_off({CORES}, {CORES})") == [CORES, CORES]


@pytest.mark.skipif(len(CORES) < 2, reason="this host has one core")
def test_when_the_run_is_over_it_comes_back() -> None:
    calls = (
        f"priority.keep_off({CORES[:1]}, {CORES})",
        f"priority.keep_off((), {CORES})",
    )
    assert affinity_after(*calls) == [CORES, CORES]


def test_it_has_a_low_priority_and_never_a_higher_one() -> None:
    code = (
        "import os; from plimsoll.watch import priority; priority.lower_priority(); "
        "print(os.getpriority(os.PRIO_PROCESS, 0))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(ran.stdout) == max(10, os.getpriority(os.PRIO_PROCESS, 0))
