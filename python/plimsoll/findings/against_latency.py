"""Throughput against latency: what each framework at an endpoint gave, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll.findings.trial import RANKED_BY
from plimsoll.statistics.intervals import Estimate, Interval

if TYPE_CHECKING:
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.rankings import Ranking
    from plimsoll.verdicts.verdict import Level

LATENCIES = (
    *("response_time_p99_ns", "service_time_p99_ns"),
    *("response_time_p50_ns", "service_time_p50_ns"),
)
"""Columns of `tables.SUMMARIES`; the first one that the most frameworks have is told."""

FEWEST = 2
"""Points without which there is nothing to compare."""

Key = tuple[str, str, str, str, str]
"""Framework, endpoint, load, driver and quantity."""


@dataclass(frozen=True)
class LatencyPoint:
    """One framework under one load, over the repetitions that count.

    Attributes:
        framework: Framework and variant.
        load: Name of the load.
        goodput: In successful responses per second.
        latency: In nanoseconds.
        level: How far to believe both; never void.
        is_yardstick: Whether it is Plimsoll's own server beside frameworks.
    """

    framework: str
    load: str
    goodput: Estimate
    latency: Estimate
    level: Level
    is_yardstick: bool


@dataclass(frozen=True)
class AgainstLatency:
    """The frameworks at one endpoint, measured by one driver.

    Attributes:
        endpoint: Name of the endpoint.
        driver: Name of the program that put on the loads.
        latency: One of `LATENCIES`.
        points: In the order of the rankings.
    """

    endpoint: str
    driver: str
    latency: str
    points: tuple[LatencyPoint, ...]


def of_findings(findings: Findings) -> tuple[AgainstLatency, ...]:
    """One for each endpoint and driver that has two points or more, in the order of the rankings.

    Args:
        findings: What to report.
    """
    rows = {
        (row["framework"], row["endpoint"], row["load"], row["driver"], row["quantity"]): row
        for row in findings.comparisons.to_pylist()
    }
    grouped: dict[tuple[str, str], list[Ranking]] = {}
    for ranking in findings.rankings:
        grouped.setdefault((ranking.endpoint, ranking.driver), []).append(ranking)
    found = (_of_field(*field, rankings, rows) for field, rankings in grouped.items())
    return tuple(one for one in found if len(one.points) >= FEWEST)


def _of_field(
    endpoint: str, driver: str, rankings: Sequence[Ranking], rows: Mapping[Key, Mapping[str, Any]]
) -> AgainstLatency:
    every = [
        AgainstLatency(endpoint, driver, latency, tuple(_points(rankings, latency, rows)))
        for latency in LATENCIES
    ]
    return max(every, key=lambda one: len(one.points))


def _points(
    rankings: Sequence[Ranking], latency: str, rows: Mapping[Key, Mapping[str, Any]]
) -> list[LatencyPoint]:
    points: list[LatencyPoint] = []
    for ranking in rankings:
        for standing in ranking.standings:
            key = (standing.framework, ranking.endpoint, ranking.load, ranking.driver)
            x, y = (_estimate(rows.get((*key, name), {})) for name in (RANKED_BY, latency))
            if standing.level == "void" or x is None or y is None:
                continue
            points.append(
                LatencyPoint(
                    standing.framework, ranking.load, x, y, standing.level, standing.is_yardstick
                )
            )
    return points


def _estimate(row: Mapping[str, Any]) -> Estimate | None:
    """The number of a row with its interval; None where it is not known, or is not positive."""
    if not row.get("median"):
        return None
    low, high = row["low"], row["high"]
    return Estimate(row["median"], None if low is None or high is None else Interval(low, high))
