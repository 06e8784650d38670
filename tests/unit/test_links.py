"""Links of the documentation to files and headings of this repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (*ROOT.glob("*.md"), ROOT / "frameworks" / "README.md", *(ROOT / "docs").rglob("*.md"))

_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@cache
def anchors(page: Path) -> set[str]:
    """What links may name in a page: its headings, as GitHub writes them, and its own marks."""
    text = prose(page)
    headings = re.findall(r"^#+ +(.+?) *$", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text), re.M)
    slugs = {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}
    return slugs | {*re.findall(r'<a id="([^"]+)">', text)}


def dead(page: Path) -> Iterator[str]:
    for file, anchor in _LINK.findall(prose(page)):
        target = (page.parent / file).resolve() if file else page
        has_headings = anchor and target.suffix == ".md"
        if not target.exists() or (has_headings and anchor not in anchors(target)):
            yield f"{file}#{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings_that_are_there(page: Path) -> None:
    assert [*dead(page)] == []
