"""Throughput against latency: what each framework at an endpoint gave, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.comparison import entry_comparison
from plimsoll.findings.trial import RANKED_BY

if TYPE_CHECKING:
    from plimsoll.comparison.entry_comparison import EntryComparison
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.rankings import Ranking
    from plimsoll.plan import ComparedTable
    from plimsoll.statistics.intervals import Estimate
    from plimsoll.verdicts.verdict import Level

    Compared = Mapping[tuple[ComparedTable, str, str], EntryComparison]
    """By table, framework and quantity."""

LATENCIES = (
    *("response_time_p99_ns", "service_time_p99_ns"),
    *("response_time_p50_ns", "service_time_p50_ns"),
)
"""Columns of `tables.SUMMARIES`; the first one that the most frameworks have is told."""

FEWEST = 2
"""Points without which there is nothing to compare."""


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
    compared = {
        (one.table, one.framework, one.quantity): one
        for one in entry_comparison.of_table(findings.comparisons)
    }
    grouped: dict[tuple[str, str], list[Ranking]] = {}
    for ranking in findings.rankings:
        grouped.setdefault((ranking.endpoint, ranking.driver), []).append(ranking)
    found = (_of_field(*field, rankings, compared) for field, rankings in grouped.items())
    return tuple(one for one in found if len(one.points) >= FEWEST)


def _of_field(
    endpoint: str, driver: str, rankings: Sequence[Ranking], compared: Compared
) -> AgainstLatency:
    every = [
        AgainstLatency(endpoint, driver, latency, tuple(_points(rankings, latency, compared)))
        for latency in LATENCIES
    ]
    return max(every, key=lambda one: len(one.points))


def _points(rankings: Sequence[Ranking], latency: str, compared: Compared) -> list[LatencyPoint]:
    points: list[LatencyPoint] = []
    for ranking in rankings:
        for entry in ranking.entries:
            key = (ranking.table, entry.framework)
            x, y = (_positive(compared.get((*key, name))) for name in (RANKED_BY, latency))
            if entry.level == "void" or x is None or y is None:
                continue
            points.append(
                LatencyPoint(entry.framework, ranking.load, x, y, entry.level, entry.is_yardstick)
            )
    return points


def _positive(compared: EntryComparison | None) -> Estimate | None:
    """The number with its interval; None where it is not known, or is 0."""
    return compared.value if compared is not None and compared.median else None
