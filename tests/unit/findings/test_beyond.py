"""What was full when a rate failed."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

import sample
from plimsoll.aggregate import utilisation
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.summary import TimeStatistics
from plimsoll.aggregate.usage import Usage
from plimsoll.findings import beyond as beyonds
from plimsoll.findings.trial import TrialFindings
from plimsoll.load_line import limits
from plimsoll.load_line.limits import LineLimit
from plimsoll.verdicts.checks import backlog, driver_headroom, memory_headroom
from plimsoll.verdicts.verdict import Sentence, Verdict

LIMIT = limits.latency(99, 0.02)


def doubt(check: str) -> Verdict:
    said = (Sentence("doubtful", f"{check} says so"),)
    return Verdict(check, "trial", "doubtful", 1.0, 0.5, "ratio", said, "source")


def found(
    monkeypatch: pytest.MonkeyPatch,
    *doubted: str,
    in_flight: float = 10.0,
    shortest_ns: float = 1e6,
    held_above: float = 0.0,
    stalls_ms: Sequence[float] = (),
    limit: LineLimit = LIMIT,
    **shares: float,
) -> tuple[str, str]:
    monkeypatch.setattr(utilisation, "shares", lambda _tables: dict(shares))
    trial = TrialFindings(sample.trial_data(), tuple(doubt(check) for check in doubted))
    times = TimeStatistics(mean_ns=100e6, min_ns=shortest_ns)
    summary = SimpleNamespace(in_flight=in_flight, connections_requested=256, service_time=times)
    recording = SimpleNamespace(held_ns=10 * SECOND_NS, driver=None)
    windows = [
        (place * SECOND_NS, place * SECOND_NS + round(length * 1e6))
        for place, length in enumerate(stalls_ms)
    ]
    tables = cast(
        "Any",
        SimpleNamespace(summary=summary, recording=recording, usage=Usage({}), stalls=windows),
    )
    one = beyonds.beyond(trial, tables, limit, is_held_above=held_above > 0)
    return one.resource, one.sentence


def test_the_load_generator_is_named_where_the_server_had_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = found(monkeypatch, driver_headroom.NAME, driver=0.99, server=0.5)
    assert busy == ("driver", "driver_headroom says so")
    assert found(monkeypatch, driver_headroom.NAME, driver=0.99, server=0.97)[0] == "server"
    assert found(monkeypatch, driver=0.99, server=0.5, core=0.9)[0] == "core"


@pytest.mark.parametrize(
    ("shares", "resource"),
    [
        ({"host": 1.0}, "host"),
        ({"host": 0.85}, "driver"),
        ({"host": 0.3}, "driver"),
        ({"host": 1.0, "core": 0.3}, "driver"),
    ],
)
def test_cores_that_a_server_of_several_filled_come_before_the_load_generator(
    monkeypatch: pytest.MonkeyPatch, shares: dict[str, Any], resource: str
) -> None:
    assert found(monkeypatch, driver_headroom.NAME, driver=0.95, **shares)[0] == resource


@pytest.mark.parametrize(
    ("check", "resource"), [(backlog.NAME, "queue"), (memory_headroom.NAME, "memory")]
)
def test_a_full_listen_queue_and_memory_come_before_busy_cores(
    monkeypatch: pytest.MonkeyPatch, check: str, resource: str
) -> None:
    assert found(monkeypatch, check, server=0.9)[0] == resource


def test_the_server_is_named_before_the_host_that_it_fills(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resource, said = found(monkeypatch, core=0.95, host=0.99, link=0.1)
    assert (resource, said) == ("core", "the server's busiest core was 95 % busy")
    assert found(monkeypatch, core=0.3, host=0.99)[0] == "host"


def test_threads_that_run_in_turn_are_a_full_core_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for doubted in ((), (driver_headroom.NAME,)):
        resource, said = found(monkeypatch, *doubted, one_at_a_time=0.97, core=0.2, driver=0.85)
        assert (resource, said) == (
            "core",
            "threads of the server ran in turn for 97 % of the time",
        )


def test_a_full_pool_of_connections_is_named_where_no_resource_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resource, said = found(monkeypatch, core=0.2, in_flight=255.0)
    assert resource == "connections"
    assert "256 connections" in said


def test_connections_that_wait_for_no_queue_are_the_limit_whatever_others_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sleeping: dict[str, Any] = {"in_flight": 255.0, "shortest_ns": 99e6}
    resource, said = found(monkeypatch, core=0.2, host=0.99, **sleeping)
    assert (resource, said) == ("pool", "all 256 connections were in use, for 100 ms a response")
    assert found(monkeypatch, core=0.9, **sleeping)[0] == "core"
    assert found(monkeypatch, core=0.2, host=0.99, in_flight=255.0)[0] == "host"


@pytest.mark.parametrize(
    ("stalls_ms", "are_named"),
    [((300,), True), ((300, 300, 300), True), ((119,), False), ((19,) * 9, False)],
)
def test_stalls_that_miss_the_limit_alone_are_named_before_connections(
    monkeypatch: pytest.MonkeyPatch, stalls_ms: tuple[float, ...], are_named: bool
) -> None:
    """Of 10 s a stall of 120 ms leaves 1 % of requests waiting for more than 20 ms."""
    for shortest_ns in (1e6, 99e6):
        given, said = found(
            monkeypatch, stalls_ms=stalls_ms, in_flight=255.0, shortest_ns=shortest_ns, core=0.2
        )
        assert (given == "stalls") is are_named, given
        assert ("for up to 300 ms" in said) is are_named, said
    given, _ = found(monkeypatch, stalls_ms=stalls_ms, limit=limits.errors(0.001), core=0.2)
    assert given == "unknown"


def of_closed_load(
    monkeypatch: pytest.MonkeyPatch,
    *,
    unloaded_ns: float,
    in_flight: float = 20.0,
    **shares: float,
) -> str | None:
    monkeypatch.setattr(utilisation, "shares", lambda _tables: dict(shares))
    times = TimeStatistics(mean_ns=52e6, min_ns=50e6)
    summary = SimpleNamespace(in_flight=in_flight, connections_requested=20, service_time=times)
    one = beyonds.of_closed_load(cast("Any", SimpleNamespace(summary=summary)), unloaded_ns)
    return one and one.resource


def test_the_connections_limit_a_closed_load_whose_responses_are_as_fast_as_at_a_low_rate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert of_closed_load(monkeypatch, unloaded_ns=51e6, core=0.1) == "pool"
    assert of_closed_load(monkeypatch, unloaded_ns=51e6, host=0.99) == "pool"
    assert of_closed_load(monkeypatch, unloaded_ns=3e6, core=0.1) is None  # one at a time
    assert of_closed_load(monkeypatch, unloaded_ns=51e6, core=0.9) is None
    assert of_closed_load(monkeypatch, unloaded_ns=51e6, in_flight=12.0) is None


def of_driver(
    monkeypatch: pytest.MonkeyPatch,
    *doubted: str,
    unloaded_ns: float | None = None,
    in_flight: float = 20.0,
    shortest_ns: float = 1e6,
    **shares: float,
) -> str | None:
    monkeypatch.setattr(utilisation, "shares", lambda _tables: dict(shares))
    times = TimeStatistics(mean_ns=52e6, min_ns=shortest_ns)
    summary = SimpleNamespace(in_flight=in_flight, connections_requested=20, service_time=times)
    trial = TrialFindings(sample.trial_data(), tuple(doubt(check) for check in doubted))
    tables = cast("Any", SimpleNamespace(summary=summary))
    one = beyonds.of_driver(trial, tables, unloaded_ns)
    assert one is None or one.is_of_driver
    return one and one.resource


def test_a_rate_is_missed_by_the_load_generator_where_the_server_had_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = driver_headroom.NAME
    assert of_driver(monkeypatch, busy, driver=0.99, core=0.1, in_flight=3.0) == "driver"
    assert of_driver(monkeypatch, busy, driver=0.99, core=0.9) is None
    assert of_driver(monkeypatch, core=0.1, shortest_ns=50e6) == "pool"
    assert of_driver(monkeypatch, core=0.1, unloaded_ns=51e6) == "pool"
    for shortest_ns in (1e6, 50e6):  # slower than at a low rate, each of them
        found = of_driver(monkeypatch, core=0.1, unloaded_ns=3e6, shortest_ns=shortest_ns)
        assert found is None
    assert of_driver(monkeypatch, core=0.9, unloaded_ns=51e6) is None
    assert of_driver(monkeypatch, core=0.1, unloaded_ns=51e6, in_flight=12.0) is None
    assert of_driver(monkeypatch, core=0.1) is None


def test_a_rate_that_failed_below_one_that_held_is_no_sign_of_a_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "suspect a lock" in found(monkeypatch, core=0.2)[1]
    held_above = found(monkeypatch, core=0.2, held_above=300.0)
    assert held_above[0] == "unknown"
    assert "a higher rate held" in held_above[1]
    assert "lock" not in held_above[1]


def test_what_cannot_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    resource, said = found(monkeypatch, core=0.2)
    assert resource == "unknown"
    assert "the server's busiest core was 20 % busy" in said
    assert found(monkeypatch)[0] == "unknown"
