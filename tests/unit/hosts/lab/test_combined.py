"""Several hosts as one driver: when each began, by any load generator."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Literal

import pytest

import sample
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.load import Load, Stage
from plimsoll.drivers.job import DriverCallbacks, DriverJob, DriverResult, LoadPart, Rows
from plimsoll.errors import (
    EngineFailed,
    HostLost,
    Interrupted,
    LimitTooLow,
    PlimsollError,
    StorageError,
)
from plimsoll.events import Progress
from plimsoll.hosts.answers import HostResult, HostStatus
from plimsoll.hosts.host import Host
from plimsoll.hosts.lab import combined
from plimsoll.hosts.lab import driver as hosts_driver
from plimsoll.hosts.lab.clocks import ClockExchange
from plimsoll.hosts.lab.combined import Driving
from plimsoll.processes.interruption import Interruption
from plimsoll.recording import Driver, RecordedStage

LOAD = Load("steady", "closed", (Stage("hold", 2.0, 10, 10),))
AHEAD_NS = {"one": 5_000_000_000, "two": -3_000_000_000}
"""How far the clock of each host is ahead of the lab's."""

BEGAN_NS = {"one": 1_000_000_000, "two": 1_250_000_000}
"""When the load generator of each began, by the lab's clock."""


def driven(name: str, tool: str) -> Driving:
    """A host whose load generator began at its instant."""
    ahead_ns = AHEAD_NS[name]
    exchanges = tuple(
        ClockExchange(at_ns, at_ns + 50_000 + ahead_ns, at_ns + 100_000)
        for at_ns in (0, 2_000_000_000)
    )
    stages = (RecordedStage("hold", 0, 2_000_000_000, 10, 10, 1),)
    rows = Rows(tool, (Path("rows.csv"),)) if tool != "plimsoll" else None
    result = HostResult(
        driven=DriverResult(
            driver=driver(),
            zero_monotonic_ns=BEGAN_NS[name] + ahead_ns,
            zero_utc_ns=BEGAN_NS[name],
            stages=stages,
            rows=rows,
        ),
        readings=(),
        problems={},
        machine={},
        files=(),
        link=None,
    )
    host = Host(name, "driver", ip_address("10.0.0.2"))
    return Driving(host, LoadPart(0, 2, 0), [exchanges], result=result)


def driver() -> Driver:
    found = sample.recording().driver
    assert found is not None
    return found


@pytest.mark.parametrize("tool", ["plimsoll", "jmeter", "h2load"])
def test_how_much_later_each_load_generator_began_is_recorded(tool: str) -> None:
    address = "10.0.0.9:80"
    job = DriverJob(LOAD, ENDPOINTS[0].exchanges, address, (), 1, 0.0, Path("lab"), driver=tool)
    together = combined.of([driven("one", tool), driven("two", tool)], job)
    assert together.zero_monotonic_ns == pytest.approx(BEGAN_NS["one"], abs=1000)
    assert [one.zero_ns for one in together.hosts] == pytest.approx([0, 250_000_000], abs=1000)
    if together.rows is not None:
        zeros = [one.zero_utc_ns for one in together.rows.hosts]
        assert zeros == pytest.approx([BEGAN_NS["one"]] * 2, abs=1000), "rows have one axis"


def test_what_the_load_generator_of_a_host_does_not_count_is_unknown_of_all() -> None:
    hosts = [driven(name, "h2load") for name in BEGAN_NS]
    for one in hosts:
        assert one.result is not None
        silent = replace(one.result.driven.driver, sent=None, opened=None, longest_pause_ns=None)
        one.result = replace(one.result, driven=replace(one.result.driven, driver=silent))
    job = DriverJob(LOAD, ENDPOINTS[0].exchanges, "10.0.0.9:80", (), 1, 0.0, Path("lab"))
    found = combined.of(hosts, job).driver
    assert (found.sent, found.opened, found.longest_pause_ns) == (None, None, None)
    assert found.connections_requested == 2 * (driver().connections_requested or 0)


def progress(is_open: int) -> Progress:
    return Progress(1.0, "hold", 10, is_open, is_open, 100.0, 500, {"ok": 500})


def test_a_lost_host_has_nothing_open_and_keeps_what_has_ended() -> None:
    one, two = driven("one", "plimsoll"), driven("two", "plimsoll")
    for host in (one, two):
        host.status = HostStatus(zero_monotonic_ns=1, progress=progress(10))
    two.fail(HostLost("`two` disconnected", "see the output of its agent"))
    together = combined.progress([host.progress for host in (one, two) if host.progress])
    assert together is not None
    assert (together.connections_open, together.connections_requested) == (10, 20)
    assert (together.in_flight, together.throughput_per_s) == (10, 100.0)
    assert (together.requests_ended, together.outcomes) == (1000, {"ok": 1000})


def test_progress_of_tools_that_count_nothing_is_not_counted_as_zero() -> None:
    counted, silent = progress(10), replace(progress(0), counted=False)
    together = combined.progress([silent, silent])
    assert together is not None
    assert not together.counted
    both = combined.progress([counted, counted])
    assert both is not None
    assert both.counted


def test_a_lost_host_was_lost_between_its_last_report_and_the_moment_it_was_missed() -> None:
    lost = driven("two", "plimsoll")
    lost.status = HostStatus(zero_monotonic_ns=1, progress=progress(10))
    lost.fail(HostLost("`two` disconnected", ""))
    assert lost.lost_between(lost.lost_ns - 2_060_000_000) == "between 1.0 and 2.1 s"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (StorageError("no space left for results in `/small`", "free disk space"), HostLost),
        (HostLost("disconnected", ""), HostLost),
        (EngineFailed("it ended early", ""), EngineFailed),
    ],
)
def test_a_full_disk_of_the_only_host_is_its_loss(
    error: PlimsollError, kind: type[PlimsollError]
) -> None:
    lost = driven("one", "plimsoll")
    lost.result = None
    lost.fail(error)
    job = DriverJob(LOAD, ENDPOINTS[0].exchanges, "10.0.0.9:80", (), 1, 0.0, Path("lab"))
    with pytest.raises(PlimsollError) as raised:
        combined.of([lost], job)
    assert type(raised.value) is kind
    assert raised.value.message == f"`one`: {error.message}"
    assert raised.value.hint == error.hint


@pytest.mark.parametrize("model", ["closed", "open"])
def test_the_share_of_a_host_is_what_was_requested_of_it(
    model: Literal["closed", "open"],
) -> None:
    rate = 9.0 if model == "closed" else 1000.0
    load = Load("steady", model, (Stage("hold", 2.0, rate, rate),), connections=9)
    job = DriverJob(load, ENDPOINTS[0].exchanges, "10.0.0.9:80", (), 1, 0.0, Path("lab"))
    hosts = [driven("one", "plimsoll"), driven("two", "plimsoll")]
    hosts[1].part = LoadPart(1, 2, 0)
    found = combined.of(hosts, job)
    assert [one.share for one in found.hosts] == pytest.approx([5 / 9, 4 / 9])


@pytest.mark.parametrize(("signals", "has_begun"), [(0, False), (1, True), (1, False)])
def test_a_load_that_a_signal_ended_before_it_began_has_no_result(
    signals: int, *, has_begun: bool
) -> None:
    one = driven("one", "plimsoll")
    assert one.result is not None
    if not has_begun:
        one.result = replace(one.result, driven=replace(one.result.driven, stages=()))
    watch = DriverCallbacks(lambda _: None, lambda _: None, lambda _: True, Interruption(signals))
    if signals and not has_begun:
        with pytest.raises(Interrupted, match="before it began; nothing was recorded"):
            hosts_driver._require_begun([one], watch, LOAD)
    else:
        hosts_driver._require_begun([one], watch, LOAD)


def test_an_engine_that_never_began_is_unable_however_late_that_is_heard() -> None:
    error = LimitTooLow("too few ports", "")
    late, lost, ended = (driven("one", "plimsoll") for _ in range(3))
    late.status = HostStatus(error=error)
    ended.status = HostStatus(zero_monotonic_ns=1, error=error)
    late.fail(error)
    lost.fail(HostLost("`one` disconnected", ""))
    ended.fail(error)
    assert late.is_unable(0)
    assert not lost.is_unable(0)
    assert lost.is_unable(lost.lost_ns + 1), "it was lost before the load"
    assert not ended.is_unable(0)
    assert not driven("two", "plimsoll").is_unable(0)
