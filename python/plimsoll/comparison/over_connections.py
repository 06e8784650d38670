"""Over connections: what became of each server as more connections were requested.

Loads of a closed model that hold one number of connections each are points on one axis. Where a
campaign has three such numbers or more for an endpoint and a driver, they make a series: right
responses per second, share of successful requests, memory and power over
connections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.comparison.comparisons import estimates

if TYPE_CHECKING:
    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.recording import Recording
    from plimsoll.statistics.intervals import Estimate

FEWEST = 3
"""Numbers of connections that make a series."""

POWERS = ("wall_net_power_w", "rapl_net_power_w")
"""Columns with power above that without load, the preferred one first."""

QUANTITIES = ("goodput_per_s", "failure_ratio", "server_peak_rss_bytes", *POWERS)
"""Columns of `summaries` that are shown for each point."""


@dataclass(frozen=True)
class ConnectionsPoint:
    """One server at one number of connections.

    Attributes:
        framework: Framework and variant.
        connections: Connections that were held.
        load: Name of the load.
        numbers: Column of `summaries` to its number over the repetitions that count, over all where
            none counts; without those that are not known.
        counts: Whether a repetition counts.
        trials: Ids of its trials.
    """

    framework: str
    connections: int
    load: str
    numbers: Mapping[str, Estimate]
    counts: bool
    trials: tuple[str, ...]


@dataclass(frozen=True)
class ConnectionsSeries:
    """The servers at one endpoint by one driver, over connections.

    Attributes:
        endpoint: Endpoint.
        driver: Program that generated the loads.
        points: By framework, then by connections.
    """

    endpoint: str
    driver: str
    points: tuple[ConnectionsPoint, ...]

    @property
    def frameworks(self) -> tuple[str, ...]:
        """The frameworks, in order."""
        return tuple(dict.fromkeys(point.framework for point in self.points))

    @property
    def power(self) -> str:
        """Column of its power above that without load: at the wall where that is known."""
        return next(
            (name for name in POWERS if any(name in one.numbers for one in self.points)), POWERS[0]
        )


def series(repetitions: Sequence[ComparedTrial]) -> tuple[ConnectionsSeries, ...]:
    """Every series of a campaign, in the order of endpoint and driver.

    Args:
        repetitions: The trials of a campaign.
    """
    grouped: dict[tuple[str, str], dict[tuple[str, int, str], list[ComparedTrial]]] = {}
    for one in repetitions:
        framework, endpoint, load, driver = one.key
        held = connections(one.recording)
        if held is not None:
            points = grouped.setdefault((endpoint, driver), {})
            points.setdefault((framework, held, load), []).append(one)
    return tuple(
        ConnectionsSeries(
            endpoint, driver, tuple(_point(*key, points[key]) for key in sorted(points))
        )
        for (endpoint, driver), points in sorted(grouped.items(), key=lambda item: item[0])
        if len({held for _, held, _ in points}) >= FEWEST
    )


def connections(recording: Recording) -> int | None:
    """The one number of connections that the holds of a trial have; None when there is no one."""
    load = recording.load
    stages = [stage for stage in load.stages if stage.kind == "hold"]
    levels = {level for stage in stages for level in (stage.start, stage.end)}
    if load.model != "closed" or len(levels) != 1:
        return None
    return int(levels.pop())


def _point(
    framework: str, held: int, load: str, repetitions: Sequence[ComparedTrial]
) -> ConnectionsPoint:
    return ConnectionsPoint(
        framework,
        held,
        load,
        estimates(repetitions, QUANTITIES),
        any(one.counts for one in repetitions),
        tuple(one.recording.trial for one in repetitions),
    )
