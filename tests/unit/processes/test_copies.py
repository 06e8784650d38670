"""`copies`: a command that runs several times is started, stopped and lost as one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

import pytest

from plimsoll.processes import copies

WAITING = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit({code}))
os.write(1, f"{{os.getpid()}} {{os.environ['WORKERS']}}\\n".encode())
time.sleep(600)
"""


@contextmanager
def running(count: int, code: int = 0) -> Generator[subprocess.Popen[str]]:
    """Copies of a program that ends with a code when it is told to."""
    program = [sys.executable, "-c", WAITING.format(code=code)]
    command = [sys.executable, "-I", "-S", copies.__file__, str(count), *program]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as started:
        try:
            yield started
        finally:
            started.terminate()


def read(started: subprocess.Popen[str], count: int) -> list[list[str]]:
    assert started.stdout is not None
    return [started.stdout.readline().split() for _ in range(count)]


@pytest.mark.parametrize(("code", "expected"), [(0, 0), (143, 143)])
def test_a_signal_is_passed_on_to_each_copy(code: int, expected: int) -> None:
    with running(3, code) as started:
        lines = read(started, 3)
        assert len({pid for pid, _ in lines}) == 3
        assert {workers for _, workers in lines} == {"1"}
        started.terminate()
        assert started.wait(60) == expected


def test_the_others_are_stopped_when_one_is_killed() -> None:
    with running(2) as started:
        (pid, _), _ = read(started, 2)
        os.kill(int(pid), signal.SIGKILL)
        _, said = started.communicate(timeout=60)
    assert said == f"process {pid} ended with exit code -9\n"
    assert started.returncode == 128 + signal.SIGKILL
