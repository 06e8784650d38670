"""A card: the answer as one picture, for a link, a post or a slide.

That is the load lines of a search for them, what a request costs by a ladder, the numbers of one
load, or else the first ranking.

1200 × 630 pixels, the size that sites show beside a link (Open Graph).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.report import contents
from plimsoll.report.contents import answer
from plimsoll.report.contents.gist import JudgedTile
from plimsoll.report.formats import paper, typeset
from plimsoll.report.formats.paper import PaperAnswer
from plimsoll.report.sections import ladder, lines
from plimsoll.storage.parquet import keep

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.findings.findings import Findings
    from plimsoll.report.contents import Row
    from plimsoll.report.contents.gist import Tile

NAME = "card"
FILE = "card.png"

WIDTH_PX, HEIGHT_PX = 1200, 630
MOST_BARS = 16
"""Frameworks that there is room for, in two columns."""

_TILES = {
    "p50": ("p50", "response time"),
    "p99": ("p99", "response time"),
    "failed": ("Failed", "of all requests"),
    "server CPU": ("Server CPU", "busy"),
    "memory": ("Server memory", "peak RSS"),
}
"""The columns of a ranking: title of a tile, and what belongs to its number."""


@dataclass(frozen=True)
class Card:
    """What the picture shows.

    Attributes:
        campaign: Name of the campaign.
        subtitle: What it was, in one line.
        answer: The answer of a section, or the first ranking; None where there is none.
        tiles: Its numbers, where it has tiles in place of bars.
        machines: Each host in one line.
        conditions: How servers and load generator shared the machine; may be empty.
        headings: Headings of the bars and of the columns of each.
        comparison: What stands before doubts about the comparison of trials.
    """

    campaign: str
    subtitle: str
    answer: PaperAnswer | None
    tiles: tuple[JudgedTile, ...]
    machines: tuple[str, ...]
    conditions: str
    headings: tuple[str, ...]
    comparison: str


def write(findings: Findings, into: Path) -> Path:
    """Writes the card and returns its path.

    Args:
        findings: What to report.
        into: Folder of the report.

    Raises:
        StorageError: It could not be written.
    """
    return keep(into / FILE, render(findings))


def render(findings: Findings) -> bytes:
    """The card as PNG."""
    return typeset.png("card.typ", card(findings))


def card(findings: Findings) -> Card:
    """What the picture shows.

    Args:
        findings: What to report.
    """
    of_section = lines.answer(findings) or ladder.answer(findings)
    shown = _ranked(findings) if of_section is None else paper.of_section(of_section)
    return Card(
        campaign=findings.campaign,
        subtitle=contents.subtitle(findings),
        answer=shown,
        tiles=_tiles(shown) if of_section is None else of_section.tiles,
        machines=tuple(line for line, _ in contents.machines(findings).values()),
        conditions=contents.conditions(findings),
        headings=(answer.NUMBER, *answer.HEADINGS),
        comparison=answer.COMPARISON,
    )


def _tiles(shown: PaperAnswer | None) -> tuple[JudgedTile, ...]:
    return () if shown is None else tuple(JudgedTile(*tile) for tile in shown.tiles)


def _ranked(findings: Findings) -> PaperAnswer | None:
    answers = answer.answers(findings, contents.rankings(findings))
    if not answers:
        return None
    shown = paper.answered(answers[0], MOST_BARS)
    return replace(shown, tiles=_of_row(shown.bars[0].row)) if _is_one_bar(shown) else shown


def _is_one_bar(shown: PaperAnswer) -> bool:
    return shown.is_alone and not shown.tiles


def _of_row(row: Row) -> tuple[Tile, ...]:
    """The numbers of one framework, which has nothing to compare a bar with."""
    interval = f"95 %: {row.interval}" if row.interval else ""
    known = [(*_TILES[name], value) for name, value in row.others if value != wording.ABSENT]
    others = ((title, value, note) for title, note, value in known)
    return ((answer.NUMBER, row.number, interval), *others)
