"""System calls of a server, where the kernel counts them and where it refuses."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from plimsoll.campaign.load import Stage
from plimsoll.lab.metering import note_system_calls
from plimsoll.processes.tree import ProcessTree
from plimsoll.sampling import perf_events, system_calls
from plimsoll.sampling.system_calls import SystemCalls, window_ns

MS = 1_000_000
CALLS = 2_000

BUSY = f"""
import os, sys, threading
def work():
    for _ in range({CALLS}):
        os.getppid()
print(flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=work), threading.Thread(target=work)]
for one in threads: one.start()
for one in threads: one.join()
if not os.fork():
    work()
    os._exit(0)
os.wait()
print(flush=True)
sys.stdin.readline()
"""
"""Makes calls in two threads and a child that it starts when it is told to."""


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of trace events; the kernel is not asked for them."""
    number = tmp_path / "events" / "raw_syscalls" / "sys_enter" / "id"
    number.parent.mkdir(parents=True)
    number.write_text("17\n")
    monkeypatch.setenv(system_calls.ROOT_VARIABLE, str(tmp_path))
    return number


@pytest.fixture(scope="module")
def real_events(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where this host has its trace events; root mounts them for the test."""
    if (system_calls.ROOT / "events").is_dir():
        yield system_calls.ROOT
        return
    folder = tmp_path_factory.mktemp("tracefs")
    mounted = subprocess.run(["mount", "-t", "tracefs", "none", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("trace events cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def refused(code: int) -> Callable[..., int]:
    def opened(*_: object, **__: object) -> int:
        raise OSError(code, os.strerror(code))

    return opened


def told() -> list[str]:
    notes: list[str] = []
    note_system_calls(notes.append)
    return notes


def test_a_host_without_trace_events_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(system_calls.ROOT_VARIABLE, str(tmp_path))
    reason = f"the kernel's trace events are not at `{tmp_path}`"
    assert told() == [f"system calls are not counted: {reason}"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.EACCES, "the kernel permits no perf events (`kernel.perf_event_paranoid` is "),
        (errno.EPERM, "the kernel permits no perf events"),
        (errno.ENOSYS, "the kernel has no perf event for them"),
    ],
)
@pytest.mark.usefixtures("events")
def test_a_kernel_that_refuses_is_named_and_leaves_no_reading(
    code: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perf_events, "opened", refused(code))
    assert words in system_calls.refusal()
    counting = SystemCalls(ProcessTree(os.getpid()), (0, MS))
    counting.begin(time.monotonic_ns())
    counting.end()
    assert counting.readings == []


def test_a_number_that_is_none_is_refused(events: Path) -> None:
    events.write_text("none")
    assert "the kernel has no perf event" in system_calls.refusal()


@pytest.mark.usefixtures("events")
def test_every_thread_is_counted_and_every_counter_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: dict[int, int] = {}

    def open_one(kind: int, config: int, *, task: int) -> int:
        assert (kind, config) == (perf_events.TRACEPOINT, 17)
        counter = os.open(os.devnull, os.O_RDONLY)
        opened[counter] = task
        return counter

    reads = iter([3, 10])
    monkeypatch.setattr(perf_events, "opened", open_one)
    monkeypatch.setattr(perf_events, "value", lambda _: next(reads))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        counting = SystemCalls(ProcessTree(child.pid), (0, MS))
        counting.begin(time.monotonic_ns())
        while len(counting.readings) < 2:
            time.sleep(0.001)
        counting.end()
        child.communicate(b"\n")
    assert list(opened.values()) == [child.pid]
    assert [one.value for one in counting.readings] == [3.0, 10.0]
    for counter in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(counter)


@pytest.mark.usefixtures("events")
def test_a_load_that_ends_before_its_window_is_not_counted() -> None:
    counting = SystemCalls(ProcessTree(os.getpid()), (10**12, 10**12 + 1))
    counting.begin(time.monotonic_ns())
    counting.end()
    assert counting.readings == []


def test_the_window_is_the_end_of_the_warm_up_and_not_the_hold() -> None:
    def stages(*parts: tuple[str, float]) -> list[Stage]:
        return [Stage(kind, length_s, 10.0, 10.0) for kind, length_s in parts]  # pyright: ignore[reportArgumentType]

    assert window_ns(stages(("warm_up", 1.0), ("hold", 5.0))) == (400 * MS, 900 * MS)
    assert window_ns(stages(("ramp", 2.0), ("warm_up", 10.0), ("hold", 5.0))) == (
        11_400 * MS,
        11_900 * MS,
    )
    assert window_ns(stages(("warm_up", 0.3), ("hold", 5.0))) is None
    assert window_ns(stages(("hold", 5.0))) is None


@pytest.mark.root
def test_threads_and_children_are_counted_by_the_kernel(
    real_events: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(system_calls.ROOT_VARIABLE, str(real_events))
    if reason := system_calls.refusal():
        pytest.skip(reason)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", BUSY], text=True, **pipes) as busy:  # pyright: ignore[reportArgumentType, reportCallIssue, reportUnknownVariableType]
        assert busy.stdin is not None and busy.stdout is not None
        busy.stdout.readline()
        with system_calls.counters(ProcessTree(busy.pid)) as opened:
            before = sum(map(perf_events.value, opened))
            busy.stdin.write("\n")
            busy.stdin.flush()
            busy.stdout.readline()
            counted = sum(map(perf_events.value, opened)) - before
        busy.stdin.write("\n")
    assert 3 * CALLS <= counted < 4 * CALLS
