"""Servers: which program each was, when it was ready, what it held, its response headers."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.report import words
from plimsoll.report.contents import anchor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.recording import RecordedServer, ResponseHead

CAPTION = (
    "Ready after: from the start of the server to its first successful response; median "
    "over trials, and range. At rest: memory of its processes after the contract check, "
    "before any load, median; under load: peak in the measurement window of any trial. "
    "RSS counts shared pages once per process, PSS once in total. Head: bytes before the "
    "body of a successful response; segments: TCP segments of head and body; both as "
    "ranges over the request types. Application: digest of what ran. Listen queue: "
    "backlog of each listening socket, from the kernel."
)
"""The caption of the table."""

HEADINGS = (
    *("ready after", "least–most", "RSS at rest", "PSS at rest"),
    *("RSS under load", "PSS under load", "head", "segments", "application"),
)
"""Columns besides the framework and its listen queue."""

WIDE = tuple(name for name in HEADINGS if name not in ("least–most", "segments", "application"))
"""Those of them that a wide terminal has room for."""

BRIEF = ("ready after", "RSS at rest", "RSS under load")
"""Those of them that are shown where there is little room."""


@dataclass(frozen=True)
class ServerRow:
    """The servers of one framework.

    Attributes:
        framework: Framework and variant.
        anchor: Anchor of its first trial.
        numbers: A text for each of `HEADINGS`.
        listen_queue: Places of each listening socket, and the requested number if it has fewer.
        is_short: Whether a listening socket has fewer places than requested.
        ran: What ran, kind by kind; more than once where trials ran different programs.
    """

    framework: str
    anchor: str
    numbers: tuple[str, ...]
    listen_queue: str
    is_short: bool
    ran: tuple[tuple[str, str], ...] = ()


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


def _is_known(server: RecordedServer | None) -> bool:
    """Whether more than its address is known of a server."""
    if server is None:
        return False
    return any(fact is not None for fact in (server.start_s, server.rest_rss_bytes, server.backlog))


def _row(framework: str, trials: Sequence[TrialFindings]) -> ServerRow:
    servers = [trial.recording.server for trial in trials if trial.recording.server is not None]
    queues = dict.fromkeys(words.listen_queue(server) for server in servers)
    programs = {trial.recording.provenance.application_id: trial.recording for trial in trials}
    return ServerRow(
        framework=framework,
        anchor=anchor("trial", trials[0].recording.trial),
        numbers=(
            *_starts([server.start_s for server in servers if server.start_s is not None]),
            _size([server.rest_rss_bytes for server in servers]),
            _size([server.rest_pss_bytes for server in servers]),
            _most(trials, "server_peak_rss_bytes"),
            _most(trials, "server_peak_pss_bytes"),
            *_heads([head for trial in trials for head in trial.recording.heads]),
            ", ".join(filter(None, programs)) or words.ABSENT,
        ),
        listen_queue="; ".join(queues),
        is_short=any(words.is_queue_short(server) for server in servers),
        ran=tuple(fact for one in programs.values() for fact in words.ran(one)),
    )


def _starts(times_s: Sequence[float]) -> tuple[str, str]:
    """The median of some times to start and, when they differ, the least and the most of them."""
    if not times_s:
        return words.ABSENT, words.ABSENT
    least, most = words.seconds(min(times_s)), words.seconds(max(times_s))
    return words.seconds(median(times_s)), words.ABSENT if least == most else f"{least}–{most}"


def _heads(heads: Sequence[ResponseHead]) -> tuple[str, str]:
    """Bytes of response heads, and segments of responses."""
    sizes, segments = [head.bytes for head in heads], [head.segments for head in heads]
    return _range(sizes, " B"), _range([count for count in segments if count is not None], "")


def _range(counts: Sequence[int], unit: str) -> str:
    if not counts:
        return words.ABSENT
    least, most = min(counts), max(counts)
    return f"{least}{unit}" if least == most else f"{least}–{most}{unit}"


def _size(sizes_bytes: Sequence[int | None]) -> str:
    known = [size for size in sizes_bytes if size is not None]
    return words.size(median(known) if known else None)


def _most(trials: Sequence[TrialFindings], quantity: str) -> str:
    known = [trial.summary.value(quantity) for trial in trials if trial.summary is not None]
    return words.size(max((value for value in known if value is not None), default=None))
