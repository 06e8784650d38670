"""CPU time of processes by their clocks."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading

from plimsoll.processes import cpu_clock

BURNS = """
import sys, time
sys.stdin.readline()
while time.process_time() < float(sys.argv[1]):
    pass
print("burnt", flush=True)
sys.stdin.readline()
"""


def child(seconds: float) -> subprocess.Popen[str]:
    """A process that uses that much CPU time once it is told to, and then rests."""
    command = [sys.executable, "-S", "-c", BURNS, str(seconds)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def say(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def burn(process: subprocess.Popen[str]) -> None:
    say(process)
    assert process.stdout is not None
    assert process.stdout.readline() == "burnt\n"


def test_the_clock_of_a_process_tells_what_its_resource_usage_does() -> None:
    earlier = resource.getrusage(resource.RUSAGE_CHILDREN)
    with child(0.3) as process:
        burn(process)
        read = cpu_clock.of((process.pid,))[process.pid] / 1e9
        say(process)
    later = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = sum(later[:2]) - sum(earlier[:2])
    assert 0.3 <= read <= used
    assert read > 0.8 * used


def test_growth_is_what_was_used_between_two_readings() -> None:
    with child(0.3) as works, child(0.3) as rests:
        both = (works.pid, rests.pid)
        before = cpu_clock.of(both)
        burn(works)
        after = cpu_clock.of(both)
        worked = cpu_clock.grown({works.pid: before[works.pid]}, {works.pid: after[works.pid]})
        both_worked = cpu_clock.grown(before, after)
        assert worked is not None
        assert both_worked is not None
        assert 0.1e9 < worked <= after[works.pid]
        assert worked <= both_worked < 1.1 * worked
        say(works)
        rests.kill()


def test_threads_that_have_ended_count() -> None:
    before = cpu_clock.of((os.getpid(),))
    thread = threading.Thread(target=lambda: sum(range(2_000_000)))
    thread.start()
    thread.join()
    after = cpu_clock.of((os.getpid(),))
    assert (cpu_clock.grown(before, after) or 0) > 0


def test_when_a_process_has_ended_nobody_knows_what_was_used() -> None:
    with child(0.01) as process:
        burn(process)
        before = cpu_clock.of((process.pid, os.getpid()))
        say(process)
        process.wait()
        after = cpu_clock.of((process.pid, os.getpid()))
    assert before.keys() == {process.pid, os.getpid()}
    assert after.keys() == {os.getpid()}
    assert cpu_clock.grown(before, after) is None
    assert cpu_clock.of(()) == {}


def test_of_a_process_that_is_new_all_counts() -> None:
    assert cpu_clock.grown({1: 100}, {1: 130, 2: 7}) == 37
    assert cpu_clock.grown({1: 100, 2: 50}, {1: 130}) is None
    assert cpu_clock.grown({}, {}) == 0
