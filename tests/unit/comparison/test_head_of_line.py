"""Servers on shared connections beside themselves with a connection for each request."""

from __future__ import annotations

from dataclasses import replace

import pytest

import sample
from experiments import by_connections, repetitions, sharing, spoken
from plimsoll.campaign.load import Load, Stage
from plimsoll.comparison.head_of_line import sharings
from plimsoll.comparison.protocol_costs import costs


def http2(name: str, connections: int, streams: int) -> Load:
    stages = (Stage("hold", 7.0, connections, connections),)
    return sample.load(name=name, protocol="http2", streams=streams, stages=stages)


ALONE = http2("alone", 160, 1)
SHARED = http2("shared", 16, 10)


def test_a_load_on_shared_connections_is_held_against_one_with_as_many_requests() -> None:
    go, node = sharing().sharings
    assert (go.framework, go.load, go.against) == ("go", "shared", "alone")
    assert (go.connections, go.each) == (16, 10)
    tail = go.quantities["response_time_p99_ns"]
    assert (tail.alone.value, tail.shared.value) == pytest.approx((10.1e6, 18.2e6))
    assert tail.ratio.value == pytest.approx(18.2 / 10.1)
    assert tail.ratio.interval is not None
    assert tail.ratio.interval.low > 1
    same = node.quantities["response_time_p99_ns"].ratio.interval
    assert same is not None
    assert same.holds(1)


@pytest.mark.parametrize(
    "other",
    [
        http2("alone", 100, 1),
        http2("alone", 80, 2),
        replace(ALONE, tls=True),
        replace(ALONE, protocol="http1"),
        replace(ALONE, think_time_s=0.1),
    ],
)
def test_loads_that_differ_in_more_are_not_compared(other: Load) -> None:
    trials = (*by_connections(SHARED, 18.0), *by_connections(other, 10.0))
    assert sharings(repetitions(trials)) == ()


def test_pipelined_requests_share_a_connection_too() -> None:
    pipelined = replace(SHARED, protocol="http1", streams=1, pipeline=10)
    alone = replace(ALONE, protocol="http1")
    (only,) = sharings(
        repetitions((*by_connections(pipelined, 20.0), *by_connections(alone, 10.0)))
    )
    assert (only.protocol, only.each) == ("http1", 10)
    assert only.quantities["response_time_p99_ns"].ratio.value == pytest.approx(2)


def test_open_loads_are_compared_at_one_rate_on_as_many_streams() -> None:
    def opened(name: str, connections: int, streams: int) -> Load:
        stages = (Stage("hold", 7.0, 1000, 1000),)
        return sample.load(
            name=name, model="open", protocol="http2",
            connections=connections, streams=streams, stages=stages,
        )  # fmt: skip

    shared, alone, fewer = opened("shared", 16, 10), opened("alone", 160, 1), opened("few", 16, 1)
    trials = [*by_connections(shared, 3.0), *by_connections(fewer, 1.0)]
    assert sharings(repetitions(tuple(trials))) == ()
    trials += by_connections(alone, 2.0)
    (only,) = sharings(repetitions(tuple(trials)))
    assert (only.against, only.connections) == ("alone", 16)


def test_two_loads_of_one_service_have_costs_of_their_own() -> None:
    plain = replace(ALONE, name="http", protocol="http1")
    trials = (
        spoken(plain, 8_000.0, 1), spoken(ALONE, 4_000.0, 1), spoken(SHARED, 6_000.0, 1),
    )  # fmt: skip
    found = {one.load: one.ratios["throughput_per_s"].value for one in costs(repetitions(trials))}
    assert found == pytest.approx({"alone": 0.5, "shared": 0.75})
