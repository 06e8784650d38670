"""What was full beyond a load line: why a rate could not be carried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll import wording
from plimsoll.aggregate import utilisation
from plimsoll.verdicts.catalogue import role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.verdicts.role import Lacking
    from plimsoll.verdicts.verdict import Verdict

Resource = Literal[
    "server", "core", "host", "queue", "link", "memory", "driver", "connections", "unknown"
]

FULL = 0.8
"""Share from which on a resource is full; as in `bottleneck_identified`."""

SEARCHED: tuple[Resource, ...] = ("server", "core", "queue", "link", "host")
"""Resources in the order in which they are named: the host is full when its server is."""

_CONNECTIONS_FULL = 0.95


@dataclass(frozen=True)
class LimitingResource:
    """What was full when a rate failed.

    Attributes:
        resource: Which; `driver` is the load generator, `connections` its pool.
        sentence: With numbers, without a full stop.
    """

    resource: Resource
    sentence: str


def beyond(found: TrialFindings, tables: Tables) -> LimitingResource:
    """What was full in a trial that failed.

    Args:
        found: What is known of it.
        tables: Its tables.
    """
    shares = utilisation.shares(tables)
    driver = shares.pop(utilisation.DRIVER, 0.0)
    capacity = shares.pop(utilisation.CAPACITY, 0.0)
    server = max(shares.get(utilisation.SERVER, 0.0), shares.get(utilisation.CORE, 0.0))
    headroom = _doubt(found, "driver")
    if headroom is not None and max(driver, capacity) > FULL and server < FULL:
        return LimitingResource("driver", headroom.sentences[0].text)
    if verdict := _doubt(found, "queue"):
        return LimitingResource("queue", verdict.sentences[0].text)
    if verdict := _doubt(found, "memory"):
        return LimitingResource("memory", verdict.sentences[0].text)
    for resource in SEARCHED:
        if shares.get(resource, 0.0) >= FULL:
            return LimitingResource(resource, utilisation.stated(resource, shares[resource]))
    in_flight, most = tables.summary.in_flight, tables.summary.connections_requested
    if in_flight and most and in_flight >= _CONNECTIONS_FULL * most:
        sentence = (
            f"all {wording.count(most)} connections waited for responses; more may carry more "
            "(`-c`)"
        )
        return LimitingResource("connections", sentence)
    seen = max(shares, key=lambda name: shares[name], default=None)
    stated = f" ({utilisation.stated(seen, shares[seen])})" if seen else ""
    sentence = (
        f"no measured resource was saturated{stated}; suspect a lock, a worker pool or a timer"
    )
    return LimitingResource("unknown", sentence)


def _doubt(found: TrialFindings, lacking: Lacking) -> Verdict | None:
    """The verdict that a resource was full; None where no check found that."""
    doubts = (one for one in found.verdicts if one.is_doubting)
    return next((one for one in doubts if role(one.check).lacks == lacking), None)
