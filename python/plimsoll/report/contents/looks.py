"""Looks: which colour and dash each framework has in every chart of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import canvas
from plimsoll.report.contents import answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.findings.findings import Findings


def entries(findings: Findings) -> tuple[str, ...]:
    """Every framework, for `canvas.entry_places`.

    Those whose latencies a page lays over each other at first have colours of their own.

    Args:
        findings: What to report.
    """
    return canvas.entries_apart(findings.frameworks, _laid_over(findings))


def _laid_over(findings: Findings) -> Iterator[Sequence[str]]:
    """The frameworks of each ranking that are laid over each other until the reader chooses."""
    known = {one.recording.trial for one in findings.trials if one.quantiles}
    for ranking in findings.rankings:
        drawn = [
            entry.framework
            for entry in ranking.entries
            if any(repetition.trial in known for repetition in entry.repetitions)
        ]
        yield drawn[: answer.LAID_OVER]
