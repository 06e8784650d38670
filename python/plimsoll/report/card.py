"""A card: the answer of the first ranking as one picture, for a link, a post or a slide.

1200 × 630 pixels, the size that sites show beside a link (Open Graph).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import vl_convert
from markupsafe import Markup

from plimsoll import canvas
from plimsoll.report import answer, contents
from plimsoll.report import typesetting as ts
from plimsoll.storage.parquet import keep

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plimsoll.findings.findings import Findings
    from plimsoll.report.answer import Bar, RankingAnswer

NAME = "card"
FILE = "card.png"

WIDTH_PX, HEIGHT_PX = 1200, 630
MOST_BARS = 6
"""Frameworks that there is room for."""

_LEFT_PX, _RIGHT_PX = 56.0, 1144.0
_BARS_PX, _BAR_PX, _ROW_PX = 300.0, 480.0, 44.0
_NUMBER_PX = 940.0
_STATE_PX = 190.0


def write(findings: Findings, into: Path) -> Path:
    """Writes the card and returns its path.

    Args:
        findings: What to report.
        into: Folder of the report.

    Raises:
        StorageError: It could not be written.
    """
    return keep(into / FILE, vl_convert.svg_to_png(render(findings)))


def render(findings: Findings) -> str:
    """The card as SVG, its units pixels."""
    answers = answer.answers(findings, contents.rankings(findings))
    blocks = [_text(f"{findings.campaign} · {contents.subtitle(findings)}", 22, canvas.MUTED)]
    if answers:
        blocks += _answer(answers[0])
    foot = _foot(findings, answers[0] if answers else None)
    top = ts.moved(ts.stacked(blocks).content, _LEFT_PX, 44)
    return ts.document(WIDTH_PX, HEIGHT_PX, top + foot)


def _text(text: str, size_px: float, colour: canvas.Colour, *, most_lines: int = 1) -> ts.Block:
    return ts.paragraph(
        text,
        size_px,
        width_pt=_RIGHT_PX - _LEFT_PX,
        colour=colour,
        bold=colour is canvas.INK,
        most_lines=most_lines,
    )


def _answer(found: RankingAnswer) -> Iterator[ts.Block]:
    yield ts.space(14)
    yield _text(found.place, 24, canvas.MUTED)
    yield _text(found.headline, 38, canvas.INK, most_lines=2)
    yield ts.space(22)
    yield from map(_bar, found.bars[:MOST_BARS])
    if len(found.bars) > MOST_BARS:
        yield _text(f"and {len(found.bars) - MOST_BARS} more", 18, canvas.MUTED)


def _bar(bar: Bar) -> ts.Block:
    """One framework: name, bar, number, and share of the best."""
    ink = canvas.MUTED if bar.is_void or bar.is_yardstick else canvas.INK
    colour = canvas.MACHINE if bar.is_void or bar.is_yardstick else canvas.SERVER
    name = ts.lines_of(bar.row.framework, _BARS_PX - _LEFT_PX - 80, 22)[0]
    line_px = 28.0
    parts = [
        ts.written(name, 0, line_px, 22, colour=ink),
        ts.moved(
            ts.filled(max(2.0, bar.length * _BAR_PX), 26, colour), _BARS_PX - _LEFT_PX, line_px - 20
        ),
        ts.written(
            bar.row.number, _NUMBER_PX - _LEFT_PX, line_px, 22, colour=ink, bold=True, anchor="end"
        ),
        ts.written(
            bar.row.state if bar.is_void else bar.row.of_best,
            _RIGHT_PX - _LEFT_PX,
            line_px,
            22,
            colour=ink,
            anchor="end",
        ),
    ]
    return ts.Block(_ROW_PX, Markup("").join(parts))


def _foot(findings: Findings, found: RankingAnswer | None) -> Markup:
    """How many of its trials are in each state, and on which machine."""
    parts: list[Markup] = []
    for place, (state, count) in enumerate(found.counts if found else ()):
        left_px = _LEFT_PX + place * _STATE_PX
        parts += [
            ts.written(f"{count}", left_px + 26, 566, 22, bold=True, anchor="end"),
            ts.state_mark(state, left_px + 36, 566, 22),
        ]
    machines = " · ".join(line for line, _ in contents.machines(findings).values())
    line = ts.lines_of(machines, _RIGHT_PX - _LEFT_PX - 140, 16)[0]
    parts += [
        ts.written(line, _LEFT_PX, 602, 16, colour=canvas.MUTED),
        ts.written("Plimsoll", _RIGHT_PX, 602, 18, colour=canvas.MUTED, bold=True, anchor="end"),
    ]
    return Markup("").join(parts)
