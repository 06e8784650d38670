"""The section on hosts: the load generators of each trial that several hosts generated together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.history.fingerprint import facts, fingerprint
from plimsoll.recording import host_in_words
from plimsoll.report import host_lines
from plimsoll.report.contents.section import Section, SectionTable, TableRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.findings.findings import Findings
    from plimsoll.recording import Recording

ANCHOR = "hosts"
TITLE = "Load generators by host"
CAPTION = (
    "Each host generated its share of the load. *Began* is how much later than the first one it "
    "started, by clocks that were compared; *clock ±* is how exactly they are known. Times of all "
    "requests are in every statistic: percentiles are those of all rows, not means of hosts."
)


def section(findings: Findings) -> Section | None:
    """The section; None where one host generated each load."""
    tables = tuple(_table(one.recording) for one in findings.trials if one.recording.hosts)
    return Section(ANCHOR, TITLE, "Hosts", CAPTION, tables) if tables else None


def _table(recording: Recording) -> SectionTable:
    return SectionTable(
        title=f"{recording.title} {recording.endpoint}, {len(recording.hosts)} hosts",
        headings=host_lines.HEADINGS,
        numbers=tuple(range(1, len(host_lines.HEADINGS) - 1)),
        lines=tuple(TableRow(cells) for cells in host_lines.lines(recording)),
        brief=(1, 4, 8),
        notes=(
            *_connected(recording),
            *_set(recording),
            *(f"`{one.host}`: {one.error}" for one in recording.hosts if one.error),
        ),
    )


def _set(recording: Recording) -> Iterator[str]:
    """Which machines these are, together."""
    if recording.machines:
        digits = fingerprint(facts(recording.machines))
        yield f"Fingerprint of these machines: `{digits}`."


def _connected(recording: Recording) -> Iterator[str]:
    """Who talked to whom."""
    server = recording.server
    if server is None:
        return
    drivers = wording.listed([f"`{one.host}`" for one in recording.hosts], most=8)
    started = f", the server on {host_in_words(server.host)}" if server.command else ""
    over = f", over its interface `{server.link}`" if server.command and server.link else ""
    yield f"{drivers} connected to {server.address}{started}{over}."
