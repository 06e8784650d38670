"""Findings: derived tables and verdicts of a campaign, gathered for reports."""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.findings import campaign_thresholds as campaign_thresholds
    from plimsoll.findings import derivation as derivation
    from plimsoll.findings import gathering as gathering
    from plimsoll.findings import publication as publication

__getattr__ = doors.of_modules(
    __name__, ["campaign_thresholds", "derivation", "gathering", "publication"]
)
