"""Sections: parts of a report that only some campaigns have, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report.sections import (
    compliance,
    connections,
    database,
    driver,
    energy,
    head_of_line,
    hosts,
    ladder,
    line_curves,
    lines,
    protocols,
    published,
    thresholds,
)

if TYPE_CHECKING:
    from plimsoll.findings.findings import Findings
    from plimsoll.report.contents.section import Section


def of(findings: Findings) -> tuple[Section, ...]:
    """The sections that a campaign has beside its rankings, servers and trials.

    Args:
        findings: What to report.
    """
    modules = (
        *(lines, ladder, line_curves, thresholds),
        *(protocols, head_of_line, connections, database, energy, driver),
        *(hosts, published, compliance),
    )
    found = (module.section(findings) for module in modules)
    return tuple(section for section in found if section is not None)
