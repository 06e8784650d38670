"""Servers: how soon each framework was ready, what it held, and how long its listen queue was."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.report import words
from plimsoll.report.contents import anchor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.recording import Server
    from plimsoll.report.findings import Findings, TrialFindings

CAPTION = (
    "Ready after: from the start of the server to its first right answer, median over its trials, "
    "and the least and the most of them. At rest: memory of its processes once the contract was "
    "asked, before any load, median; under load: the most in the hold of any trial. RSS counts a "
    "page that several processes share in each of them, PSS once. Listen queue: places of each "
    "listening socket as the kernel has them."
)
"""What the table says."""

HEADINGS = (
    *("ready after", "least–most", "RSS at rest", "PSS at rest"),
    *("RSS under load", "PSS under load"),
)
"""Columns besides the framework and its listen queue."""

BRIEF = ("ready after", "RSS at rest", "RSS under load")
"""Those of them that are shown where there is little room."""


@dataclass(frozen=True)
class ServerRow:
    """The servers of one framework.

    Attributes:
        framework: Framework and variant.
        anchor: Anchor of its first trial.
        numbers: A text for each of `HEADINGS`.
        listen_queue: Places of each listening socket, and what was asked for where it has fewer.
        is_short: Whether a listening socket has fewer places than it was asked to have.
    """

    framework: str
    anchor: str
    numbers: tuple[str, ...]
    listen_queue: str
    is_short: bool


def rows(findings: Findings) -> list[ServerRow]:
    """A row for each framework of which a server was seen, in the order of the rankings."""
    grouped: dict[str, list[TrialFindings]] = {}
    by_id = {trial.recording.trial: trial for trial in findings.trials}
    for ranking in findings.rankings:
        for standing in ranking.standings:
            trials = [by_id[repetition.trial] for repetition in standing.repetitions]
            seen = [trial for trial in trials if _is_known(trial.recording.server)]
            grouped.setdefault(standing.framework, []).extend(seen)
    return [_row(framework, trials) for framework, trials in grouped.items() if trials]


def _is_known(server: Server | None) -> bool:
    """Whether more than its address is known of a server."""
    if server is None:
        return False
    return any(fact is not None for fact in (server.start_s, server.rest_rss_bytes, server.backlog))


def _row(framework: str, trials: Sequence[TrialFindings]) -> ServerRow:
    servers = [trial.recording.server for trial in trials if trial.recording.server is not None]
    queues = dict.fromkeys(words.listen_queue(server) for server in servers)
    return ServerRow(
        framework=framework,
        anchor=anchor("trial", trials[0].recording.trial),
        numbers=(
            *_starts([server.start_s for server in servers if server.start_s is not None]),
            _size([server.rest_rss_bytes for server in servers]),
            _size([server.rest_pss_bytes for server in servers]),
            _most(trials, "server_peak_rss_bytes"),
            _most(trials, "server_peak_pss_bytes"),
        ),
        listen_queue="; ".join(queues),
        is_short=any(words.is_queue_short(server) for server in servers),
    )


def _starts(times_s: Sequence[float]) -> tuple[str, str]:
    """The median of some times to start and, when they differ, the least and the most of them."""
    if not times_s:
        return words.ABSENT, words.ABSENT
    least, most = words.seconds(min(times_s)), words.seconds(max(times_s))
    return words.seconds(median(times_s)), words.ABSENT if least == most else f"{least}–{most}"


def _size(sizes_bytes: Sequence[int | None]) -> str:
    known = [size for size in sizes_bytes if size is not None]
    return words.size(median(known) if known else None)


def _most(trials: Sequence[TrialFindings], quantity: str) -> str:
    known = [trial.summary[quantity] for trial in trials if trial.summary is not None]
    return words.size(max((value for value in known if value is not None), default=None))
