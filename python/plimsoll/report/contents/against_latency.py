"""Throughput against latency: the charts of a campaign, one for each endpoint and driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import charts
from plimsoll.findings import against_latency
from plimsoll.report.contents import anchor, looks
from plimsoll.report.contents.section import Picture

if TYPE_CHECKING:
    from plimsoll.findings.findings import Findings

ANCHOR = "against-latency"
TITLE = charts.against_latency.TITLE
CAPTION = charts.against_latency.CAPTION


def drawn(findings: Findings) -> tuple[Picture, ...]:
    """The charts, in the order of the rankings; drivers are named where there are several.

    Args:
        findings: What to report.
    """
    every = against_latency.of_findings(findings)
    several = len({one.driver for one in every}) > 1
    return tuple(
        Picture(
            anchor(ANCHOR, one.endpoint, one.driver),
            f"{one.endpoint}, by {one.driver}" if several else one.endpoint,
            charts.against_latency,
            charts.against_latency.draw(one, looks.entries(findings)),
        )
        for one in every
    )
