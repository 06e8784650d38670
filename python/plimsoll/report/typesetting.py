"""Typesetting: text and pictures placed on pages of SVG, in points.

Enough for reports and no more: paragraphs that wrap, columns, pictures, and blocks that fill one
page after the other. Lines are broken by the widths of the letters of the one font that is used,
so neither a browser nor the system is needed.

Source:
    Adobe Font Metrics of Helvetica, whose widths Liberation Sans shares.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count

from markupsafe import Markup, escape

from plimsoll import canvas, texts
from plimsoll.report.pictures import FONT

PAGE_WIDTH_PT, PAGE_HEIGHT_PT = 595.0, 842.0
MARGIN_PT = 36.0
TEXT_WIDTH_PT = PAGE_WIDTH_PT - 2 * MARGIN_PT
TEXT_HEIGHT_PT = PAGE_HEIGHT_PT - 2 * MARGIN_PT
LEADING = 1.38
"""Height of a line, in sizes of its letters."""

_WIDTHS: dict[str, int] = {
    **dict.fromkeys("ijl'", 222),
    **dict.fromkeys("fIt!.,:;/[]\\\\ ", 278),
    **dict.fromkeys("r()-`·|", 333),
    **dict.fromkeys('cksvxyzJ"*', 500),
    **dict.fromkeys("+<>=~−–→", 584),
    **dict.fromkeys("FTZ", 611),
    **dict.fromkeys("ABEKPSVXY&", 667),
    **dict.fromkeys("CDHNRUw", 722),
    **dict.fromkeys("GOQ", 778),
    **dict.fromkeys("mM", 833),
    **dict.fromkeys("%W—", 944),
    "@": 1015,
}
_OTHER_WIDTH = 556
_WIDE_FROM = 0x2E80
_numbers = count()


@dataclass(frozen=True)
class Block:
    """A piece of a page.

    Attributes:
        height_pt: Its height.
        content: SVG, with its upper left corner at the origin.
    """

    height_pt: float
    content: Markup


def text_width(text: str, size_pt: float, *, bold: bool = False) -> float:
    """Width of a text in points, a little more than less."""
    units = sum(_WIDTHS.get(s, 1000 if ord(s) >= _WIDE_FROM else _OTHER_WIDTH) for s in text)
    return units / 1000 * size_pt * (1.07 if bold else 1.0)


def lines_of(text: str, width_pt: float, size_pt: float, *, bold: bool = False) -> list[str]:
    """A text broken into lines of at most some width; words too long for a line are cut."""
    lines = [""]
    for word in texts.line(text).replace("`", "").split():
        for part in _cut(word, width_pt, size_pt, bold=bold):
            longer = f"{lines[-1]} {part}".lstrip()
            if lines[-1] and text_width(longer, size_pt, bold=bold) > width_pt:
                lines.append(part)
            else:
                lines[-1] = longer
    return lines


def _cut(word: str, width_pt: float, size_pt: float, *, bold: bool) -> list[str]:
    parts = [""]
    for sign in word:
        if parts[-1] and text_width(parts[-1] + sign, size_pt, bold=bold) > width_pt:
            parts.append("")
        parts[-1] += sign
    return parts


def paragraph(
    text: str,
    size_pt: float = 8.5,
    *,
    width_pt: float = TEXT_WIDTH_PT,
    colour: canvas.Colour = canvas.INK,
    bold: bool = False,
    most_lines: int = 99,
) -> Block:
    """A text as a block.

    Args:
        text: The text; it is escaped.
        size_pt: Size of its letters.
        width_pt: Width it may take.
        colour: Its colour.
        bold: Whether it is bold.
        most_lines: Lines after which it ends with an ellipsis.
    """
    lines = lines_of(text, width_pt, size_pt, bold=bold)
    if len(lines) > most_lines:
        lines = [*lines[: most_lines - 1], lines[most_lines - 1][:-1] + "…"]
    step = size_pt * LEADING
    drawn = [
        written(line, 0, number * step + size_pt, size_pt, colour=colour, bold=bold)
        for number, line in enumerate(lines)
    ]
    return Block(len(lines) * step, Markup("").join(drawn))


def written(
    text: str,
    x_pt: float,
    y_pt: float,
    size_pt: float,
    *,
    colour: canvas.Colour = canvas.INK,
    bold: bool = False,
    anchor: str = "start",
) -> Markup:
    """One line of text at a place; `y_pt` is its base line."""
    weight = "bold" if bold else "normal"
    return Markup(
        '<text x="{:.1f}" y="{:.1f}" font-size="{}" font-weight="{}" fill="{}"'
        ' text-anchor="{}">{}</text>'
    ).format(x_pt, y_pt, size_pt, weight, colour.light, anchor, texts.line(text))


def space(height_pt: float) -> Block:
    """Nothing, of some height."""
    return Block(height_pt, Markup(""))


def stacked(blocks: Iterable[Block]) -> Block:
    """Blocks one beneath the other."""
    parts: list[Markup] = []
    top_pt = 0.0
    for block in blocks:
        parts.append(moved(block.content, 0, top_pt))
        top_pt += block.height_pt
    return Block(top_pt, Markup("").join(parts))


def beside(blocks: Sequence[Block], step_pt: float) -> Block:
    """Blocks side by side, each `step_pt` right of the one before."""
    parts = [moved(block.content, number * step_pt, 0) for number, block in enumerate(blocks)]
    return Block(max((block.height_pt for block in blocks), default=0), Markup("").join(parts))


def overlaid(blocks: Sequence[Block]) -> Block:
    """Blocks in one place, as high as the highest of them."""
    height_pt = max((block.height_pt for block in blocks), default=0)
    return Block(height_pt, Markup("").join(block.content for block in blocks))


def indented(block: Block, by_pt: float) -> Block:
    """A block moved to the right."""
    return Block(block.height_pt, moved(block.content, by_pt, 0))


def moved(content: Markup, x_pt: float, y_pt: float) -> Markup:
    """Content at another place."""
    return Markup('<g transform="translate({:.2f} {:.2f})">{}</g>').format(x_pt, y_pt, content)


def filled(width_pt: float, height_pt: float, colour: canvas.Colour) -> Markup:
    """A rectangle at the origin."""
    return Markup('<rect width="{:.1f}" height="{:.1f}" rx="3" fill="{}"/>').format(
        width_pt, height_pt, colour.light
    )


def rule(width_pt: float = TEXT_WIDTH_PT) -> Block:
    """A thin line with room above and beneath it."""
    line = Markup('<path d="M0 3H{:.1f}" stroke="{}" stroke-width="0.6"/>')
    return Block(6, line.format(width_pt, canvas.LINE.light))


def picture(svg: str, scale: float, width_pt: float) -> Block:
    """A picture of its own.

    Args:
        svg: An SVG document with `viewBox`.
        scale: Points for each of its units.
        width_pt: The most it may be wide; it is made smaller when it would be wider.

    Identifiers are made unique, because all pictures of a page share one name space.
    """
    match = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
    if match is None:
        return space(0)
    width, height = float(match[1]), float(match[2])
    prefix = f"p{next(_numbers)}-"
    unique = re.sub(r'(\bid="|url\(#)', rf"\1{prefix}", svg)
    body = unique[unique.index(">", unique.index("<svg")) + 1 : unique.rindex("</svg>")]
    scale = min(scale, width_pt / width)
    content = Markup('<g transform="scale({:.5f})">{}</g>').format(scale, Markup(body))  # noqa: S704
    return Block(height * scale, content)


MARKS = {
    "not_checked": "M4 0.6A3.4 3.4 0 1 1 3.99 0.6ZM4 2.2A1.8 1.8 0 1 0 4.01 2.2Z",
    "sound": "M4 0.6A3.4 3.4 0 1 1 3.99 0.6Z",
    "doubtful": "M4 0.6L7.8 7.4H0.2Z",
    "void": "M1 2.2 2.2 1 4 2.8 5.8 1 7 2.2 5.2 4 7 5.8 5.8 7 4 5.2 2.2 7 1 5.8 2.8 4Z",
    "failed": "M0.8 0.8H7.2V7.2H0.8Z",
}
"""A shape for each state, eight points wide."""

STATE_COLOURS = {**canvas.LEVEL_COLOURS, "failed": canvas.VOID}
"""The colour of each state."""


def state_mark(state: str, x_pt: float, y_pt: float, size_pt: float = 8.5) -> Markup:
    """A state as shape, word and colour; `y_pt` is the base line of the word."""
    colour = STATE_COLOURS[state]
    scale = size_pt * 0.85 / 8
    shape = Markup('<path d="{}" fill="{}" transform="translate({:.1f} {:.1f}) scale({:.3f})"/>')
    return shape.format(MARKS[state], colour.light, x_pt, y_pt - size_pt * 0.8, scale) + written(
        state.replace("_", " "), x_pt + size_pt * 1.15, y_pt, size_pt, colour=colour, bold=True
    )


def pages(blocks: Iterable[Block], height_pt: float = TEXT_HEIGHT_PT) -> list[Block]:
    """Blocks divided among pages, in order; a block higher than a page has one to itself."""
    filling: list[list[Block]] = [[]]
    for block in blocks:
        used_pt = sum(earlier.height_pt for earlier in filling[-1])
        if filling[-1] and used_pt + block.height_pt > height_pt:
            filling.append([])
        filling[-1].append(block)
    return [stacked(part) for part in filling]


def page(block: Block, footer: str) -> str:
    """A page as an SVG document; a block higher than the page is made smaller and centred.

    Args:
        block: What is on it.
        footer: A line at its foot.
    """
    shrink = min(1.0, TEXT_HEIGHT_PT / block.height_pt) if block.height_pt else 1.0
    left_pt = MARGIN_PT + TEXT_WIDTH_PT * (1 - shrink) / 2
    body = Markup('<g transform="translate({:.2f} {}) scale({:.4f})">{}</g>').format(
        left_pt, MARGIN_PT, shrink, block.content
    )
    foot = written(footer, MARGIN_PT, PAGE_HEIGHT_PT - 18, 7, colour=canvas.MUTED)
    return document(PAGE_WIDTH_PT, PAGE_HEIGHT_PT, body + foot)


def document(width_pt: float, height_pt: float, content: Markup) -> str:
    """An SVG document with something on white paper."""
    return str(
        Markup(
            '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
            ' width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="{2}">'
            '<rect width="100%" height="100%" fill="#ffffff"/>{3}</svg>'
        ).format(width_pt, height_pt, escape(FONT), content)
    )
