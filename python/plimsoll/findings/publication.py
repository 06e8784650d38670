"""What was published of the same experiment as a campaign, beside what the campaign measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.comparison import published_comparison
from plimsoll.findings.findings import Publication
from plimsoll.published import document
from plimsoll.verdicts.audit import audit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.comparison.comparisons import ComparedTrial

FILE = "published.toml"
"""Name of the published figures that a campaign names, among its results."""


def of_text(text: str, repetitions: Sequence[ComparedTrial]) -> Publication:
    """A publication beside the trials of a campaign.

    Args:
        text: Its document, in TOML.
        repetitions: The trials.
    """
    found = document.read(text, FILE)
    return Publication(
        document=found,
        fields=published_comparison.fields(found, repetitions),
        claims=published_comparison.claimed(found, repetitions),
        audit=audit(found.figures),
    )
