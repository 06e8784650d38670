"""The control: the same work each time, timed by the processor time of its thread alone."""

from __future__ import annotations

import os
import socket
import threading

import pytest

from plimsoll import tables
from plimsoll.aggregate import machine_speed
from plimsoll.sampling import control

PARTS = set(machine_speed.CONTROL)


def test_each_part_has_a_quantity_and_takes_some_time() -> None:
    with control.ready(()) as work:
        took = work.run()
    assert took.keys() == PARTS
    assert all(seconds > 0 for seconds in took.values())
    assert {one.name for one in tables.QUANTITIES} >= PARTS


def test_the_processor_time_of_other_threads_is_not_in_it() -> None:
    ended = threading.Event()

    def others() -> None:
        while not ended.is_set():
            sum(range(1000))

    with control.ready(()) as work:
        alone = min(work.run()["control_compute_s"] for _ in range(5))
        thread = threading.Thread(target=others)
        thread.start()
        beside = min(work.run()["control_compute_s"] for _ in range(5))
        ended.set()
        thread.join()
    assert beside < 3 * alone


def test_it_runs_on_the_cores_of_the_server_and_leaves_the_thread_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = os.sched_getaffinity(0)
    core = min(before)
    pinned = list[set[int]]()
    set_affinity = os.sched_setaffinity

    def noting(pid: int, cores: set[int]) -> None:
        pinned.append(set(cores))
        set_affinity(pid, cores)

    monkeypatch.setattr(os, "sched_setaffinity", noting)
    with control.ready((core,)) as work:
        work.run()
    assert pinned == [{core}, before]
    assert os.sched_getaffinity(0) == before


def test_a_host_without_loopback_has_the_other_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> socket.socket:
        raise OSError

    monkeypatch.setattr(socket, "create_server", refused)
    with control.ready(()) as work:
        assert work.run().keys() == PARTS - {"control_loopback_s"}


def test_readings_are_of_the_machine_at_one_instant() -> None:
    (reading,) = control.readings({"control_memory_s": 0.005}, 7)
    assert (reading.at_ns, reading.scope) == (7, "machine")
    assert (reading.quantity, reading.value) == ("control_memory_s", 0.005)
