"""Protocol costs: what TLS and HTTP/2 cost a server, beside the same requests without them.

Loads of a campaign that have as many requests in flight, or arrivals, and differ in what is spoken
are compared within each framework and endpoint:

    ratio = value by TLS or HTTP/2 / value by HTTP/1.1 without TLS

with its interval over repetitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.campaign.load import SERVICES
from plimsoll.comparison.alike_loads import by_load, requested
from plimsoll.comparison.comparisons import ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.campaign.load import Service
    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.statistics.intervals import Estimate

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
        trials: Ids of its trials by the protocol.
        against_trials: Ids of those that they are compared with.
    """

    framework: str
    endpoint: str
    service: Service
    load: str
    against: str
    driver: str
    ratios: Mapping[str, Estimate]
    trials: tuple[str, ...]
    against_trials: tuple[str, ...]


def costs(repetitions: Sequence[ComparedTrial]) -> tuple[ProtocolCost, ...]:
    """What each protocol costs, in the order of endpoint, framework and service.

    Args:
        repetitions: The trials of a campaign.
    """
    grouped = by_load(repetitions, lambda load: (requested(load),))
    return tuple(
        cost
        for _, loads in sorted(grouped.items(), key=lambda item: str(item[0]))
        for cost in _costs([*loads.values()])
    )


def _costs(loads: Sequence[Sequence[ComparedTrial]]) -> Iterator[ProtocolCost]:
    """What each load by another protocol costs beside the plain one, if there is one."""
    by_service = [(_service(one), one) for one in loads]
    plain = [one for service, one in by_service if service is None]
    if not plain:
        return
    # Pipelining is another way to have as many requests in flight.
    against = min(plain, key=lambda one: one[0].recording.load.in_flight_each)
    for service in SERVICES:
        yield from (_cost(service, one, against) for found, one in by_service if found == service)


def _service(repetitions: Sequence[ComparedTrial]) -> Service | None:
    load = repetitions[0].recording.load
    return None if load.model == "unknown" else load.service


def _cost(
    service: Service, own: Sequence[ComparedTrial], against: Sequence[ComparedTrial]
) -> ProtocolCost:
    first, other = own[0].recording, against[0].recording
    ratios = {name: ratio(own, against, name) for name in QUANTITIES}
    return ProtocolCost(
        framework=first.title,
        endpoint=first.endpoint,
        service=service,
        load=first.load.name,
        against=other.load.name,
        driver=own[0].driver,
        ratios={name: found for name, found in ratios.items() if found is not None},
        trials=tuple(one.recording.trial for one in own),
        against_trials=tuple(one.recording.trial for one in against),
    )
