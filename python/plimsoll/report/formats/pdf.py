"""PDF: the same report on paper, tagged so that screen readers can read it (PDF/UA-1).

It has the answer on one page, then all that was found, then a page for each trial. Charts are
vectors with descriptions; neither a browser nor a font of the system is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.report.formats import paper, typeset
from plimsoll.storage.parquet import keep

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.findings.findings import Findings

NAME = "pdf"
FILE = "report.pdf"


def write(findings: Findings, into: Path) -> Path:
    """Writes the report as PDF.

    Args:
        findings: What to report.
        into: Folder of the report; made when it is not there.

    Returns:
        Path of the file.

    Raises:
        StorageError: It could not be written.
    """
    return keep(into / FILE, render(findings))


def render(findings: Findings) -> bytes:
    """The report as a PDF document."""
    drawings = paper.Drawings()
    shown = paper.paper(findings, drawings)
    return typeset.pdf("report.typ", shown, drawings.pictures)
