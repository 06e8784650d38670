"""What was full when a rate failed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

import sample
from plimsoll.aggregate import utilisation
from plimsoll.aggregate.summary import TimeStatistics
from plimsoll.findings.beyond import beyond
from plimsoll.findings.trial import TrialFindings
from plimsoll.verdicts.checks import backlog, driver_headroom, memory_headroom
from plimsoll.verdicts.verdict import Sentence, Verdict


def doubt(check: str) -> Verdict:
    said = (Sentence("doubtful", f"{check} says so"),)
    return Verdict(check, "trial", "doubtful", 1.0, 0.5, "ratio", said, "source")


def found(
    monkeypatch: pytest.MonkeyPatch,
    *doubted: str,
    in_flight: float = 10.0,
    shortest_ns: float = 1e6,
    **shares: float,
) -> tuple[str, str]:
    monkeypatch.setattr(utilisation, "shares", lambda _tables: dict(shares))
    trial = TrialFindings(sample.trial_data(), tuple(doubt(check) for check in doubted))
    times = TimeStatistics(mean_ns=100e6, min_ns=shortest_ns)
    summary = SimpleNamespace(in_flight=in_flight, connections_requested=256, service_time=times)
    one = beyond(trial, cast("Any", SimpleNamespace(summary=summary)))
    return one.resource, one.sentence


def test_the_load_generator_is_named_where_the_server_had_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy = found(monkeypatch, driver_headroom.NAME, driver=0.99, server=0.5)
    assert busy == ("driver", "driver_headroom says so")
    assert found(monkeypatch, driver_headroom.NAME, driver=0.99, server=0.97)[0] == "server"
    assert found(monkeypatch, driver=0.99, server=0.5, core=0.9)[0] == "core"


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


def test_a_full_pool_of_connections_is_named_where_no_resource_is_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resource, said = found(monkeypatch, core=0.2, in_flight=255.0)
    assert resource == "connections"
    assert "256 connections" in said


def test_connections_that_wait_for_no_queue_are_the_limit_whatever_others_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sleeping = {"in_flight": 255.0, "shortest_ns": 99e6}
    resource, said = found(monkeypatch, core=0.2, host=0.99, **sleeping)
    assert (resource, said) == ("pool", "all 256 connections were in use, for 100 ms a response")
    assert found(monkeypatch, core=0.9, **sleeping)[0] == "core"
    assert found(monkeypatch, core=0.2, host=0.99, in_flight=255.0)[0] == "host"


def test_what_cannot_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    resource, said = found(monkeypatch, core=0.2)
    assert resource == "unknown"
    assert "the server's busiest core was 20 % busy" in said
    assert found(monkeypatch)[0] == "unknown"
