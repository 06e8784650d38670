"""Which cores the threads of processes may use, on processes that start threads all the time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from plimsoll.processes import affinity

EVERY = os.sched_getaffinity(0)
OWN = {min(EVERY)}

RESTLESS = """
import threading, time
print("begun", flush=True)
while True:
    threading.Thread(target=time.sleep, args=(0.05,)).start()
    time.sleep(0.001)
"""
"""Starts a thread each millisecond."""

pytestmark = pytest.mark.skipif(len(EVERY) < 2, reason="the host has one core")


@pytest.fixture
def restless() -> Generator[int]:
    """Id of such a process."""
    with subprocess.Popen([sys.executable, "-c", RESTLESS], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        yield process.pid
        process.kill()


def cores(pid: int) -> set[int]:
    """Cores that any thread of a process may use."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found |= os.sched_getaffinity(int(task.name))
        except OSError:
            continue
    return found


def test_every_thread_is_confined_those_too_that_start_meanwhile(restless: int) -> None:
    assert cores(restless) == EVERY
    affinity.confine((restless,), OWN)
    assert cores(restless) == OWN


def test_a_process_may_use_more_within_the_block_only(restless: int) -> None:
    affinity.confine((restless,), OWN)
    with affinity.widened(lambda: (restless,), OWN, EVERY):
        assert cores(restless) == EVERY
    assert cores(restless) == OWN


def test_a_process_that_is_not_confined_is_left_as_it_is(restless: int) -> None:
    with affinity.widened(lambda: (restless,), (), OWN):
        assert cores(restless) == EVERY
    assert cores(restless) == EVERY


def test_a_process_that_has_ended_is_left_out() -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    affinity.confine((process.pid,), OWN)


def test_a_process_has_other_cores_within_the_block_only(restless: int) -> None:
    with affinity.confined(lambda: (restless,), OWN) as found:
        assert found == OWN == cores(restless)
    assert cores(restless) == EVERY


def test_cores_that_are_not_there_are_not_given(restless: int) -> None:
    with affinity.confined(lambda: (restless,), {4000}) as found:
        assert found == EVERY
