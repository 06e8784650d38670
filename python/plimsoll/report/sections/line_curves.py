"""The section with latency over rate: tries of load lines, and rates of open loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import charts
from plimsoll.report.contents import anchor
from plimsoll.report.contents.section import Picture, Section
from plimsoll.report.words import TIMES

if TYPE_CHECKING:
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.load_lines import LineFindings

ANCHOR = "latency-over-rate"
TITLE = "Latency over rate"


def section(findings: Findings) -> Section | None:
    """The section; None where there were no several rates.

    Args:
        findings: What to report.
    """
    found = [one.found for one in findings.lines if one.found and one.found.searched.tries]
    tries = [one for one in found if one.searched.wanted.has_processes]
    pictures = [of_tries(one) for one in tries]
    pictures += [
        Picture(
            anchor("rate-curve", one.endpoint, one.driver, one.time),
            f"{one.endpoint}, {TIMES[one.time][0]}",
            charts.latency_over_rate,
            charts.latency_over_rate.draw(one, findings.frameworks),
        )
        for one in findings.rate_curves
    ]
    if not pictures:
        return None
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        short=TITLE,
        caption=(charts.load_line if tries else charts.latency_over_rate).CAPTION,
        tables=(),
        pictures=tuple(pictures),
    )


def of_tries(found: LineFindings) -> Picture:
    """Latency over rate by the tries of one line; that of one server stands beside its result."""
    name = found.subject.name
    drawn = charts.load_line.draw(found.searched)
    return Picture(anchor("line-curve", name), name, charts.load_line, drawn)
