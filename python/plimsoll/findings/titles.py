"""Titles: what a verdict is called where people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import verdicts as judging

if TYPE_CHECKING:
    from plimsoll.verdicts.verdict import Verdict


def title(verdict: Verdict) -> str:
    """The name of the check, or of the problem that it found; what it could not read is no problem.

    `Reference drift`, `Reference drifted`, and `Reference drift: unknown` where it is doubtful
    because nothing was measured.

    Args:
        verdict: The verdict.
    """
    if verdict.level == "doubtful" and verdict.measured is None:
        return f"{judging.catalogue.title(verdict.check)}: unknown"
    return judging.catalogue.title(verdict.check, verdict.level)
