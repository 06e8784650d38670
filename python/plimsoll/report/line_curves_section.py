"""The section with latency over rate: every try of each search for a load line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import charts
from plimsoll.report.contents import anchor
from plimsoll.report.section import Picture, Section

if TYPE_CHECKING:
    from plimsoll.findings.findings import Findings

ANCHOR = "latency-over-rate"
TITLE = "Latency over rate"


def section(findings: Findings) -> Section | None:
    """The section; None where no rate was tried.

    Args:
        findings: What to report.
    """
    found = [one.found for one in findings.lines if one.found and one.found.searched.tries]
    if not found:
        return None
    pictures = (
        Picture(
            anchor("line-curve", one.subject.name),
            one.subject.name,
            charts.load_line,
            charts.load_line.draw(one.searched),
        )
        for one in found
    )
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        short=TITLE,
        caption=charts.load_line.CAPTION,
        tables=(),
        pictures=tuple(pictures),
    )
