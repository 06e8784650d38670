"""Sections: parts of a report that only some campaigns have, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report import (
    compliance_section,
    connections_section,
    database_section,
    driver_section,
    energy_section,
    hosts_section,
    ladder_section,
    line_curves_section,
    lines_section,
    protocols_section,
    published_section,
    thresholds_section,
)

if TYPE_CHECKING:
    from plimsoll.findings.findings import Findings
    from plimsoll.report.section import Section


def of(findings: Findings) -> tuple[Section, ...]:
    """The sections that a campaign has beside its rankings, servers and trials.

    Args:
        findings: What to report.
    """
    modules = (
        *(lines_section, ladder_section, line_curves_section, thresholds_section),
        *(protocols_section, connections_section, database_section, energy_section, driver_section),
        *(hosts_section, published_section, compliance_section),
    )
    found = (module.section(findings) for module in modules)
    return tuple(section for section in found if section is not None)
