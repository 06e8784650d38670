"""Servers: which program each was, when it was ready, what it held, its response headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.findings import servers
from plimsoll.report import fact_text
from plimsoll.report.contents import anchor

if TYPE_CHECKING:
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.servers import EntryServers, Extent

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


def rows(findings: Findings, *, is_brief: bool = False) -> list[ServerRow]:
    """A row for each framework of which a server was seen, in the order of the rankings.

    Args:
        findings: What to report.
        is_brief: Whether long lists of what ran are cut, and counted.
    """
    return [_row(one, is_brief=is_brief) for one in servers.of_findings(findings)]


def _row(found: EntryServers, *, is_brief: bool) -> ServerRow:
    queues = dict.fromkeys(fact_text.listen_queue(server) for server in found.servers)
    recordings = [trial.recording for trial in found.trials]
    programs = {one.provenance.application_id: one for one in recordings}
    return ServerRow(
        framework=found.framework,
        anchor=anchor("trial", recordings[0].trial),
        numbers=(
            wording.seconds(found.ready_s),
            _between(found.ready_between_s),
            wording.size(found.rest_rss_bytes),
            wording.size(found.rest_pss_bytes),
            wording.size(found.peak_rss_bytes),
            wording.size(found.peak_pss_bytes),
            _range(found.head_bytes, " B"),
            _range(found.segments, ""),
            ", ".join(filter(None, programs)) or wording.ABSENT,
        ),
        listen_queue="; ".join(queues),
        is_short=any(fact_text.is_queue_short(server) for server in found.servers),
        ran=tuple(
            fact for one in programs.values() for fact in fact_text.ran(one, is_brief=is_brief)
        ),
    )


def _between(times_s: Extent | None) -> str:
    """The least and the most of some times; a dash where they read the same."""
    if times_s is None:
        return wording.ABSENT
    least, most = map(wording.seconds, times_s)
    if least == most:
        return wording.ABSENT
    number, _, unit = least.partition(" ")
    return f"{number}–{most}" if most.endswith(f" {unit}") else f"{least}–{most}"


def _range(extent: Extent | None, unit: str) -> str:
    if extent is None:
        return wording.ABSENT
    least, most = map(wording.count, extent)
    return f"{least}{unit}" if least == most else f"{least}–{most}{unit}"
