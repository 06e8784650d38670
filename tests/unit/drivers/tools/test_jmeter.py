"""The driver of JMeter: what it is told, and what its words mean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plimsoll.campaign import tool
from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.load import Load, Stage
from plimsoll.drivers import tool_process as processes
from plimsoll.drivers.job import DriverCallbacks, DriverJob
from plimsoll.drivers.tool_process import FinishedRun
from plimsoll.drivers.tools import jmeter
from plimsoll.errors import DriverFailed, DriverMissing
from plimsoll.install import requirements
from plimsoll.processes.interruption import Interruption

LOGGED = """\
2026-11-21 21:23:24,630 INFO o.a.j.e.StandardJMeterEngine: Running the test!
2026-11-21 21:23:25,837 INFO o.a.j.e.StandardJMeterEngine: Starting ThreadGroup: 1 : from 0 s 0 ms
2026-11-21 21:23:25,842 INFO o.a.j.e.StandardJMeterEngine: Starting ThreadGroup: 2 : from 0 s 400 ms
"""

PRINTED = """\
Starting standalone test @ 2026 Nov 21 21:23:24 UTC (1795296204630)
summary +    228 in 00:00:04 =   52.4/s Avg:    46 Min:     0 Max:   390 Err:   228 (100.00%)
summary +    105 in 00:00:01 =   97.9/s Avg:    41 Min:     0 Max:   279 Err:   105 (100.00%)
summary =    333 in 00:00:05 =   61.3/s Avg:    45 Min:     0 Max:   390 Err:   333 (100.00%)
... end of run
"""

BEGUN_NS = 1_795_296_205_837_000_000
S = 1_000_000_000
WATCH = DriverCallbacks(lambda _: None, lambda _: None, lambda _: True, Interruption())


@pytest.fixture
def order(tmp_path: Path) -> DriverJob:
    stages = (Stage("warm_up", 1.0, 4, 4), Stage("hold", 3.0, 4, 4))
    load = Load("a", "closed", stages, timeout_s=2.0)
    return DriverJob(load, by_name("2048").exchanges, "127.0.0.1:9", (1,), 5, 0.0, tmp_path)


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, order: DriverJob) -> dict[str, object]:
    """Stands for JMeter: what it logs, and how it ends."""
    said: dict[str, object] = {"log": LOGGED, "ended_ns": 9 * S, "early": False, "printed": PRINTED}

    def run(_order: object, _drive: object, _watch: object) -> FinishedRun:
        (order.into / jmeter.LOG).write_text(str(said["log"]))
        ended_ns, early = int(str(said["ended_ns"])), bool(said["early"])
        return FinishedRun(2 * S, BEGUN_NS - S, ended_ns, str(said["printed"]), early, cpu_s=1.5)

    monkeypatch.setattr(jmeter, "home", lambda: Path("/jmeter"))
    monkeypatch.setattr(requirements, "java_home", lambda _: Path("/java"))
    monkeypatch.setattr(jmeter, "version", lambda: "JMeter 5.6.3")
    monkeypatch.setattr(processes, "run", run)
    return said


@pytest.mark.usefixtures("ran")
def test_zero_is_when_jmeter_began_its_threads(order: DriverJob) -> None:
    found = jmeter.drive(order, WATCH)
    assert found.zero_utc_ns == BEGUN_NS
    assert found.zero_monotonic_ns == 3 * S
    assert [(one.kind, one.start_ns, one.end_ns) for one in found.stages] == [
        ("warm_up", 0, S), ("hold", S, 4 * S),
    ]  # fmt: skip


@pytest.mark.usefixtures("ran")
def test_what_it_counted_itself_is_told_apart_from_its_rows(order: DriverJob) -> None:
    found = jmeter.drive(order, WATCH)
    assert found.driver.sent == 333
    assert (found.driver.threads, found.driver.connections_requested) == (4, 4)
    assert (found.driver.ended_by, found.driver.cpu_s) == ("schedule", 1.5)
    assert found.rows is not None
    assert found.rows.files == (order.into / "jmeter.jtl",)


def test_of_a_test_that_was_ended_early_the_stages_end_with_it(
    order: DriverJob, ran: dict[str, object]
) -> None:
    ran.update(early=True, ended_ns=5 * S, printed=PRINTED.partition("... end")[0])
    found = jmeter.drive(order, WATCH)
    assert found.driver.ended_by == "interrupt"
    assert found.stages[-1].end_ns == 2 * S
    assert found.driver.sent is None, "its last summary came before its last requests"


def test_one_that_never_began_has_failed(order: DriverJob, ran: dict[str, object]) -> None:
    ran["log"] = "2026-11-21 21:23:24,630 INFO o.a.j.JMeter: Version 5.6.3\n"
    with pytest.raises(DriverFailed, match="before the test started") as error:
        jmeter.drive(order, WATCH)
    assert "`jmeter.log`" in error.value.hint


@pytest.mark.parametrize(
    "said",
    [
        "java.lang.OutOfMemoryError: unable to create native thread",
        "Uncaught Exception java.lang.StackOverflowError in thread Thread[1-2,5,main]",
    ],
)
def test_one_that_lost_threads_has_failed(
    order: DriverJob, ran: dict[str, object], said: str
) -> None:
    ran["log"] = f"{LOGGED}{said}\n"
    with pytest.raises(DriverFailed, match=re.escape(f"lost a thread: {said}")) as error:
        jmeter.drive(order, WATCH)
    assert "ulimit -u" in error.value.hint


@pytest.mark.usefixtures("ran")
def test_what_it_was_told_stays_in_the_folder(order: DriverJob) -> None:
    jmeter.drive(order, WATCH)
    told = (order.into / jmeter.PROPERTIES).read_text().splitlines()
    assert "jmeter.save.saveservice.output_format=csv" in told
    assert "jmeter.save.saveservice.connect_time=true" in told
    assert "jmeterengine.nongui.port=0" in told
    assert "httpclient4.time_to_live=66000" in told
    assert "ThreadGroup" in (order.into / jmeter.PLAN).read_text()


def test_the_heap_grows_with_the_connections() -> None:
    small = jmeter.command(Path("/home"), Path("/java"), 1)
    large = jmeter.command(Path("/home"), Path("/java"), 9000)
    assert "-Xmx512m" in small
    assert "-Xmx2762m" in large
    assert small[-11:-8] == ("-jar", "/home/bin/ApacheJMeter.jar", "-n")


def test_without_it_there_is_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "locate", lambda: None)
    missing = jmeter.needs()
    assert missing is not None
    assert missing.hint == "`plimsoll install jmeter`"
    with pytest.raises(DriverMissing):
        jmeter.home()


@pytest.mark.usefixtures("ran")
def test_without_java_nothing_is_started(order: DriverJob, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "java_home", lambda _: None)
    with pytest.raises(DriverMissing, match="a JDK 8 or newer") as error:
        jmeter.drive(order, WATCH)
    assert error.value.hint == "`plimsoll list jmeter` shows how to install it"
