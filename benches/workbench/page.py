"""Findings as Markdown that can be pasted into a page, or put there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int] = (0,)) -> str:
    """A Markdown table.

    Args:
        head: Titles of the columns.
        rows: Cells of each row, as many as titles.
        words: Columns of words, counted from 0; the others are numbers and aligned to the right.
    """
    widths = [max(3, *map(len, column)) for column in zip(head, *rows, strict=True)]
    rule = [
        "-" * width if index in words else "-" * (width - 1) + ":"
        for index, width in enumerate(widths)
    ]
    return "\n".join(_line(cells, widths, words) for cells in (head, rule, *rows))


def _line(cells: Sequence[str], widths: Sequence[int], words: Sequence[int]) -> str:
    padded = (
        cell.ljust(width) if index in words else cell.rjust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return f"| {' | '.join(padded)} |"


def put(page: Path, section: str, text: str) -> None:
    """Puts a text between the marks of a section of a page.

    Args:
        page: A Markdown file with `<!-- section -->` and `<!-- /section -->`.
        section: Name of the section.
        text: What is to stand there from now on.

    Raises:
        SystemExit: The page has no such marks.
    """
    begin, end = f"<!-- {section} -->", f"<!-- /{section} -->"
    before, has_begin, rest = page.read_text(encoding="utf-8").partition(begin)
    _, has_end, after = rest.partition(end)
    if not (has_begin and has_end):
        message = f"error: `{page}` has no place for `{section}`"
        raise SystemExit(f"{message}\nhint: write `{begin}` and `{end}` into it")
    page.write_text(f"{before}{begin}\n{text.strip()}\n{end}{after}", encoding="utf-8")
