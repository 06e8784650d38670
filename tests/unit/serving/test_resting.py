"""Servers between their turns: those that go on working are frozen."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plimsoll.processes import cpu_clock, process_table
from plimsoll.serving import resting
from plimsoll.serving.resting import RestingServer

BUSY = "while True: pass"
IDLE = "import time; time.sleep(60)"
BUSY_FOR_A_MOMENT = (
    "import time\nend = time.monotonic() + 0.6\nwhile time.monotonic() < end: pass\ntime.sleep(60)"
)


MANY_THREADS = 1500
MANY = f"""
import threading, time
threading.stack_size(65536)
asleep = threading.Lock()
asleep.acquire()
for _ in range({MANY_THREADS}):
    threading.Thread(target=asleep.acquire, daemon=True).start()
time.sleep(60)
"""


@contextmanager
def server(code: str) -> Iterator[RestingServer]:
    """A server that has begun with what it does."""
    command = [sys.executable, "-S", "-c", f"print(flush=True)\n{code}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None and process.stdout.readline()
            yield RestingServer(lambda: (process.pid,))
        finally:
            process.kill()


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_server_that_works_while_it_rests_is_frozen_in_later_rests() -> None:
    with server(BUSY) as rest:
        (pid,) = rest.processes()
        rest.begin()
        time.sleep(0.3)
        rest.end()
        assert rest.freezes
        rest.begin()
        time.sleep(0.05)
        used = cpu_clock.of((pid,))
        time.sleep(0.2)
        assert cpu_clock.grown(used, cpu_clock.of((pid,))) == 0
        assert state(pid) == "T"
        rest.end()
        time.sleep(0.05)
        assert state(pid) != "T"


def test_a_server_that_is_idle_is_not_frozen() -> None:
    with server(IDLE) as rest:
        for _ in range(2):
            rest.begin()
            time.sleep(0.2)
            rest.end()
        assert not rest.freezes


def test_what_a_server_does_right_after_its_turn_does_not_freeze_it() -> None:
    with server(IDLE) as rest:
        rest.begin()
        rest.end()
        assert not rest.freezes


def test_settling_waits_for_what_is_left_to_do() -> None:
    with server(BUSY_FOR_A_MOMENT) as rest:
        (pid,) = rest.processes()
        rest.settle()
        used = cpu_clock.of((pid,))
        time.sleep(0.2)
        grown = cpu_clock.grown(used, cpu_clock.of((pid,)))
        assert grown is not None
        assert grown < resting.SETTLED_CORES * 0.2e9


def test_settling_ends_where_a_server_never_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resting, "SETTLE_S", 0.5)
    with server(BUSY) as rest:
        began_s = time.monotonic()
        rest.settle()
        assert time.monotonic() - began_s >= 0.5


def test_who_has_nothing_to_do_is_idle_from_the_first_moment() -> None:
    with server(IDLE) as rest:
        assert rest.wait_until_idle()
    with server(BUSY_FOR_A_MOMENT) as rest:
        assert not rest.wait_until_idle()
        assert rest.wait_until_idle()
        assert not rest.freezes


def test_many_threads_have_stopped_and_go_on_before_anything_else_begins() -> None:
    with server(MANY) as rest:
        (pid,) = rest.processes()
        while (found := process_table.process(pid)) is None or found.threads <= MANY_THREADS:
            time.sleep(0.05)
        rest.wait_until_idle()
        rest.freezes = True
        for act in (rest.begin, rest.end, rest.begin, rest.end):
            before = cpu_clock.of((pid,))
            act()
            at_once = cpu_clock.of((pid,))
            time.sleep(0.3)
            spent_ns = cpu_clock.grown(before, at_once)
            left_ns = cpu_clock.grown(at_once, cpu_clock.of((pid,)))
            assert spent_ns is not None and left_ns is not None
            assert left_ns < spent_ns / 5
