"""PDF: the same report on paper, as vectors.

It has the answer on one page, then all that was found, then one page for each trial. Pages are
typeset as SVG and made into PDF by the converter that also draws the charts, so neither a browser
nor a font of the system is needed.
"""

from __future__ import annotations

from copy import deepcopy
from io import BytesIO
from typing import TYPE_CHECKING

import pypdf
import vl_convert
from markupsafe import Markup
from pypdf.generic import BooleanObject, DictionaryObject, NameObject, TextStringObject

from plimsoll import canvas, charts, texts
from plimsoll.report import against_latency, contents, pdf_summary, sections, servers, words
from plimsoll.report import typesetting as ts
from plimsoll.report.pictures import sized, svg
from plimsoll.storage.parquet import keep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from plimsoll.canvas import Specification
    from plimsoll.findings.findings import Findings
    from plimsoll.report.contents import Doubt, Facts, RankingContents, Remark, TrialContents
    from plimsoll.report.section import Picture, Section, SectionTable, TableRow
    from plimsoll.report.servers import ServerRow
    from plimsoll.report.typesetting import Block

NAME = "pdf"
FILE = "report.pdf"

BESIDE = 3
"""Quantities of a ranking, besides successful responses, that there is room for."""

SHOWN = 3
"""Remarks of one doubt on the first pages; the others are on the pages of their trials."""

_SCALE = 0.6
_GAP_PT = 10.0
_HEIGHTS_PX = {200: 130, 150: 100, 130: 100, 80: 50}
_ROWS = (
    (charts.throughput, charts.heat_map),
    (charts.response_time,),
    (charts.cpu, charts.memory, charts.connections),
)
"""Charts of a trial that stand side by side on its page."""


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
    """The report as a PDF document, with an outline."""
    writer = pypdf.PdfWriter()
    rankings = contents.rankings(findings)
    found = ts.pages(_found(findings, rankings))
    trials = contents.trials(findings)
    titled = [("Summary", pdf_summary.page(findings, rankings)), ("All that was found", found[0])]
    titled += [("", block) for block in found[1:]]
    titled += [(trial.title, _trial(trial)) for trial in trials]
    for number, (title, block) in enumerate(titled):
        place = f"page {number + 1} of {len(titled)}"
        footer = f"{findings.campaign} · Plimsoll {findings.version} · {place}"
        page = pypdf.PdfReader(BytesIO(vl_convert.svg_to_pdf(ts.page(block, footer)))).pages[0]
        writer.add_page(page)
        if title:
            writer.add_outline_item(title=texts.line(title), page_number=number)
    writer.root_object.update(
        {
            NameObject("/Lang"): TextStringObject("en"),
            NameObject("/ViewerPreferences"): DictionaryObject(
                {NameObject("/DisplayDocTitle"): BooleanObject(True)}
            ),
        }
    )
    writer.add_metadata({"/Title": texts.line(findings.campaign), "/Creator": "Plimsoll"})
    writer.compress_identical_objects()
    stream = BytesIO()
    writer.write(stream)
    return stream.getvalue()


def _found(findings: Findings, rankings: Sequence[RankingContents]) -> Iterator[Block]:
    """The blocks of the pages behind the first one."""
    hosts = [("Machine", summary) for summary, _ in contents.machines(findings).values()]
    of_sections = sections.of(findings)
    for section in of_sections:
        if section.is_answer:
            yield from _section(section)
    yield _heading("Configuration")
    yield _facts([*contents.configuration(findings), *hosts], ts.TEXT_WIDTH_PT)
    yield _heading("Can these numbers be trusted?")
    yield _banner(findings)
    for sentence in (contents.extent(findings), _limits(findings)):
        if sentence:
            yield ts.paragraph(sentence)
    yield from _campaign(contents.of_campaign(findings))
    yield from (_failed(trial) for trial in contents.trials(findings) if trial.error)
    yield from (_doubt(doubt) for doubt in contents.doubts(findings))
    for number, ranking in enumerate(rankings):
        yield from _ranking(ranking, () if number else contents.detail(rankings))
    yield from _against_latency(against_latency.drawn(findings))
    for section in of_sections:
        if not section.is_answer:
            yield from _section(section)
    yield from _servers(servers.rows(findings))


def _heading(text: str, size_pt: float = 12.0) -> Block:
    return ts.stacked([ts.space(10), ts.paragraph(text, size_pt, bold=True), ts.space(2)])


def _limits(findings: Findings) -> str:
    limits = contents.changed_limits(findings)
    return f"This campaign overrides limits of checks: {', '.join(limits)}." if limits else ""


def _facts(facts: Facts, width_pt: float, size_pt: float = 8.5) -> Block:
    """Names and values in two columns."""
    names_pt = min(max((ts.text_width(name, size_pt) for name, _ in facts), default=0) + 8, 130)
    rows = [
        ts.beside(
            [
                ts.paragraph(name, size_pt, width_pt=names_pt, colour=canvas.MUTED),
                ts.paragraph(value, size_pt, width_pt=width_pt - names_pt, most_lines=4),
            ],
            names_pt,
        )
        for name, value in facts
    ]
    return ts.stacked(rows)


def _banner(findings: Findings) -> Block:
    entries = contents.banner(findings)
    step_pt = ts.TEXT_WIDTH_PT / len(entries)
    tiles: list[Block] = []
    for state, count, meaning in entries:
        colour = ts.STATE_COLOURS[state] if count else canvas.MUTED
        content = [
            ts.filled(step_pt - 8, 44, canvas.BAND),
            ts.written(str(count), 8, 19, 16, colour=colour, bold=True),
            ts.state_mark(state, 8, 30, 8),
            ts.written(meaning, 8, 39.5, 6.8, colour=canvas.MUTED),
        ]
        tiles.append(ts.Block(50, Markup("").join(content)))
    return ts.beside(tiles, step_pt)


def _campaign(remarks: Sequence[Remark]) -> Iterator[Block]:
    """The verdicts on the campaign as a whole, under its heading."""
    for number, one in enumerate(remarks):
        heading = [_heading(contents.CAMPAIGN, 10.0)] if number == 0 else [ts.space(4)]
        head = _verdict_head(one.level, one.name, one.subject)
        yield ts.stacked([*heading, head, *_sentences([*_advised(one), one.against])])


def _failed(trial: TrialContents) -> Block:
    error = trial.error or {}
    head = ts.Block(
        13, ts.state_mark("failed", 0, 9) + ts.written(trial.title, 54, 9, 8.5, bold=True)
    )
    texts = [f"{error['kind']}: {error['message']}", error["hint"] and f"→ {error['hint']}"]
    return ts.stacked([ts.space(4), head, *_sentences(texts)])


def _sentences(texts: Sequence[str]) -> list[Block]:
    width_pt = ts.TEXT_WIDTH_PT - 10
    return [
        ts.indented(ts.paragraph(text, 8, width_pt=width_pt, most_lines=4), 10)
        for text in texts
        if text
    ]


def _doubt(doubt: Doubt) -> Block:
    head = _verdict_head(doubt.level, doubt.name, doubt.count)
    texts = [f"{one.subject}: {one.full_text}" for one in doubt.remarks[:SHOWN]]
    rest = len(doubt.remarks) - SHOWN
    more = f"… and {rest} more, on the pages of their trials" if rest > 0 else ""
    remedy = f"→ {doubt.remedy}" if doubt.remedy else ""
    return ts.stacked([ts.space(4), head, *_sentences([remedy, *texts, more])])


def _verdict_head(level: str, name: str, note: str) -> Block:
    name_pt = ts.text_width(name, 8.5, bold=True)
    return ts.Block(
        13,
        ts.state_mark(level, 0, 9)
        + ts.written(name, 54, 9, 8.5, bold=True)
        + ts.written(note, 59 + name_pt, 9, 8, colour=canvas.MUTED),
    )


def _advised(remark: Remark) -> Iterator[str]:
    """Each sentence, and what to do about it."""
    for one in remark.sentences:
        yield one.text
        yield one.remedy and f"→ {one.remedy}"


def _ranking(ranking: RankingContents, above: Sequence[str]) -> Iterator[Block]:
    """A ranking as picture and table; above the first, heading and caption of all of them."""
    drawn = sized(charts.comparison.draw(ranking.ranking), ts.TEXT_WIDTH_PT / _SCALE, {})
    blocks = [
        _heading(ranking.title, 10.0),
        ts.picture(svg(drawn), _SCALE, ts.TEXT_WIDTH_PT),
        ts.space(4),
        _ranking_table(ranking),
    ]
    if above:
        heading, caption = above
        blocks = [_heading(heading), ts.paragraph(caption, 8, colour=canvas.MUTED), *blocks]
    yield ts.stacked(blocks)
    if ranking.leads:
        yield _leads(ranking)


def _ranking_table(ranking: RankingContents) -> Block:
    beside = ranking.headings[:BESIDE]
    ratios = ["of the best", "vs. next"]
    headings = ["rank", "framework", "goodput", "95 %", *ratios, *beside, "verdict"]
    widths = [26.0, 76.0, 54.0, 66.0, 62.0, 76.0, 42.0, 42.0, 32.0, 0.0]
    rows = [_cells(headings, widths, colour=canvas.MUTED), ts.rule()]
    for row in ranking.rows:
        values = [row.rank, row.framework, row.number, row.interval]
        values += [row.of_best, row.to_next_brief, *(v for _, v in row.others[:BESIDE])]
        ink = canvas.INK if row.is_ranked else canvas.MUTED
        line = _cells(values, widths, colour=ink)
        mark = ts.state_mark(row.state, sum(widths) + 6, 7.5, 7)
        rows.append(ts.Block(line.height_pt, line.content + mark))
    return ts.stacked(rows)


def _leads(ranking: RankingContents) -> Block:
    """Who is ahead and by how much, and what more repetitions would tell."""
    sentences = [ts.paragraph(sentence, 8) for sentence in ranking.leads]
    if ranking.resolution:
        sentences.append(ts.paragraph(ranking.resolution, 8, colour=canvas.MUTED))
    return ts.stacked(sentences)


def _against_latency(pictures: Sequence[Picture]) -> Iterator[Block]:
    caption = ts.paragraph(against_latency.CAPTION, 8, colour=canvas.MUTED)
    yield from _with_head([_heading(against_latency.TITLE), caption], pictures)


def _with_head(head: Sequence[Block], pictures: Sequence[Picture]) -> Iterator[Block]:
    """Pictures with their titles, and above the first one what is said of all."""
    for number, one in enumerate(pictures):
        drawn = sized(one.specification, ts.TEXT_WIDTH_PT / _SCALE, _HEIGHTS_PX)
        picture = ts.picture(svg(drawn), _SCALE, ts.TEXT_WIDTH_PT)
        above = [] if number else [*head]
        yield ts.stacked([*above, _heading(one.title, 10.0), picture])


def _section(section: Section) -> Iterator[Block]:
    """The tables of a section, its text above the first of them, and the verdicts of checks."""
    head = [
        _heading(section.title),
        *(ts.paragraph(one, 10, bold=True) for one in section.headlines),
        ts.paragraph(section.caption, 8, colour=canvas.MUTED),
    ]
    yield from _with_head(head, section.pictures)
    head = [] if section.pictures else head
    for table in section.tables:
        yield ts.stacked([*head, _heading(table.title, 10.0), *_lines(table)])
        head = []
    if head:
        yield ts.stacked(head)
    for number, one in enumerate(section.remarks):
        heading = [_heading(section.remarks_title, 10.0)] if number == 0 else [ts.space(4)]
        remark = _verdict_head(one.level, one.name, one.subject)
        yield ts.stacked([*heading, remark, *_sentences([*_advised(one), one.against])])


def _lines(table: SectionTable) -> Iterator[Block]:
    """The lines of a table; cells that are no numbers, and verdicts, may take several lines."""
    widths = _widths(table)
    headings = (*table.headings, *([table.verdict] if table.verdict else []))
    yield _wrapped(headings, widths, table.numbers, canvas.MUTED)
    yield ts.rule()
    for line in table.lines:
        cells = _wrapped(line.cells, widths, table.numbers, canvas.INK)
        yield ts.overlaid([cells, _judged(line, sum(widths[:-1]), widths[-1])])
    yield from (ts.paragraph(note, 7.5) for note in table.notes)


def _widths(table: SectionTable) -> list[float]:
    """Widths of the columns: numbers as wide as they are, the rest shared by what is left."""
    columns = len(table.headings) + bool(table.verdict)
    numbers = {place: _number_width(table, place) for place in table.numbers}
    rest_pt = (ts.TEXT_WIDTH_PT - sum(numbers.values())) / max(columns - len(numbers), 1)
    return [numbers.get(place, rest_pt) for place in range(columns)]


def _number_width(table: SectionTable, place: int) -> float:
    texts = (table.headings[place], *(line.cells[place] for line in table.lines))
    return max(ts.text_width(text, 7) for text in texts) + 8


def _wrapped(
    texts: Sequence[str], widths: Sequence[float], numbers: Sequence[int], colour: canvas.Colour
) -> Block:
    """Texts side by side, each in its own width."""
    blocks: list[Block] = []
    left_pt = 0.0
    for place, (text, width_pt) in enumerate(zip(texts, widths, strict=False)):
        if place in numbers:
            end = ts.written(text, width_pt - 4, 7, 7, colour=colour, anchor="end")
            block = ts.Block(7 * ts.LEADING, end)
        else:
            block = ts.paragraph(text, 7, width_pt=width_pt - 6, colour=colour, most_lines=5)
            block = ts.indented(block, 4 if place else 0)
        blocks.append(ts.indented(block, left_pt))
        left_pt += width_pt
    whole = ts.overlaid(blocks)
    return ts.Block(whole.height_pt + 2, whole.content)


def _judged(line: TableRow, left_pt: float, width_pt: float) -> Block:
    """The verdict on a line, and why."""
    if line.state is None:
        return ts.space(0)
    mark = ts.Block(10, ts.state_mark(line.state, left_pt + 4, 7, 7))
    if not line.reason:
        return mark
    reason = ts.paragraph(
        line.reason, 6.5, width_pt=width_pt - 6, colour=canvas.MUTED, most_lines=5
    )
    return ts.overlaid([mark, ts.stacked([ts.space(9), ts.indented(reason, left_pt + 4)])])


def _servers(found: Sequence[ServerRow]) -> Iterator[Block]:
    """The table of the servers, with its caption above the first rows."""
    if not found:
        return
    widths = [92.0, 42.0, 66.0, 48.0, 48.0, 58.0, 58.0, 46.0, 0.0]
    names = ["framework", *servers.HEADINGS, "listen queue"]
    lines = [_server_cells(names, widths, canvas.MUTED), ts.rule()]
    lines += [
        _server_cells([row.framework, *row.numbers, row.listen_queue], widths, canvas.INK)
        for row in found
    ]
    caption = ts.paragraph(servers.CAPTION, 8, colour=canvas.MUTED)
    yield ts.stacked([_heading("Servers"), caption, ts.space(4), *lines])
    for row in found:
        if row.ran:
            title = ts.paragraph(f"What ran as {row.framework}", 8)
            yield ts.stacked([ts.space(4), title, _facts(list(row.ran), ts.TEXT_WIDTH_PT, 7)])


def _server_cells(values: Sequence[str], widths: Sequence[float], colour: canvas.Colour) -> Block:
    """A line of that table; the framework and the listen queue are set left."""
    parts = [ts.written(ts.lines_of(values[0], widths[0] - 4, 7)[0], 0, 7.5, 7, colour=colour)]
    for place in range(1, len(values)):
        is_last = place == len(values) - 1
        x_pt = sum(widths[:place]) + 8 if is_last else sum(widths[: place + 1])
        anchor = "start" if is_last else "end"
        parts.append(ts.written(values[place], x_pt, 7.5, 7, colour=colour, anchor=anchor))
    return ts.Block(11.5, Markup("").join(parts))


def _cells(values: Sequence[str], widths: Sequence[float], *, colour: canvas.Colour) -> Block:
    """A line of a table; the framework and what stands last are set left, the others right."""
    parts: list[Markup] = []
    left_pt = 0.0
    for place, (value, width_pt) in enumerate(zip(values, widths, strict=False)):
        is_left = place == 1 or not width_pt
        shown = ts.lines_of(value, width_pt - 4, 7)[0] if place == 1 else value
        x_pt = left_pt + 6 if is_left else left_pt + width_pt
        anchor = "start" if is_left else "end"
        parts.append(ts.written(shown, x_pt, 7.5, 7, colour=colour, anchor=anchor))
        left_pt += width_pt
    return ts.Block(11.5, Markup("").join(parts))


def _trial(trial: TrialContents) -> Block:
    """The page of a trial."""
    blocks = [_title(trial), ts.paragraph(trial.about, 8, colour=canvas.MUTED), ts.space(4)]
    if trial.error:
        error = trial.error
        blocks += _sentences([f"{error['kind']}: {error['message']}", error["hint"]])
    blocks += _sentences(trial.contract)
    if trial.headline:
        blocks.append(_tiles(trial.headline))
    blocks += _verdicts(trial)
    if trial.trial.data.seconds.num_rows:
        blocks += _pictures(trial)
    if trial.times:
        blocks += _numbers(trial)
    blocks.append(_three_lists(trial))
    blocks += _sentences([f"Note: {note}" for note in trial.notes])
    return ts.stacked(blocks)


def _title(trial: TrialContents) -> Block:
    name = ts.paragraph(trial.title, 13, bold=True, width_pt=ts.TEXT_WIDTH_PT - 80, most_lines=2)
    mark = ts.state_mark(trial.state, ts.TEXT_WIDTH_PT - 62, 12, 9.5)
    return ts.Block(name.height_pt, name.content + mark)


def _tiles(headline: Sequence[tuple[str, str, str]]) -> Block:
    step_pt = ts.TEXT_WIDTH_PT / len(headline)
    tiles = [
        ts.Block(
            44,
            ts.filled(step_pt - 6, 38, canvas.BAND)
            + ts.written(name, 6, 10, 6.5, colour=canvas.MUTED)
            + ts.written(number, 6, 22, 10.5, bold=True)
            + ts.written(note, 6, 32, 6.2, colour=canvas.MUTED),
        )
        for name, number, note in headline
    ]
    return ts.beside(tiles, step_pt)


def _verdicts(trial: TrialContents) -> Iterator[Block]:
    for remark in trial.doubts[:4]:
        yield _verdict_head(remark.level, remark.name, remark.against)
        yield from _sentences([*_advised(remark)])
        yield ts.space(2)
    names = [remark.name for remark in trial.doubts[4:]]
    if names:
        yield ts.paragraph(f"Also not sound: {', '.join(names)}", 8)
    if trial.by_checks:
        yield ts.paragraph(f"{words.level_name(trial.state).capitalize()} {trial.by_checks}", 8)
    if trial.sound:
        yield ts.paragraph(f"Sound: {trial.sound_names}", 8, colour=canvas.SOUND)
    if trial.not_checked:
        text = f"Not checked: {trial.not_checked_names}"
        yield ts.paragraph(text, 8, colour=canvas.MUTED)
    yield ts.space(4)


def _pictures(trial: TrialContents) -> Iterator[Block]:
    data = trial.trial.data
    known = charts.drawn(data)
    for row in _ROWS:
        modules = [module for module in row if module in known]
        step_pt = (ts.TEXT_WIDTH_PT + _GAP_PT) / max(len(modules), 1)
        pictures = [_picture(one, one.draw(data), step_pt - _GAP_PT) for one in modules]
        yield pictures[0] if len(pictures) == 1 else ts.beside(pictures, step_pt)


def _picture(module: charts.Chart, specification: Specification, width_pt: float) -> Block:
    drawn = sized(specification, width_pt / _SCALE, _HEIGHTS_PX)
    title = ts.paragraph(module.TITLE, 8.5, bold=True)
    return ts.stacked(
        [title, ts.space(1), ts.picture(svg(_in_rows(drawn)), _SCALE, width_pt), ts.space(4)]
    )


def _in_rows(specification: Specification) -> Specification:
    """A chart whose kinds of failure stand side by side in its legend, because paper is wide."""
    copy = deepcopy(specification)
    for view in copy.get("vconcat", [])[1:]:
        view["encoding"]["color"]["legend"]["columns"] = 4
    return copy


def _numbers(trial: TrialContents) -> Iterator[Block]:
    """Times and connections."""
    widths = [92.0, *([ts.TEXT_WIDTH_PT - 92] * 1)]
    step_pt = widths[1] / len(words.STATISTIC_HEADINGS)
    yield _line("", words.STATISTIC_HEADINGS, step_pt, canvas.MUTED)
    for name, _, values in trial.times:
        yield _line(name, values, step_pt, canvas.INK)
    counts = ", ".join(f"{name} {count}" for name, count, _ in trial.connections)
    if counts:
        yield ts.paragraph(f"Connections: {counts}.", 7.5)
    kinds = ", ".join(
        f"{failure['count']} {failure['outcome']} {failure['errno']}".removesuffix(" –")
        for failure in trial.failures
    )
    yield ts.paragraph(f"Failures: {kinds or 'none'}.", 7.5, most_lines=2)
    yield ts.space(4)


def _line(name: str, values: Sequence[str], step_pt: float, colour: canvas.Colour) -> Block:
    parts = [ts.written(name, 0, 7.5, 7, colour=canvas.MUTED)]
    parts += [
        ts.written(value, 92 + (place + 1) * step_pt, 7.5, 7, colour=colour, anchor="end")
        for place, value in enumerate(values)
    ]
    return ts.Block(10, Markup("").join(parts))


def _three_lists(trial: TrialContents) -> Block:
    """Server, driver and versions side by side."""
    step_pt = ts.TEXT_WIDTH_PT / 3
    lists = [
        ts.stacked([ts.paragraph(name, 7.5, bold=True), _facts(facts, step_pt - 10, 7)])
        for name, facts in (
            ("Server", trial.server),
            ("Driver", trial.driver),
            ("Versions", trial.versions),
        )
        if facts
    ]
    return ts.beside(lists, step_pt)
