"""Processes that begin and end within a turn have no clock left to read."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.processes import cpu_clock
from plimsoll.processes.tree import ProcessTree
from plimsoll.sampling.scope import Scope
from plimsoll.serving.short_lived import ShortLived
from plimsoll.serving.turns_here import TurnsHere

WORKS_IN_CHILDREN = """
import os, sys, time
for line in sys.stdin:
    for _ in range(10):
        if not (pid := os.fork()):
            while time.process_time() < 0.01:
                pass
            os._exit(0)
        os.waitpid(pid, 0)
    print(flush=True)
"""
WORKS_ITSELF = """
import sys, time
for line in sys.stdin:
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    print(flush=True)
"""


@contextmanager
def server(code: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-S", "-c", f"print(flush=True)\n{code}"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        try:
            assert process.stdout is not None and process.stdout.readline()
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(("code", "are_missed"), [(WORKS_IN_CHILDREN, True), (WORKS_ITSELF, False)])
def test_work_in_processes_that_end_is_missed(code: str, are_missed: bool) -> None:
    found = ShortLived()
    with server(code) as process:
        assert process.stdin is not None and process.stdout is not None
        tree = ProcessTree(process.pid)
        for _ in range(3):
            tree.refresh()
            before_s, used = tree.ended_s, cpu_clock.of(tree.stats)
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()
            cpu_ns = cpu_clock.grown(used, cpu_clock.of(used))
            tree.refresh()
            assert cpu_ns is not None
            found.count(before_s, tree.ended_s, cpu_ns)
    assert found.are_missed is are_missed


@pytest.mark.parametrize(("code", "is_known"), [(WORKS_IN_CHILDREN, False), (WORKS_ITSELF, True)])
def test_the_cpu_time_of_such_a_turn_is_unknown(code: str, is_known: bool) -> None:
    with server(code) as process:
        assert process.stdin is not None and process.stdout is not None
        tree = ProcessTree(process.pid)
        local: Any = SimpleNamespace(tree=tree, scope=Scope("server"), alive=lambda: True)
        turns = TurnsHere(local)
        turns.begin(thorough=False)
        process.stdin.write("\n")
        process.stdin.flush()
        process.stdout.readline()
        cpu_ns = turns.end(thorough=False).cpu_ns
    assert (cpu_ns is not None) is is_known
    assert cpu_ns is None or cpu_ns > 0.05e9


def test_a_small_part_is_not_missed_and_a_greater_one_is_for_ever() -> None:
    found = ShortLived()
    found.count(5.00, 5.01, 10**10)
    found.count(5.02, 5.03, 10**10)
    assert not found.are_missed
    found.count(5.03, 5.40, 10**10)
    assert found.are_missed
    found.count(5.40, 5.40, 10**12)
    assert found.are_missed


def test_single_ticks_are_not_missed() -> None:
    found = ShortLived()
    found.count(5.00, 5.01, 10**7)
    assert not found.are_missed
