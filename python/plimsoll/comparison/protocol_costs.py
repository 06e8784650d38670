"""Protocol costs: what TLS and HTTP/2 cost a server, beside the same requests without them.

Loads of a campaign that have as many requests in flight, or arrivals, and differ in what is spoken
are compared within each framework and endpoint:

    ratio = value by TLS or HTTP/2 / value by HTTP/1.1 without TLS

with its interval over repetitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.campaign.load import SERVICES
from plimsoll.comparison.comparisons import column, shown
from plimsoll.statistics.intervals import Estimate, ratio_interval

if TYPE_CHECKING:
    from plimsoll.campaign.load import Load, Service
    from plimsoll.comparison.comparisons import ComparedTrial

QUANTITIES = ("throughput_per_s", "server_cpu_s_per_request", "response_time_p99_ns")
"""Columns of `summaries` whose ratios are shown."""


@dataclass(frozen=True)
class ProtocolCost:
    """What a protocol costs one framework at one endpoint.

    Attributes:
        framework: Framework and variant.
        endpoint: Endpoint.
        service: What is spoken.
        load: Name of the load by it.
        against: Name of the load by HTTP/1.1 without TLS.
        driver: Program that generated both.
        ratios: Column of `summaries` to its ratio; without those that are not known.
        trials: Ids of the trials of both.
    """

    framework: str
    endpoint: str
    service: Service
    load: str
    against: str
    driver: str
    ratios: Mapping[str, Estimate]
    trials: tuple[str, ...]


def costs(repetitions: Sequence[ComparedTrial]) -> tuple[ProtocolCost, ...]:
    """What each protocol costs, in the order of endpoint, framework and service.

    Args:
        repetitions: The trials of a campaign.
    """
    grouped: dict[tuple[object, ...], dict[Service | None, list[ComparedTrial]]] = {}
    for one in repetitions:
        load = one.recording.load
        if load.model == "unknown":
            continue
        framework, endpoint, _, driver = one.key
        key = (endpoint, framework, driver, _requested(load))
        grouped.setdefault(key, {}).setdefault(load.service, []).append(one)
    return tuple(
        _cost(service, by_service[service], by_service[None])
        for _, by_service in sorted(grouped.items(), key=lambda item: str(item[0]))
        for service in SERVICES
        if service in by_service and None in by_service
    )


def _requested(load: Load) -> tuple[object, ...]:
    """What loads have in common that differ in the protocol alone."""
    each = load.in_flight_each if load.model == "closed" else 1
    holds = (stage for stage in load.stages if stage.kind == "hold")
    levels = tuple((stage.start * each, stage.end * each) for stage in holds)
    return load.model, levels, load.keeps_connections, load.think_time_s, load.server_cores


def _cost(
    service: Service, own: Sequence[ComparedTrial], against: Sequence[ComparedTrial]
) -> ProtocolCost:
    first, other = own[0].recording, against[0].recording
    ratios = {name: _ratio(shown(own), shown(against), name) for name in QUANTITIES}
    return ProtocolCost(
        framework=first.title,
        endpoint=first.endpoint,
        service=service,
        load=first.load.name,
        against=other.load.name,
        driver=own[0].driver,
        ratios={name: ratio for name, ratio in ratios.items() if ratio is not None},
        trials=tuple(one.recording.trial for one in (*own, *against)),
    )


def _ratio(
    own: Sequence[ComparedTrial], against: Sequence[ComparedTrial], quantity: str
) -> Estimate | None:
    values, others = column(own, quantity), column(against, quantity)
    if not values or not others or not median(others):
        return None
    return Estimate(median(values) / median(others), ratio_interval(values, others))
