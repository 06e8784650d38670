"""Checks on machines where several were read: each is judged by itself, and the worst is named."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from plimsoll.aggregate import utilisation
from plimsoll.aggregate.usage import usage
from plimsoll.recording import HostClock, HostDriver
from plimsoll.verdicts.limits import Limits
from recordings import simulate, usage_rows

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.machine import Fact
    from plimsoll.verdicts.verdict import Verdict

TRIAL = simulate(warm_up_s=0.0, ramp_s=0.0, hold_s=6.0, connections=2, throughput_per_s=50.0)
FACTS: dict[str, Fact] = {"port_first": 32_768, "port_last": 60_999, "cpu_governor": "powersave"}
"""28,232 ports."""

Course = tuple[float, float]
"""What is read at 0 s, and by how much it rises in a second."""


def read_on(**hosts: dict[str, Course]) -> Tables:
    """A load of `one` and `two` that opens a connection for each request, on a host `server`.

    Args:
        hosts: Readings of each host by scope and quantity; a host that is left out was not read.
    """
    recording = TRIAL.recording
    assert recording.server is not None
    generators = tuple(
        HostDriver(host, 0.5, HostClock(0, 0.0, 0, 0), 0, 6_000_000_000, recording.driver)
        for host in ("one", "two")
    )
    rows = [
        usage_rows(
            *[
                (float(second), scope, quantity, at_first + second * per_s)
                for second in range(8)
                for name, (at_first, per_s) in courses.items()
                for scope, quantity in (name.split("."),)
            ],
            host=host,
        )
        for host, courses in hosts.items()
    ]
    found = replace(
        TRIAL,
        recording=replace(
            recording,
            server=replace(recording.server, host="server", address="10.0.0.9:80"),
            load=replace(recording.load, keep_alive=False),
            machines=dict.fromkeys(hosts, FACTS),
            hosts=generators,
        ),
    )
    found.__dict__["usage"] = usage(pa.concat_tables(rows), "server")
    return found


def judged(check: str, trial: Tables) -> Verdict:
    module = importlib.import_module(f"plimsoll.verdicts.checks.{check}")
    return module.judge(trial, Limits())


@pytest.mark.parametrize(
    ("check", "quantity", "alike", "beyond", "words"),
    [
        (
            "host_speed_stable",
            "machine.pressure_io_s",
            0.12,
            0.3,
            "task on `two` waited for a disk 30",
        ),
        ("host_speed_stable", "machine.cgroup_throttled_s", 0.0006, 0.02, "group on `two` could"),
        (
            "host_speed_stable",
            "machine.thermal_throttles",
            0.0,
            1.0,
            "of `two` were thermally throttled 6 times",
        ),
        (
            "memory_headroom",
            "machine.pressure_memory_s",
            0.03,
            0.2,
            "task on `two` waited for memory",
        ),
        (
            "memory_headroom",
            "machine.swapped_pages",
            6.0,
            50.0,
            "50 pages a second were swapped on `two`",
        ),
        (
            "memory_headroom",
            "machine.oom_kills",
            0.0,
            0.5,
            "kernel of `two` killed 3 processes",
        ),
    ],
)
def test_what_two_machines_have_each_is_not_what_one_has(
    check: str, quantity: str, alike: float, beyond: float, words: str
) -> None:
    """Added up, both would be beyond the limit."""
    same = judged(check, read_on(one={quantity: (0.0, alike)}, two={quantity: (0.0, alike)}))
    assert same.level == "sound", same
    assert same.measured == pytest.approx(alike, rel=1e-3)
    given = judged(check, read_on(one={quantity: (0.0, alike)}, two={quantity: (0.0, beyond)}))
    assert given.level != "sound", given
    assert words in given.text


def test_a_frequency_falls_on_one_machine_and_not_from_one_to_another() -> None:
    fast, slow = (3.6e9, 0.0), (2.6e9, 0.0)
    frequency = "machine.frequency_hz"
    constant = judged("host_speed_stable", read_on(one={frequency: fast}, two={frequency: slow}))
    assert (constant.level, constant.measured) == ("sound", 0.0), constant
    falling = judged(
        "host_speed_stable", read_on(one={frequency: fast}, two={frequency: (2.6e9, -0.1e9)})
    )
    assert falling.level == "doubtful"
    assert falling.measured == pytest.approx(0.6 / 2.6)
    assert (
        "of the cores of `two` (governor `powersave`) was between 2.00 and 2.60 GHz" in falling.text
    )


@pytest.mark.parametrize(("slower", "level"), [(1, "doubtful"), (5, "sound")])
def test_of_each_host_the_cores_count_that_its_load_generator_was_given(
    slower: int, level: str
) -> None:
    """It was given core 1 of each; another program has core 5."""
    busy = {f"machine.core{core}_busy_s": (0.0, 0.9) for core in (1, 5)}
    mean = {"machine.frequency_hz": (2.6e9, 0.0)}
    constant = {f"machine.core{core}_frequency_hz": (2.6e9, 0.0) for core in (1, 5)}
    fallen = {**constant, f"machine.core{slower}_frequency_hz": (2.6e9, -0.1e9)}
    trial = read_on(one={**busy, **mean, **constant}, two={**busy, **mean, **fallen})
    given = judged("host_speed_stable", trial)
    assert given.level == level, given
    assert ("frequency of core 1 of `two`" in given.text) is (level == "doubtful")


@pytest.mark.parametrize(
    ("resting", "level", "words"),
    [
        ((20_000.0, 20_000.0), "sound", ""),
        ((20_000.0, 24_000.0), "doubtful", "24,000 of 28,232 local ports of `two` for connections"),
    ],
)
@pytest.mark.parametrize("of_server", [{}, {"server": {"machine.tcp_time_wait": (27_000.0, 0.0)}}])
def test_each_load_generator_has_ports_of_its_own(
    resting: tuple[float, float], level: str, words: str, of_server: dict[str, dict[str, Course]]
) -> None:
    """Connections of the server's host rest on the server's port and take none, read or not."""
    one, two = ({"machine.tcp_time_wait": (number, 0.0)} for number in resting)
    given = judged("ports_and_files", read_on(one=one, two=two, **of_server))
    assert given.level == level, given
    assert words in given.text


@pytest.mark.parametrize(("full", "level"), [(0.6, "sound"), (0.97, "doubtful")])
def test_each_load_generator_has_a_limit_of_open_files_of_its_own(full: float, level: str) -> None:
    files = "driver.open_files_ratio"
    given = judged("ports_and_files", read_on(one={files: (0.5, 0.0)}, two={files: (full, 0.0)}))
    assert given.level == level, given
    assert ("process of the driver on `two` reached 97 %" in given.text) == (full > 0.9)


def test_the_machine_of_the_server_counts_alone_where_it_was_read() -> None:
    waits = "machine.pressure_io_s"
    trial = read_on(one={waits: (0.0, 0.9)}, two={waits: (0.0, 0.9)}, server={waits: (0.0, 0.1)})
    given = judged("host_speed_stable", trial)
    assert given.level == "sound", given
    assert "on `server` waited for a disk 10 %" in given.text


def test_two_machines_that_are_half_busy_are_no_full_host() -> None:
    """They were one host whose cores server and load generator share, and which was full."""
    busy = {f"machine.core{core}_busy_s": (0.0, 0.5) for core in range(2)}
    trial = read_on(one=busy, two=busy)
    server = trial.recording.server
    assert server is not None
    unread = replace(server, cores=())
    trial = replace(trial, recording=replace(trial.recording, server=unread))
    trial.__dict__["usage"] = read_on(one=busy, two=busy).usage
    assert utilisation.HOST not in utilisation.shares(trial)
    alone = replace(trial)
    alone.__dict__["usage"] = read_on(one=busy).usage
    assert utilisation.shares(alone)[utilisation.HOST] == pytest.approx(0.5)
