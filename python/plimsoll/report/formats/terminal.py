"""Terminal: the answer and the rankings, then how far to believe them, then everything else.

The order is that of the page. It is read without colour as well.

The same as text in `report.txt`.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from plimsoll import texts, wording
from plimsoll.report import contents, level_text, sections, wrapping
from plimsoll.report.contents import answer, naming, servers
from plimsoll.storage.parquet import keep
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import State
    from plimsoll.report.contents import Doubt, RankingContents, Remark, TrialContents
    from plimsoll.report.contents.answer import Mark
    from plimsoll.report.contents.section import Section, SectionTable, TableRow
    from plimsoll.report.contents.servers import ServerRow

NAME = "terminal"
FILE = "report.txt"
WIDTH = 120
"""Width of the text file."""

STYLES: dict[State, str] = {
    "not_checked": "dim",
    "sound": "green",
    "doubtful": "yellow",
    "void": "red",
    "failed": "red",
}
"""Colour of each state, besides its mark and its name."""

BESIDE = 2
"""Quantities of a ranking, besides successful responses, that the table of a wide terminal has."""

SHOWN = 3
"""Subjects of one doubt that are listed; the others are counted."""

WIDE = 110
"""Columns of a terminal from which the ranking has all its quantities and reasons."""


def write(findings: Findings, into: Path) -> Path:
    """Writes what `show` prints as a text file.

    Args:
        findings: What to report.
        into: Folder of the report; made when it is not there.

    Returns:
        Path of the file.

    Raises:
        StorageError: It could not be written.
    """
    text = StringIO()
    show(findings, Console(file=text, width=WIDTH, no_color=True, emoji=False))
    return keep(into / FILE, text.getvalue().encode())


def show(findings: Findings, console: Console | None = None) -> None:
    """Prints the rankings, how far to believe them, and further tables.

    Args:
        findings: What to report.
        console: Where to; the standard output when None.
    """
    console = console or Console(emoji=False)
    is_wide = console.width >= WIDE
    of_sections = sections.of(findings)
    parts = [
        *_sections((one for one in of_sections if one.is_answer), console.width),
        *_rankings(findings, console.width),
        *_verdicts(findings, console.width),
        *_sections((one for one in of_sections if not one.is_answer), console.width),
    ]
    if rows := servers.rows(findings):
        parts.append(_servers(rows, naming.subject(findings), is_wide=is_wide))
    for part in parts:
        console.print(part)


def _rankings(findings: Findings, width: int) -> Iterator[RenderableType]:
    """Each ranking: the answer, how far to believe it, its table, and what it tells apart."""
    for found in answer.answers(findings, contents.rankings(findings)):
        yield Text(texts.line(found.place), style="bold")
        said = filter(None, (found.headline, found.further))
        yield from (Text(wrapping.wrapped(one, width)) for one in said)
        counts = (_counted(count, state) for state, count in found.counts)
        yield Text.assemble(Text(", ").join(counts), f" of {found.total}")
        if found.of_comparison:
            marks = [_mark(mark) for mark in found.of_comparison]
            yield Text.assemble(f"{answer.COMPARISON}: ", Text("; ").join(marks))
        yield _ranking(found.ranking, is_wide=width >= WIDE)
        yield from _indented(found.ranking.resolution, width=width)
        yield Text()


def _mark(mark: Mark) -> Text:
    return Text(
        f"{level_text.MARKS[mark.state]} {texts.line(mark.brief)}", style=STYLES[mark.state]
    )


def _counted(count: int, state: State) -> Text:
    return Text.assemble(f"{count} ", _level(state))


def _verdicts(findings: Findings, width: int) -> Iterator[RenderableType]:
    """How far to believe the numbers: a list with a blank line behind each item."""
    yield Text(contents.TRUST.lower(), style="bold")
    yield _counts(findings)
    yield Text()
    for one in _items(findings, width):
        yield one
        yield Text()


def _items(findings: Findings, width: int) -> Iterator[RenderableType]:
    """The verdicts on the campaign, what failed, and the doubts about trials."""
    of_campaign = contents.of_campaign(findings)
    for one in of_campaign:
        if one.level != "sound":
            yield Group(*_shown(one, _named(one), width))
    if sound := [one.name for one in of_campaign if one.level == "sound"]:
        names = ", ".join(dict.fromkeys(sound))
        yield _hanging(_level("sound"), contents.CAMPAIGN.lower(), names, width)
    for trial in contents.trials(findings):
        if trial.error:
            yield _failed(trial, width)
    for doubt in contents.doubts(findings):
        yield _doubt(doubt, width)
    limits = contents.changed_limits(findings)
    if limits:
        said = f"Limits of checks overridden by this campaign: {', '.join(limits)}"
        yield Text(wrapping.wrapped(said, width, "  "))
    if extent := contents.extent(findings):
        yield Text(wrapping.wrapped(extent, width, "  "))


def _named(remark: Remark) -> str:
    """Name of a check on the campaign, and what it is about where that is not all of it."""
    return remark.name if remark.subject == CAMPAIGN else f"{remark.name}, {remark.subject}"


def _shown(remark: Remark, name: str, width: int) -> Iterator[RenderableType]:
    """A remark, each finding with what to do about it."""
    for place, (text, remedy) in enumerate(remark.advised):
        if place:
            yield from _indented(text, width=width)
        else:
            yield _hanging(_level(remark.level), name, text, width)
        yield from _indented(remedy and f"→ {remedy}", width=width)


def _hanging(level: Text, name: str, text: str, width: int) -> Text:
    """A level, the name of a check and what it says; further lines are indented."""
    head = f"{level.plain} {texts.line(name)}: "
    hanging = Text(wrapping.wrapped(f"{head}{text}", width, "  "))
    hanging.stylize(level.style, 0, len(level.plain))
    hanging.stylize("bold", len(level.plain), len(head))
    return hanging


def _ranking(ranking: RankingContents, *, is_wide: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    if not ranking.is_alone:
        table.add_column("rank", justify="right", no_wrap=True)
    table.add_column(ranking.subject, overflow="fold", min_width=10)
    headings = ranking.headings[: BESIDE if is_wide else 0]
    ratios = ("vs. the best", "vs. the next") if is_wide else ("vs. the best",)
    ratios = () if ranking.is_alone else ratios
    for heading in ("goodput", *ratios, *headings):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold", min_width=10)
    for row in ranking.rows:
        others = [value for _, value in row.others[: len(headings)]]
        name = Text(texts.line(row.framework), style="bold" if row.is_ranked else "dim")
        verdict = _level(row.state)
        if is_wide and row.reason:
            verdict = Text.assemble(verdict, f" {texts.line(row.reason)}")
        beside = (row.of_best, row.to_next_brief)[: len(ratios)]
        cells = (name, *map(_plain, (row.number, *beside, *others)), verdict)
        table.add_row(*(cells if ranking.is_alone else (row.rank, *cells)))
    return table


def _sections(of: Iterable[Section], width: int) -> Iterator[RenderableType]:
    for section in of:
        yield from _section(section, width)


def _section(section: Section, width: int) -> Iterator[RenderableType]:
    """A section, unless it has nothing but charts; without reasons where there is little room."""
    if not section.tables and not section.remarks:
        return
    yield Text(section.title.lower(), style="bold")
    yield from (Text(texts.line(one), style="bold") for one in section.headlines)
    yield from _indented(section.caption, width=width)
    for table in (one for one in section.tables if not one.is_detail):
        yield _section_table(table, is_wide=width >= WIDE)
        yield from _indented(*table.notes, width=width)
    if section.remarks:
        yield Text(f"\n{section.remarks_title}", style="bold")
    for one in section.remarks:
        yield from _shown(one, f"{one.name}, {one.subject}", width)
    yield Text()


def _section_table(requested: SectionTable, *, is_wide: bool) -> Table:
    title = Text(texts.line(requested.title), style="bold")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    shown = [
        place
        for place in range(len(requested.headings))
        if is_wide or place in (0, *requested.brief) or not requested.brief
    ]
    for place in shown:
        right = place in requested.numbers
        table.add_column(
            _plain(requested.headings[place]),
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
        )
    if requested.verdict:
        table.add_column(_plain(requested.verdict), overflow="fold", min_width=10)
    for line in requested.lines:
        cells = [_plain(line.cells[place]) for place in shown]
        table.add_row(*cells, *([_judged(line, is_wide=is_wide)] if requested.verdict else []))
    return table


def _plain(text: str) -> Text:
    """A text of a table on one line; Rich takes square brackets in a plain string as markup."""
    return Text(texts.line(text))


def _judged(line: TableRow, *, is_wide: bool) -> Text:
    if line.state is None:
        return Text(wording.ABSENT)
    reason = f" {texts.line(line.reason)}" if is_wide and line.reason else ""
    return Text.assemble(_level(line.state), reason)


def _servers(rows: Sequence[ServerRow], subject: str, *, is_wide: bool) -> Table:
    title = Text("servers", style="bold")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(subject, overflow="fold", min_width=10)
    wanted = servers.WIDE if is_wide else servers.BRIEF
    shown = [servers.HEADINGS.index(name) for name in wanted]
    for name in wanted:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("listen queue")
    for row in rows:
        mark = f"{level_text.MARKS['doubtful']} " if row.is_short else ""
        queue = Text(f"{mark}{row.listen_queue}", style=STYLES["doubtful"] if mark else "")
        numbers = [_plain(row.numbers[place]) for place in shown]
        table.add_row(_plain(row.framework), *numbers, queue)
    return table


def _level(state: State) -> Text:
    return Text(level_text.marked(state), style=STYLES[state])


def _failed(trial: TrialContents, width: int) -> Group:
    error = trial.error or {}
    head = _hanging(_level(trial.state), trial.title, error["kind"], width)
    return Group(head, *_indented(error["message"], error["hint"], width=width))


def _doubt(doubt: Doubt, width: int) -> Group:
    head = Text.assemble(_level(doubt.level), (f" {doubt.name}", "bold"), f" {doubt.count}")
    lines = [f"{one.subject}: {one.sentences[0].clause}" for one in doubt.remarks[:SHOWN]]
    rest = len(doubt.remarks) - SHOWN
    more = f"and {rest} more, see the report" if rest > 0 else ""
    remedy = doubt.remedy and f"→ {doubt.remedy}"
    return Group(head, *_indented(*lines, more, remedy, width=width))


def _indented(*lines: str, width: int) -> list[Text]:
    """Each line below a head, its further lines below it."""
    return [Text(wrapping.wrapped(f"  {line}", width, "    ")) for line in lines if line]


def _counts(findings: Findings) -> Text:
    parts = [_counted(count, state) for state, count, _ in contents.banner(findings)]
    total = wording.several(len(findings.counting), "trial")
    own = contents.of_yardstick(findings)
    others = len(findings.trials) - len(findings.counting) - len(findings.of_yardstick)
    kind = ("full step", "full steps") if findings.ladders else ("other try", "other tries")
    of = "ladders" if findings.ladders else "load lines"
    more = f"; {wording.several(others, *kind)} of {of}" if others else ""
    return Text.assemble(f"{total}: ", Text(", ").join(parts), more, f"; {own}" if own else "")
