"""The picture of latency over rate, by the tries of one load line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import charts
from plimsoll.report.contents.naming import anchor
from plimsoll.report.contents.section import Picture

if TYPE_CHECKING:
    from plimsoll.findings.load_lines import LineFindings


def picture(found: LineFindings) -> Picture:
    """Latency over rate by the tries of one line."""
    name = found.subject.name
    drawn = charts.load_line.draw(found.searched)
    return Picture(anchor("line-curve", name), name, charts.load_line, drawn)
