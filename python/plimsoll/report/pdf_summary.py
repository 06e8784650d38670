"""The first page of the PDF: who is fastest, by how much, whether to believe it, on which machine.

All of it fits one page: where there are many rankings, the later ones have no bars, and the last
ones are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from plimsoll import canvas
from plimsoll.report import answer, contents, words
from plimsoll.report import typesetting as ts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.report.answer import Bar, Mark, RankingAnswer
    from plimsoll.report.contents import RankingContents
    from plimsoll.report.typesetting import Block

MOST_BARS = 12
"""Frameworks of one ranking that there is room for."""

MOST_DOUBTS = 3
"""Doubts of one ranking that are named in its sentence."""

_NAME_PT, _BAR_PT = 86.0, 122.0
_COLUMNS_PT = (54.0, 62.0, 42.0, 42.0, 46.0)
"""Widths of number, share of the best, p50, p99 and CPU time per request."""
_RANK_PT = 22.0
_SIZE_PT = 7.0
_ROW_PT = 14.0


def page(findings: Findings, rankings: Sequence[RankingContents]) -> Block:
    """The page.

    Args:
        findings: What to report.
        rankings: Its rankings, as `contents.rankings` gives them.
    """
    head = [*_head(findings)]
    answers = answer.answers(findings, rankings)
    foot = ts.paragraph(
        "The pages that follow have configuration, verdicts and every column, then one page for "
        "each trial.",
        8,
        colour=canvas.MUTED,
    )
    room_pt = ts.TEXT_HEIGHT_PT - sum(block.height_pt for block in (*head, ts.space(10), foot))
    return ts.stacked([*head, *_fitting(answers, room_pt), ts.space(10), foot])


def _head(findings: Findings) -> Iterator[Block]:
    mark = Markup(
        '<g transform="scale(0.55)" fill="none" stroke="{}"><circle cx="16" cy="16" r="9.5"'
        ' stroke-width="2.6"/><path d="M1.5 16h29" stroke-width="3.2"/></g>'
    ).format(canvas.INK.light)
    name = ts.written(f"Plimsoll {findings.version}", 24, 12, 9, colour=canvas.MUTED)
    yield ts.Block(26, mark + name)
    yield ts.paragraph(findings.campaign, 20, bold=True, most_lines=2)
    yield ts.paragraph(contents.subtitle(findings), 9, colour=canvas.MUTED)
    for summary, _ in contents.machines(findings).values():
        yield ts.paragraph(f"on {summary}", 9, colour=canvas.MUTED, most_lines=2)
    if sentence := contents.extent(findings):
        yield ts.space(4)
        yield ts.paragraph(sentence, 8.5, most_lines=3)


def _fitting(answers: Sequence[RankingAnswer], room_pt: float) -> list[Block]:
    """As many answers with bars as fit with the others without; what does not fit is counted."""
    with_bars = [ts.stacked([*_answer(one), *_bars(one)]) for one in answers]
    without = [ts.stacked([*_answer(one)]) for one in answers]
    for count in range(len(answers), -1, -1):
        blocks = [*with_bars[:count], *without[count:]]
        if sum(block.height_pt for block in blocks) <= room_pt:
            return blocks
    return _cut(without, room_pt)


def _cut(blocks: Sequence[Block], room_pt: float) -> list[Block]:
    """The first ones that fit, and how many there are besides."""
    shown: list[Block] = []
    more_pt = 20.0
    for block in blocks:
        if sum(one.height_pt for one in shown) + block.height_pt + more_pt > room_pt:
            break
        shown.append(block)
    rest = words.plural(len(blocks) - len(shown), "more ranking")
    return [*shown, ts.space(6), ts.paragraph(f"and {rest} on the pages that follow", 9)]


def _answer(found: RankingAnswer) -> Iterator[Block]:
    """Who is fastest and by how much, and whether to believe it."""
    yield ts.space(12)
    yield ts.paragraph(found.place, 8.5, colour=canvas.MUTED)
    yield ts.paragraph(found.headline, 13, bold=True, most_lines=2)
    if found.further:
        yield ts.paragraph(found.further, 9, most_lines=2)
    yield _counts(found)
    yield ts.paragraph(_doubts(found.marks), 8.5, most_lines=4)


def _counts(found: RankingAnswer) -> Block:
    """How many trials are in each state."""
    parts: list[Markup] = []
    left_pt = 0.0
    for state, count in found.counts:
        number = str(count)
        width_pt = ts.text_width(number, 9, bold=True)
        parts += [
            ts.written(number, left_pt, 12, 9, bold=True),
            ts.state_mark(state, left_pt + width_pt + 4, 12, 9),
        ]
        left_pt += width_pt + 30 + ts.text_width(state.replace("_", " "), 9, bold=True)
    parts.append(ts.written(f"of {found.total}", left_pt, 12, 9, colour=canvas.MUTED))
    return ts.Block(17, Markup("").join(parts))


def _doubts(marks: Sequence[Mark]) -> str:
    """The doubts in one sentence, the worst first."""
    if not marks:
        return "No check found anything to doubt."
    told = [_doubt(mark) for mark in marks[:MOST_DOUBTS]]
    rest = len(marks) - len(told)
    more = [words.plural(rest, "further doubt")] if rest else []
    return f"Doubts: {'; '.join([*told, *more])}."


def _doubt(mark: Mark) -> str:
    """A doubt in a few words: its check, how many trials it concerns, and what it found first."""
    state = words.level_name(mark.state)
    concerned = f", {words.plural(mark.count, 'trial')}" if mark.count else ""
    sentence = mark.remarks[0].sentences[0].clause if mark.remarks else ""
    return f"{mark.name} ({state}{concerned})" + (f": {sentence}" if sentence else "")


def _bars(found: RankingAnswer) -> Iterator[Block]:
    """A bar for each framework with its numbers, the best first."""
    yield ts.space(4)
    yield _headings()
    yield from map(_bar, found.bars[:MOST_BARS])
    if (rest := len(found.bars) - MOST_BARS) > 0:
        yield ts.paragraph(f"and {rest} more", 7.5, colour=canvas.MUTED)


def _headings() -> Block:
    names = ("responses/s", *answer.HEADINGS)
    parts = [ts.written("goodput, 95 %", _RANK_PT + _NAME_PT, 8, 6.5, colour=canvas.MUTED)]
    parts += [
        ts.written(name, right_pt, 8, 6.5, colour=canvas.MUTED, anchor="end")
        for name, right_pt in zip(names, _rights(), strict=True)
    ]
    return ts.Block(11, Markup("").join(parts))


def _rights() -> Iterator[float]:
    """Right ends of the columns of numbers."""
    right_pt = _RANK_PT + _NAME_PT + _BAR_PT
    for width_pt in _COLUMNS_PT:
        right_pt += width_pt
        yield right_pt


def _bar(bar: Bar) -> Block:
    is_apart = bar.is_void or bar.is_yardstick
    ink = canvas.MUTED if is_apart else canvas.INK
    name = f"{bar.row.framework} (yardstick)" if bar.is_yardstick else bar.row.framework
    shown = ts.lines_of(name, _NAME_PT - 6, _SIZE_PT + 0.5, bold=not is_apart)[0]
    numbers = zip((bar.row.number, *bar.columns), _rights(), strict=True)
    parts = [
        ts.written(bar.row.rank, 0, 9.5, _SIZE_PT, colour=canvas.MUTED),
        ts.written(shown, _RANK_PT, 9.5, _SIZE_PT + 0.5, colour=ink, bold=not is_apart),
        ts.moved(_track(bar), _RANK_PT + _NAME_PT, 2),
        *(
            ts.written(text, right_pt, 9.5, _SIZE_PT, colour=ink, anchor="end")
            for text, right_pt in numbers
        ),
        ts.state_mark(bar.row.state, ts.TEXT_WIDTH_PT - 42, 9.5, _SIZE_PT),
    ]
    return ts.Block(_ROW_PT, Markup("").join(parts))


def _track(bar: Bar) -> Markup:
    """A bar, and its interval as a line with ends."""
    colour = canvas.MACHINE if bar.is_void or bar.is_yardstick else canvas.SERVER
    drawn = ts.filled(max(1.0, bar.length * _BAR_PT), 9, colour)
    if bar.low is None or bar.high is None:
        return drawn
    low_pt, high_pt = bar.low * _BAR_PT, bar.high * _BAR_PT
    end = "" if bar.is_open else f"M{high_pt:.1f} 2V7"
    path = f"M{low_pt:.1f} 2V7M{low_pt:.1f} 4.5H{high_pt:.1f}{end}"
    line = Markup('<path d="{}" stroke="{}" stroke-width="0.9" fill="none"/>')
    return drawn + line.format(path, canvas.INK.light)
