"""The section with latency over rate: tries of load lines, and rates of open loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import charts
from plimsoll.report.contents import anchor, line_curve, looks
from plimsoll.report.contents.section import Picture, Section
from plimsoll.report.trial_numbers import TIMES

if TYPE_CHECKING:
    from plimsoll.findings.findings import Findings

ANCHOR = "latency-over-rate"
TITLE = "Latency over rate"


def section(findings: Findings) -> Section | None:
    """The section; None where there were no several rates.

    The curve of one server alone stands beside its line.

    Args:
        findings: What to report.
    """
    found = [one.found for one in findings.lines if one.found and one.found.searched.tries]
    tries = [one for one in found if one.searched.wanted.has_processes]
    pictures = [line_curve.picture(one) for one in tries]
    pictures += [
        Picture(
            anchor("rate-curve", one.endpoint, one.driver, one.time),
            f"{one.endpoint}, {TIMES[one.time][0]}",
            charts.latency_over_rate,
            charts.latency_over_rate.draw(one, looks.entries(findings)),
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
