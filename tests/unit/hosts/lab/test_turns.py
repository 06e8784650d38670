"""Turns of several hosts: one begin, one time of the load, and what they report as one."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import toy_trials
from plimsoll.campaign.load import Load, Stage
from plimsoll.drivers.job import DriverJob
from plimsoll.drivers.turning import CommonStart, DriverUse, EngineTurn
from plimsoll.errors import EngineFailed, HostLost, StorageError
from plimsoll.events import Progress
from plimsoll.hosts.answers import HostFile, StepState
from plimsoll.hosts.host import Host, Hosts
from plimsoll.hosts.lab import copying
from plimsoll.hosts.lab.clocks import ClockExchange
from plimsoll.hosts.lab.control import Lab
from plimsoll.hosts.lab.turns import AHEAD_MOST_S, AHEAD_S, HostsLoad

MS = 1_000_000
AHEAD_NS = {"one": 5_000 * MS, "two": -7_000 * MS}
"""How far the clock of each host is ahead of the lab's."""

LOAD = Load("x", "closed", (Stage("hold", 0.3, 4, 4),), timeout_s=5.0)


class FakeLab:
    """Hosts that take turns as they are told, each a little longer than the order says."""

    def __init__(self) -> None:
        drivers = tuple(Host(name, "driver", ip_address("127.0.0.1")) for name in AHEAD_NS)
        address = ip_address("127.0.0.1")
        self.hosts = Hosts(address, 1, Path(), 1.0, 1.0, drivers)
        self.starts: list[dict[str, CommonStart]] = []
        self.longer_ns = {"one": 3 * MS, "two": 1 * MS}
        self.late_ns = {"one": 0, "two": 0}
        self.answers: dict[str, Any] = {}
        self._ended = 0

    def clock(self, host: str) -> tuple[ClockExchange, ...]:
        return (ClockExchange(1_000, 1_000 + AHEAD_NS[host], 1_000),)

    def order_each(self, order: str, arguments: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
        if order == "take_turn":
            self.starts.append({name: given[2] for name, given in arguments.items()})
            self.answers = {name: self._turn(name, *given[1:]) for name, given in arguments.items()}
        if order == "turned":
            return {name: StepState(True, self.answers.get(name)) for name in arguments}
        return dict.fromkeys(arguments)

    def _turn(self, name: str, duration_ns: int, start: CommonStart) -> EngineTurn:
        self._ended += 10
        end_ns = start.start_ns + duration_ns + self.longer_ns[name]
        began_ns = start.begin_ns + self.late_ns[name]
        told = Progress(end_ns / 1e9, "hold", 2, 2, 0, 100.0, self._ended, {"ok": self._ended})
        return EngineTurn(start.start_ns, end_ns, began_ns, 9, 1, told, DriverUse(5, None))


@pytest.fixture
def lab() -> FakeLab:
    return FakeLab()


@pytest.fixture
def load(lab: FakeLab, tmp_path: Path) -> HostsLoad:
    job = DriverJob(LOAD, toy_trials.EMPTY.exchanges, "127.0.0.1:1", (), 5, 0.0, tmp_path)
    made = HostsLoad(cast("Lab", lab), "0", job)
    made.arm()
    return made


def test_all_hosts_begin_at_one_instant_and_where_the_last_of_them_rested(
    lab: FakeLab, load: HostsLoad
) -> None:
    first, second = load.turn(100 * MS), load.turn(100 * MS)
    assert (first.start_ns, first.end_ns) == (0, 103 * MS)
    assert (second.start_ns, second.end_ns) == (103 * MS, 206 * MS)
    for starts, turn in zip(lab.starts, (first, second), strict=True):
        assert {start.start_ns for start in starts.values()} == {turn.start_ns}
        begins = {start.begin_ns - AHEAD_NS[name] for name, start in starts.items()}
        assert begins == {turn.start_monotonic_ns}
    assert load.zero_ns == first.start_monotonic_ns
    assert not load.has_ended
    load.turn(100 * MS)
    assert load.has_ended, "309 of 300 ms"


def test_what_hosts_report_is_added_and_unknown_where_one_does_not_know(load: HostsLoad) -> None:
    turn = load.turn(100 * MS)
    assert (turn.requests, turn.failures) == (18, 2)
    assert turn.used == DriverUse(10, None)
    assert turn.progress.connections_open == 4


def test_hosts_that_were_late_get_more_time(lab: FakeLab, load: HostsLoad) -> None:
    lab.late_ns["two"] = 30 * MS
    load.turn(10 * MS)
    assert load._ahead_s == pytest.approx(AHEAD_S + 0.03)
    lab.late_ns["two"] = 900 * MS
    load.turn(10 * MS)
    assert load._ahead_s == AHEAD_MOST_S
    assert load._late_ns == {"one": 0, "two": 900 * MS}
    assert load._late_sum_ns == {"one": 0, "two": 930 * MS}


def test_an_error_of_a_host_ends_the_turn_and_names_it(lab: FakeLab, load: HostsLoad) -> None:
    def lost(order: str, arguments: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
        gone = HostLost("`two` did not answer for 8 s", "look at it")
        return {name: gone if name == "two" else None for name in arguments}

    def failed(order: str, arguments: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
        state = StepState(True, error=EngineFailed("killed by SIGKILL", "see `driver.log`"))
        return dict.fromkeys(arguments, state if order == "turned" else None)

    for given, kind, words in ((lost, HostLost, "`two` did not"), (failed, EngineFailed, "`one`:")):
        lab.order_each = given
        with pytest.raises(kind, match=words):
            load.turn(10 * MS)


def test_a_disk_of_a_host_costs_its_trial_and_not_the_campaign(
    lab: FakeLab, load: HostsLoad
) -> None:
    full = StorageError("`/tmp/x` cannot be written: No space left on device", "free disk space")

    def ordered(order: str, arguments: dict[str, tuple[Any, ...]]) -> dict[str, Any]:
        answer = StepState(True, error=full) if order == "turned" else None
        return dict.fromkeys(arguments, full if order == failing else answer)

    lab.order_each = ordered
    for failing in ("take_turn", "turned"):  # noqa: B007 - `ordered` reads it
        with pytest.raises(HostLost, match="`one`: `/tmp/x` cannot be written"):
            load.turn(10 * MS)


def test_a_file_that_a_host_cannot_read_costs_its_trial_and_not_the_campaign(
    lab: FakeLab, load: HostsLoad, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unread(_lab: Any, host: str, *_: object) -> None:
        assert host == "one"
        raise StorageError("`/tmp/x` cannot be read: Input/output error", "replace it")

    load.turn(10 * MS)
    rows: Any = SimpleNamespace(files=(HostFile("requests.bin", 1, ""),))
    lab.answers = dict.fromkeys(lab.answers, rows)
    monkeypatch.setattr(copying, "fetch", unread)
    with pytest.raises(HostLost, match="`one`: `/tmp/x` cannot be read"):
        load.finish()
