"""The host without load, measured where it can be."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from itertools import count

from plimsoll.campaign.power import SETTLE_S
from plimsoll.processes.tree import ProcessTree
from plimsoll.sampling import idle
from plimsoll.sampling.scope import Scope
from plimsoll.sampling.wall import WallMeter


@dataclass
class Constant:
    """A meter that always shows the same."""

    interval_s: float = 0.0

    def watts(self) -> float:
        return 42.0

    def close(self) -> None:
        pass


def test_a_host_without_load_is_read_once_a_second_and_once_more_at_the_end() -> None:
    joules, clock, slept = count(100), count(0, 10**9), list[float]()
    found = idle.readings(
        3.0, None, lambda: {"energy_j": float(next(joules))}, lambda: next(clock), slept.append
    )
    assert [reading.at_ns for reading in found] == [0, 10**9, 2 * 10**9, 3 * 10**9]
    assert {(reading.scope, reading.quantity) for reading in found} == {
        ("machine", "idle_energy_j")
    }
    assert [reading.value for reading in found] == [101.0, 102.0, 103.0, 104.0]
    assert slept == [SETTLE_S, 1.0, 1.0, 1.0]


def test_a_host_that_shows_no_energy_is_not_waited_for() -> None:
    slept = list[float]()
    assert idle.readings(30.0, None, dict[str, float], lambda: 0, slept.append) == []
    assert slept == []


def test_a_server_without_load_is_read_as_well() -> None:
    """Here the server is this process, which has used processor time and memory before."""
    slept, clock = list[float](), count(0, 10**9)
    server = Scope("server", ProcessTree(os.getpid()))
    found = idle.readings(
        1.0, None, dict[str, float], lambda: next(clock), slept.append, server=server
    )
    assert slept == [SETTLE_S, 1.0]
    assert [(one.scope, one.quantity) for one in found[:3]] == [
        ("server", f"idle_{name}") for name in idle.OF_SERVER
    ]
    assert len(found) == 6 and all(one.value > 0 for one in found if "rss" in one.quantity)


def test_a_server_that_is_gone_is_not_read() -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    server = Scope("server", ProcessTree(ended.pid))
    assert (
        idle.readings(1.0, None, dict[str, float], lambda: 0, lambda _: None, server=server) == []
    )


def test_nothing_is_read_where_nothing_is_asked() -> None:
    assert idle.readings(0.0, None, lambda: {"energy_j": 1.0}) == []


def test_a_meter_is_waited_for_and_its_readings_without_load_are_kept_apart() -> None:
    meter, slept = WallMeter(Constant()), list[float]()

    def ask(length_s: float) -> None:
        slept.append(length_s)
        if len(slept) == 3:
            meter.end()
            meter.run()  # ended: asks nothing more
        else:
            meter._asked()  # pyright: ignore[reportPrivateUsage]

    assert idle.readings(2.0, meter, dict[str, float], lambda: 0, ask) == []
    assert slept == [SETTLE_S, 1.0, 1.0]
    assert [one.quantity for one in meter.readings] == ["wall_power_w", "idle_wall_power_w"]
