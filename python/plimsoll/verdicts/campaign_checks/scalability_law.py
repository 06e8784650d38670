"""Does throughput scale with connections as it can, from load to load?

A server and endpoint with closed loads of four or more different numbers of connections, alike in
all else, is compared with the universal scalability law. Its contention α and coherency β are not
negative. The law may leave more than a twentieth of the variance unexplained and miss a load by
more than a tenth. Then one of the loads is not of the same kind as the others. The server was not
warm, the load generator was the limit there, or the host had changed.

Between two loads of ten connections or more, throughput per connection must not grow by more than a
fifth. Below ten it may: a server with a single client sleeps between two requests, and waking up
costs more than the request.

Source: N. J. Gunther, Guerrilla Capacity Planning, 2007, on the universal scalability law.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.comparison.entries import entries
from plimsoll.statistics import scalability
from plimsoll.verdicts import law_fit
from plimsoll.verdicts.finding import Finding, found, verdict
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from plimsoll.campaign.load import Load
    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.comparison.entries import Entry
    from plimsoll.statistics.scalability import Fit
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

    Points = list[tuple[float, float]]
    """Connections and responses per second of each load, by rising connections."""

NAME = "scalability_law"
TITLE = "Scalability law"
PROBLEM = "Scalability law not met"
SOURCE = "throughput over loads of different numbers of connections; N. J. Gunther, 2007"
LOADS_EFFICIENCY = Limit(
    NAME,
    "loads_efficiency",
    "above",
    1.2,
    None,
    "ratio",
    "throughput per connection of a load / that of a load with fewer of them, each warmed up",
    PROPOSAL + "; 1 by the law; not void, because no single trial need be wrong",
)
LIMITS = (LOADS_EFFICIENCY,)
R_SQUARED, MISSED_RATIO = law_fit.limits(NAME)
"""Those of the check of a trial by the same name, which has them in its `LIMITS`."""
FEWEST = 10
"""Efficiency of loads with fewer connections is that of waking."""
REMEDY = "Compare which resources these trials used with those of the other loads"


def judge(repetitions: Sequence[ComparedTrial], limits: Limits) -> tuple[Verdict, ...]:
    """Whether throughput over the loads of each server can be.

    Args:
        repetitions: The trials of a campaign.
        limits: The limits of the campaign.
    """
    findings = [
        replace(finding, tables=tuple(entry.table for entry in server))
        for server in _servers(repetitions)
        for finding in _server(server, _points(server), limits)
    ]
    return (verdict(NAME, CAMPAIGN, findings, SOURCE),) if findings else ()


def _servers(repetitions: Sequence[ComparedTrial]) -> Iterator[list[Entry]]:
    """Entries that differ in their number of connections only."""
    grouped: dict[Hashable, list[Entry]] = {}
    for entry in entries(repetitions):
        load = entry.repetitions[0].recording.load
        if load.model == "closed" and entry.is_saturating:
            key = (entry.framework, entry.endpoint, entry.driver, _alike(load))
            grouped.setdefault(key, []).append(entry)
    for found_entries in grouped.values():
        if len(_points(found_entries)) >= scalability.FEWEST:
            yield found_entries


def _alike(load: Load) -> Hashable:
    """What loads that are compared have in common."""
    each = (load.protocol, load.pipeline, load.streams)
    connections = (load.keep_alive, load.requests_per_connection, *each)
    return (*connections, load.server_cores, load.threads)


def _points(server: Sequence[Entry]) -> Points:
    """One point for each number of connections; of two loads alike the greater throughput."""
    points: dict[float, float] = {}
    for entry in server:
        held = _connections(entry)
        if held is not None:
            points[held] = max(points.get(held, 0.0), entry.throughput)
    return sorted(points.items())


def _connections(entry: Entry) -> float | None:
    """Connections of the hold; None where it has several levels."""
    levels = {
        level
        for stage in entry.repetitions[0].recording.stages
        if stage.kind == "hold"
        for level in (stage.start, stage.end)
    }
    return levels.pop() if len(levels) == 1 else None


def _server(server: Sequence[Entry], points: Points, limits: Limits) -> Iterator[Finding]:
    """One server at one endpoint."""
    name = f"{server[0].framework} · {server[0].endpoint}"
    fit = scalability.fit(points)
    if fit is not None:
        yield _fitted(name, points, fit, limits)
    gains = [
        (later / more / (earlier / few), few, more)
        for (few, earlier), (more, later) in combinations(points, 2)
        if few >= FEWEST and earlier
    ]
    if gains:
        ratio, few, more = max(gains)
        sentence = (
            f"at {wording.count(more)} connections of {name}, throughput per connection was "
            f"{wording.percent(round(ratio, 3))} of that at {wording.count(few)}"
        )
        limit = limits.of(LOADS_EFFICIENCY)
        clause = "" if limit.level(ratio) == "sound" else "; none gets faster by more of them"
        yield found(limit, ratio, sentence + clause, REMEDY)


def _fitted(name: str, points: Points, fit: Fit, limits: Limits) -> Finding:
    """The law against the loads."""
    most = "" if fit.most_at is None else f", most at about {wording.count(fit.most_at)}"
    over = (
        f"over {wording.count(points[0][0])} to {wording.count(points[-1][0])} connections of "
        f"{name}"
    )
    limit, width = limits.of(R_SQUARED), limits.of(MISSED_RATIO)
    return law_fit.finding(over, fit, limit, width, REMEDY, beside=most, close="")
