"""Servers: when each was ready, what memory it held, and what its responses began with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.statistics.missing_values import known, median_of_known

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.recording import RecordedServer

    Extent = tuple[float, float]
    """The least and the greatest of some numbers."""


@dataclass(frozen=True)
class EntryServers:
    """The servers of one framework; None where something is unknown.

    Attributes:
        framework: Framework and variant.
        trials: The trials in which a server was seen.
        servers: The server of each of them.
        ready_s: Time from its start to its first successful response, the median, in seconds.
        ready_between_s: The shortest and the longest of these times.
        rest_rss_bytes: Memory of its processes before any load, the median; shared pages count once
            per process.
        rest_pss_bytes: The same; shared pages count once in total.
        peak_rss_bytes: The most memory in the measurement window of any trial.
        peak_pss_bytes: The same; shared pages count once in total.
        head_bytes: Bytes before the body of a successful response.
        segments: TCP segments of a response.
    """

    framework: str
    trials: tuple[TrialFindings, ...]
    servers: tuple[RecordedServer, ...]
    ready_s: float | None
    ready_between_s: Extent | None
    rest_rss_bytes: float | None
    rest_pss_bytes: float | None
    peak_rss_bytes: float | None
    peak_pss_bytes: float | None
    head_bytes: Extent | None
    segments: Extent | None


def of_findings(findings: Findings) -> tuple[EntryServers, ...]:
    """Each framework of which a server was seen, in the order of the rankings.

    Args:
        findings: What to report.
    """
    grouped: dict[str, list[TrialFindings]] = {}
    by_id = {trial.recording.trial: trial for trial in findings.trials}
    for ranking in findings.rankings:
        for entry in ranking.entries:
            trials = [by_id[repetition.trial] for repetition in entry.repetitions]
            seen = [trial for trial in trials if _is_known(trial.recording.server)]
            grouped.setdefault(entry.framework, []).extend(seen)
    return tuple(_entry(framework, trials) for framework, trials in grouped.items() if trials)


def _is_known(server: RecordedServer | None) -> bool:
    """Whether more than its address is known of a server."""
    if server is None:
        return False
    return any(fact is not None for fact in (server.start_s, server.rest_rss_bytes, server.backlog))


def _entry(framework: str, trials: Sequence[TrialFindings]) -> EntryServers:
    servers = [trial.recording.server for trial in trials if trial.recording.server is not None]
    heads = [head for trial in trials for head in trial.recording.heads]
    starts_s = known(server.start_s for server in servers)
    return EntryServers(
        framework,
        tuple(trials),
        tuple(servers),
        ready_s=median_of_known(starts_s),
        ready_between_s=_extent(starts_s),
        rest_rss_bytes=median_of_known(server.rest_rss_bytes for server in servers),
        rest_pss_bytes=median_of_known(server.rest_pss_bytes for server in servers),
        peak_rss_bytes=_most(trials, "server_peak_rss_bytes"),
        peak_pss_bytes=_most(trials, "server_peak_pss_bytes"),
        head_bytes=_extent(head.bytes for head in heads),
        segments=_extent(head.segments for head in heads),
    )


def _extent(values: Iterable[float | None]) -> Extent | None:
    found = known(values)
    return (min(found), max(found)) if found else None


def _most(trials: Sequence[TrialFindings], quantity: str) -> float | None:
    values = (trial.summary.value(quantity) for trial in trials if trial.summary is not None)
    return max(known(values), default=None)
