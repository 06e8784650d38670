"""Terminal: the verdicts on the campaign, the ranking with its verdicts, and why numbers are void.

It is read without colour as well.

The same as text in `report.txt`.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from plimsoll import texts, wording
from plimsoll.report import contents, sections, words
from plimsoll.report.contents import naming, servers
from plimsoll.storage.parquet import keep
from plimsoll.verdicts.verdict import CAMPAIGN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import State
    from plimsoll.report.contents import Doubt, RankingContents, Remark, TrialContents
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
    """Prints the rankings, what failed, what is void or doubtful, and the count of each.

    Args:
        findings: What to report.
        console: Where to; the standard output when None.
    """
    console = console or Console(emoji=False)
    is_wide = console.width >= WIDE
    of_sections = sections.of(findings)
    for part in _campaign(findings):
        console.print(part)
    for section in (one for one in of_sections if one.is_answer):
        for part in _section(section, is_wide=is_wide):
            console.print(part)
    for ranking in contents.rankings(findings):
        console.print(_ranking(ranking, is_wide=is_wide))
        for line in _indented(*ranking.leads[:1], ranking.resolution):
            console.print(line)
        console.print()
    for section in (one for one in of_sections if not one.is_answer):
        for part in _section(section, is_wide=is_wide):
            console.print(part)
    if rows := servers.rows(findings):
        console.print(_servers(rows, naming.subject(findings), is_wide=is_wide))
    for part in _remarks(findings):
        console.print(part)
    console.print(_counts(findings))


def _campaign(findings: Findings) -> Iterator[RenderableType]:
    """The verdicts on the campaign as a whole, one line for each check."""
    remarks = contents.of_campaign(findings)
    if remarks:
        yield Text(contents.CAMPAIGN.lower(), style="bold")
    for one in remarks:
        name = f" {one.name} " if one.subject == CAMPAIGN else f" {one.name}, {one.subject} "
        yield from _shown(one, name)
    if remarks:
        yield Text()


def _shown(remark: Remark, name: str) -> Iterator[RenderableType]:
    """A remark, each finding with what to do about it."""
    for place, (text, remedy) in enumerate(remark.advised):
        if place:
            yield from _indented(text)
        else:
            yield Text.assemble(_level(remark.level), (name, "bold"), texts.line(text))
        yield from _indented(remedy and f"→ {remedy}")


def _ranking(ranking: RankingContents, *, is_wide: bool) -> Table:
    title = Text(texts.line(ranking.title), style="bold")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
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
        cells = (name, row.number, *map(texts.line, beside), *others, verdict)
        table.add_row(*(cells if ranking.is_alone else (row.rank, *cells)))
    return table


def _section(section: Section, *, is_wide: bool) -> Iterator[RenderableType]:
    """A section, unless it has nothing but charts; without reasons where there is little room."""
    if not section.tables and not section.remarks:
        return
    yield Text(section.title.lower(), style="bold")
    yield from (Text(texts.line(one), style="bold") for one in section.headlines)
    yield from _indented(section.caption)
    for table in (one for one in section.tables if not one.is_detail):
        yield _section_table(table, is_wide=is_wide)
        yield from _indented(*table.notes)
    if section.remarks:
        yield Text(f"\n{section.remarks_title}", style="bold")
    for one in section.remarks:
        yield from _shown(one, f" {one.name}, {one.subject} ")
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
            requested.headings[place],
            justify="right" if right else "left",
            no_wrap=right,
            overflow="fold",
        )
    if requested.verdict:
        table.add_column(requested.verdict, overflow="fold", min_width=10)
    for line in requested.lines:
        cells = [texts.line(line.cells[place]) for place in shown]
        table.add_row(*cells, *([_judged(line, is_wide=is_wide)] if requested.verdict else []))
    return table


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
        mark = f"{words.MARKS['doubtful']} " if row.is_short else ""
        queue = Text(f"{mark}{row.listen_queue}", style=STYLES["doubtful"] if mark else "")
        numbers = [row.numbers[place] for place in shown]
        table.add_row(Text(texts.line(row.framework)), *numbers, queue)
    return table


def _level(state: State) -> Text:
    return Text(words.level_text(state), style=STYLES[state])


def _remarks(findings: Findings) -> Iterator[RenderableType]:
    for trial in contents.trials(findings):
        if trial.error:
            yield _failed(trial)
    for doubt in contents.doubts(findings):
        yield _doubt(doubt)
    limits = contents.changed_limits(findings)
    if limits:
        yield Text(f"Limits of checks overridden by this campaign: {', '.join(limits)}")
    if extent := contents.extent(findings):
        yield Text(texts.line(extent))


def _failed(trial: TrialContents) -> Group:
    error = trial.error or {}
    head = Text.assemble(_level("failed"), f" {texts.line(trial.title)}: {error['kind']}")
    return Group(head, *_indented(error["message"], error["hint"]))


def _doubt(doubt: Doubt) -> Group:
    head = Text.assemble(_level(doubt.level), (f" {doubt.name}", "bold"), f" {doubt.count}")
    lines = [f"{one.subject}: {one.sentences[0].clause}" for one in doubt.remarks[:SHOWN]]
    rest = len(doubt.remarks) - SHOWN
    more = f"and {rest} more, see the report" if rest > 0 else ""
    return Group(head, *_indented(*lines, more, doubt.remedy and f"→ {doubt.remedy}"))


def _indented(*lines: str) -> list[RenderableType]:
    return [Padding(Text(texts.line(line)), (0, 0, 0, 2), expand=False) for line in lines if line]


def _counts(findings: Findings) -> Text:
    parts = [
        Text.assemble(f"{count} ", _level(state)) for state, count, _ in contents.banner(findings)
    ]
    total = wording.several(len(findings.counting), "trial")
    others = len(findings.trials) - len(findings.counting)
    kind = ("full step", "full steps") if findings.ladders else ("other try", "other tries")
    of = "ladders" if findings.ladders else "load lines"
    more = f"; {wording.several(others, *kind)} of {of}" if others else ""
    return Text.assemble(f"\n{total}: ", Text(", ").join(parts), more)
