"""Sheets: tables with their remarks, for a terminal, Markdown and notebooks."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sheet:
    """One table.

    Attributes:
        title: What it is about; may be empty.
        headings: Headings of its columns.
        rows: Its rows; one that is shorter than the headings has nothing in the last columns.
        remarks: What a reader must know, in sentences.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    remarks: tuple[str, ...] = ()


def markdown(sheet: Sheet) -> list[str]:
    """The table in Markdown, a line each; its columns but the first are numbers."""
    width = len(sheet.headings)
    rows = (sheet.headings, ("---", *["---:"] * (width - 1)), *sheet.rows)
    return [f"| {' | '.join((*row, *[''] * (width - len(row))))} |" for row in rows]
