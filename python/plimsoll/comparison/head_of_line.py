"""Head-of-line blocking: what it costs requests that they share a connection.

Two loads of a campaign with as many requests in flight are compared: C connections with S requests
each, and C · S connections with one each. Within each framework, endpoint and service:

    ratio = value on shared connections / value on connections of their own

with its interval over repetitions. Requests share a connection as streams of HTTP/2, as pipelined
requests of HTTP/1.1, or as messages of WebSocket.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.comparison.alike_loads import by_load, requested
from plimsoll.comparison.comparisons import estimates, ratio

if TYPE_CHECKING:
    from plimsoll.campaign.load import Load, Protocol
    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.statistics.intervals import Estimate

QUANTITIES = ("throughput_per_s", "response_time_p50_ns", "response_time_p99_ns")
"""Columns of `summaries` that are compared."""


@dataclass(frozen=True)
class SharedQuantity:
    """One quantity of a server by both loads.

    Attributes:
        alone: With a connection for each request.
        shared: On shared connections.
        ratio: The second by the first.
    """

    alone: Estimate
    shared: Estimate
    ratio: Estimate


@dataclass(frozen=True)
class ConnectionSharing:
    """What sharing connections does to one framework at one endpoint.

    Attributes:
        framework: Framework and variant.
        endpoint: Endpoint.
        protocol: What is spoken.
        load: Name of the load on shared connections.
        against: Name of the load with a connection for each request.
        connections: The most connections of the first.
        each: Requests in flight on each of them.
        driver: Program that generated both.
        quantities: Column of `summaries` to what was found; without those that are not known.
        trials: Ids of its trials on shared connections.
        against_trials: Ids of those that they are compared with.
    """

    framework: str
    endpoint: str
    protocol: Protocol
    load: str
    against: str
    connections: int
    each: int
    driver: str
    quantities: Mapping[str, SharedQuantity]
    trials: tuple[str, ...]
    against_trials: tuple[str, ...]


def sharings(repetitions: Sequence[ComparedTrial]) -> tuple[ConnectionSharing, ...]:
    """What sharing connections does, in the order of endpoint, load and framework.

    Args:
        repetitions: The trials of a campaign.
    """
    found = (
        _sharing(shared, alone)
        for loads in by_load(repetitions, _in_flight).values()
        for alone in loads.values()
        if _each(alone) == 1
        for shared in loads.values()
        if _each(shared) > 1
    )
    return tuple(
        sorted(
            found,
            key=lambda one: (one.endpoint, one.load, one.against, one.driver, one.framework),
        )
    )


def _in_flight(load: Load) -> tuple[object, ...]:
    """What loads have in common that differ in how many requests share a connection alone."""
    return load.protocol, load.tls, load.connections * load.in_flight_each, *requested(load)


def _each(repetitions: Sequence[ComparedTrial]) -> int:
    return repetitions[0].recording.load.in_flight_each


def _sharing(shared: Sequence[ComparedTrial], alone: Sequence[ComparedTrial]) -> ConnectionSharing:
    first, other = shared[0].recording, alone[0].recording
    by_shared, by_alone = estimates(shared, QUANTITIES), estimates(alone, QUANTITIES)
    ratios = {name: ratio(shared, alone, name) for name in QUANTITIES}
    return ConnectionSharing(
        framework=first.title,
        endpoint=first.endpoint,
        protocol=first.load.protocol,
        load=first.load.name,
        against=other.load.name,
        connections=first.load.peak_connections or 0,
        each=first.load.in_flight_each,
        driver=shared[0].driver,
        quantities={
            name: SharedQuantity(by_alone[name], by_shared[name], found)
            for name, found in ratios.items()
            if found is not None
        },
        trials=tuple(one.recording.trial for one in shared),
        against_trials=tuple(one.recording.trial for one in alone),
    )
