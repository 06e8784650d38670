"""Markdown: tables in `report.md`, the charts as SVG files beside it in `charts/`.

It begins with the answer, in lines that a comment has room for; the rest is folded. Text from
servers and campaigns is escaped, for Markdown lets HTML through.
"""

from __future__ import annotations

import re
import textwrap
from html import escape
from typing import TYPE_CHECKING

from plimsoll import charts, texts, wording
from plimsoll.report import contents, level_text, sections, trial_numbers
from plimsoll.report.contents import against_latency, answer, naming, repeat, servers
from plimsoll.report.formats import pictures
from plimsoll.storage.parquet import keep

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence
    from pathlib import Path

    from plimsoll.canvas import Specification
    from plimsoll.findings.findings import Findings
    from plimsoll.report.contents import Doubt, Facts, RankingContents, Remark, TrialContents
    from plimsoll.report.contents.answer import Bar, Mark, RankingAnswer
    from plimsoll.report.contents.gist import Tile
    from plimsoll.report.contents.section import Picture, Section, SectionTable, TableRow

NAME = "markdown"
FILE = "report.md"
FOLDER = "charts"
RATIOS = ("vs. the best", "vs. the next")
MOST_LINES = 100
"""Lines of answers that are shown; those of further rankings are folded."""


def write(findings: Findings, into: Path) -> Path:
    """Writes the report as Markdown, with its charts in a folder beside it.

    Args:
        findings: What to report.
        into: Folder of the report; made when it is not there.

    Returns:
        Path of the Markdown file.

    Raises:
        StorageError: It could not be written.
    """
    for name, picture in pictures.named(_charts(findings)):
        keep(into / FOLDER / name, picture.encode())
    return keep(into / FILE, render(findings).encode())


def _charts(findings: Findings) -> Iterator[tuple[str, Specification]]:
    """Every chart with the name of its file."""
    for ranking in contents.rankings(findings):
        yield f"{ranking.anchor}.svg", charts.comparison.draw(ranking.ranking)
    of_sections = [one for section in sections.of(findings) for one in section.pictures]
    for one in (*against_latency.drawn(findings), *of_sections):
        yield f"{one.anchor}.svg", one.specification
    for trial in contents.trials(findings):
        for module in _modules(trial):
            yield f"{trial.anchor}.{module.NAME}.svg", module.draw(trial.trial.data)


def render(findings: Findings) -> str:
    """The report as text."""
    rankings = contents.rankings(findings)
    heading, caption = contents.detail(rankings)
    machines = contents.machines(findings).values()
    detailed = [part for ranking in rankings for part in _ranking(ranking)]
    of_sections = sections.of(findings)
    foremost = [part for one in of_sections if one.is_answer for part in _section(one)]
    others = [part for one in of_sections if not one.is_answer for part in _section(one)]
    parts = [
        f"# {literal(findings.campaign)}",
        literal(contents.subtitle(findings)),
        "; ".join(
            filter(
                None,
                (
                    *(f"on {literal(summary)}" for summary, _ in machines),
                    literal(contents.conditions(findings)),
                ),
            )
        ),
        *foremost,
        *_answers(findings, rankings),
        *_notices(findings),
        *_folded(contents.TRUST, _verdict(findings)),
        *_folded(heading, [literal(caption), *detailed]),
        *_folded(against_latency.TITLE, _against_latency(findings)),
        *(_folded("Further tables", others) if others else ()),
        *_folded("Servers", _servers(findings)),
        *_folded("Trials", [part for one in contents.trials(findings) for part in _trial(one)]),
        *_folded(repeat.HEADING, _repeat(findings)),
        *_folded("Configuration", _configuration(findings)),
        *_folded("Words", [_facts(contents.glossary(findings))]),
        f"Made by Plimsoll {findings.version}.",
    ]
    return _joined(parts)


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _folded(title: str, parts: Sequence[str]) -> list[str]:
    """A section that a reader opens; nothing where it is empty."""
    if not any(parts):
        return []
    return [f"<details><summary>{title}</summary>", f"## {title}", *parts, "</details>"]


def _answers(findings: Findings, rankings: Sequence[RankingContents]) -> list[str]:
    """Who is fastest and by how much, ranking by ranking; folded where there are many."""
    shown: list[str] = []
    folded: list[str] = []
    for found in answer.answers(findings, rankings):
        parts = _answer(found)
        is_room = _joined([*shown, *parts]).count("\n") <= MOST_LINES
        (shown if not folded and (is_room or not shown) else folded).extend(parts)
    return [*shown, *_folded("Further rankings", folded)]


def _answer(found: RankingAnswer) -> list[str]:
    counts = " · ".join(
        f"{level_text.MARKS[state]} {count} {state}" for state, count in found.counts
    )
    marks = _marks(found.of_trials)
    ranking = found.ranking
    headings = ("rank", ranking.subject, answer.NUMBER, "95 %", *answer.HEADINGS, "verdict")
    absent = (0, 4) if ranking.is_alone else ()
    return [
        f"## {literal(found.place)}",
        f"**{literal(found.headline)}**{f'; {literal(found.further)}' if found.further else ''}",
        f"{counts.replace('_', ' ')} of {found.total}{': ' if marks else ''}{marks}",
        f"{answer.COMPARISON}: {_marks(found.of_comparison)}" if found.of_comparison else "",
        _tiles(found.tiles) or _without(absent, headings, map(_bar, found.bars)),
    ]


def _marks(marks: Iterable[Mark]) -> str:
    """Doubts in one line."""
    return ", ".join(f"{level_text.MARKS[mark.state]} {literal(mark.brief)}" for mark in marks)


def _tiles(tiles: Sequence[Tile]) -> str:
    """The numbers of one trial; empty where there are none."""
    rows = [(literal(name), f"**{number}**", literal(note)) for name, number, note in tiles]
    return _table(("", "", ""), rows, right=(1,)) if rows else ""


def _without(absent: Container[int], headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of a ranking without some of its columns; numbers stand right of its names."""
    shown = [place for place in range(len(headings)) if place not in absent]
    right = [at for at, place in enumerate(shown) if 2 <= place < len(headings) - 1]  # noqa: PLR2004
    cells = [tuple(row[place] for place in shown) for row in rows]
    return _table([headings[place] for place in shown], cells, right=right)


def _bar(bar: Bar) -> tuple[str, ...]:
    row = bar.row
    return (
        row.rank,
        f"{literal(row.framework)}{' (yardstick)' if bar.is_yardstick else ''}",
        f"**{row.number}**" if row.is_ranked else row.number,
        row.interval or wording.ABSENT,
        *bar.columns,
        level_text.marked(row.state),
    )


def _notices(findings: Findings) -> list[str]:
    """How far it came, and which limits of checks differ."""
    limits = contents.changed_limits(findings)
    changed = ", ".join(f"`{text}`" for text in limits)
    return [
        literal(contents.extent(findings)),
        f"This campaign overrides limits of checks: {changed}." if limits else "",
    ]


def literal(text: str) -> str:
    """A text without meaning to Markdown; backticks still set code."""
    parts = re.split(r"`([^`]*)`", texts.line(text))
    return "".join(_code(part) if place % 2 else _escaped(part) for place, part in enumerate(parts))


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", escape(text, quote=False))


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|')}`" if text.strip() else _escaped(text)


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int]) -> str:
    """A table whose cells are escaped already."""
    aligned = set(right)
    rule = ["---:" if place in aligned else "---" for place in range(len(headings))]
    lines = [headings, rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _facts(facts: Facts) -> str:
    return "\n".join(f"- **{literal(name)}**: {literal(value)}" for name, value in facts)


def _repeat(findings: Findings) -> list[str]:
    """The lines that run the campaign again, as a block in which nothing means anything else."""
    found = repeat.repeat(findings)
    if found is None:
        return []
    return [repeat.CAPTION, textwrap.indent(found.command, "    "), _facts(found.facts)]


def _configuration(findings: Findings) -> list[str]:
    return [_facts(contents.configuration(findings)), _as_run(findings)]


def _as_run(findings: Findings) -> str:
    """The campaign as run, folded; as an indented block, in which nothing means anything else."""
    text = contents.as_run(findings)
    if not text:
        return ""
    summary = f"<details><summary>{contents.AS_RUN}</summary>"
    return f"{summary}\n\n{textwrap.indent(text, '    ')}\n\n</details>"


def _verdict(findings: Findings) -> list[str]:
    banner = [
        (level_text.marked(state), str(count), meaning)
        for state, count, meaning in contents.banner(findings)
    ]
    return [
        _table(("state", "trials", ""), banner, right=(1,)),
        contents.of_yardstick(findings),
        *_campaign(findings),
        *(_doubt(doubt) for doubt in contents.doubts(findings)),
    ]


def _campaign(findings: Findings) -> list[str]:
    """The verdicts on the campaign as a whole, one line for each check."""
    lines = _remark_lines(contents.of_campaign(findings))
    return [f"### {contents.CAMPAIGN}", lines] if lines else []


def _remark_lines(remarks: Iterable[Remark]) -> str:
    return "\n".join(
        f"- **{level_text.marked(one.level)} · {literal(one.name)}** ({literal(one.subject)}): "
        f"{_advised(one)}"
        for one in remarks
    )


def _doubt(doubt: Doubt) -> str:
    lines = [
        f"**{level_text.marked(doubt.level)} · {literal(doubt.name)}** ({literal(doubt.count)})"
    ]
    if doubt.remedy:
        lines.append(f"- → {literal(doubt.remedy)}")
    lines += [f"- {literal(one.subject)}: {literal(one.full_text)}" for one in doubt.remarks]
    return f"{lines[0]}\n\n" + "\n".join(lines[1:])


def _advised(remark: Remark) -> str:
    """Each finding with what to do about it, and what was measured against which limit."""
    parts = [
        literal(text) + (f" → {literal(remedy)}" if remedy else "")
        for text, remedy in remark.advised
    ]
    return " ".join([*parts, *([f"({literal(remark.against)})"] if remark.against else [])])


def _ranking(ranking: RankingContents) -> list[str]:
    headings = ("rank", ranking.subject, "goodput, responses/s", "95 %", *RATIOS, *ranking.headings)
    absent = (0, 4, 5) if ranking.is_alone else ()
    rows = [
        (
            row.rank,
            literal(row.framework),
            f"**{row.number}**" if row.is_ranked else row.number,
            row.interval or wording.ABSENT,
            row.of_best,
            literal(row.to_next),
            *(value for _, value in row.others),
            f"{level_text.marked(row.state)} {literal(row.reason)}".strip(),
        )
        for row in ranking.rows
    ]
    what = "Goodput" if ranking.is_alone else "Ranking"
    return [
        f"### {literal(ranking.title)}",
        _without(absent, (*headings, "verdict"), rows),
        "\n".join(f"- {literal(sentence)}" for sentence in _sentences(ranking)),
        f"![{what} at {literal(ranking.title)}]({FOLDER}/{ranking.anchor}.svg)",
    ]


def _sentences(ranking: RankingContents) -> list[str]:
    return [sentence for sentence in (*ranking.leads, ranking.resolution) if sentence]


def _against_latency(findings: Findings) -> list[str]:
    found = against_latency.drawn(findings)
    return [literal(against_latency.CAPTION), *_images(found)] if found else []


def _images(pictures: Sequence[Picture]) -> Iterator[str]:
    for one in pictures:
        yield f"### {literal(one.title)}"
        yield f"![{literal(one.title)}]({FOLDER}/{one.anchor}.svg)"


def _section(section: Section) -> list[str]:
    parts = [
        f"## {section.title}",
        *(f"**{literal(one)}**" for one in section.headlines),
        literal(section.caption),
        *_images(section.pictures),
    ]
    for table in section.tables:
        headings = (*table.headings, *([table.verdict] if table.verdict else []))
        rows = [(*map(literal, line.cells), *_verdicts_of(table, line)) for line in table.lines]
        parts += [f"### {literal(table.title)}", _table(headings, rows, right=table.numbers)]
        parts += map(literal, table.notes)
    if section.remarks:
        parts += [f"### {section.remarks_title}", _remark_lines(section.remarks)]
    return parts


def _verdicts_of(table: SectionTable, line: TableRow) -> list[str]:
    if not table.verdict:
        return []
    state = wording.ABSENT if line.state is None else level_text.marked(line.state)
    return [f"{state} {literal(line.reason)}".strip()]


def _servers(findings: Findings) -> list[str]:
    found = servers.rows(findings)
    rows = [
        (literal(row.framework), *row.numbers, f"{_short(row)}{row.listen_queue}") for row in found
    ]
    if not rows:
        return []
    headings = (naming.subject(findings), *servers.HEADINGS, "listen queue")
    table = _table(headings, rows, right=range(1, len(servers.HEADINGS) + 1))
    ran = [
        part
        for row in found
        if row.ran
        for part in (f"### What ran as {literal(row.framework)}", _facts(list(row.ran)))
    ]
    return [literal(servers.CAPTION), table, *ran]


def _short(row: servers.ServerRow) -> str:
    return f"{level_text.MARKS['doubtful']} " if row.is_short else ""


def _trial(trial: TrialContents) -> list[str]:
    return [
        f"### {literal(trial.title)}",
        f"{_judged(trial)} · {trial.number} · {literal(trial.about)}",
        *_error(trial),
        _facts([(name, f"{number} ({note})") for name, number, note in trial.headline]),
        *_remarks(trial),
        *(_picture(trial, module) for module in _modules(trial)),
        *_times(trial),
        *_connections(trial),
        *_failures(trial),
        *_about(trial),
    ]


def _judged(trial: TrialContents) -> str:
    """The state of a trial, and by how many checks."""
    return f"{level_text.marked(trial.state)} {trial.by_checks}".rstrip()


def _error(trial: TrialContents) -> list[str]:
    error = trial.error or {}
    sentences = [error.get("message", ""), error.get("hint", ""), *trial.contract]
    return [f"> {literal(sentence)}" for sentence in sentences if sentence]


def _remarks(trial: TrialContents) -> list[str]:
    rows = [
        (level_text.marked(one.level), literal(one.name), _advised(one)) for one in trial.doubts
    ]
    sound = (
        f"{level_text.MARKS['sound']} sound: {literal(trial.sound_names)}" if trial.sound else ""
    )
    unmade = "; ".join(literal(one.reason) for one in trial.not_checked)
    others = f"do not apply: {literal(trial.inapplicable_names)}" if trial.inapplicable else ""
    table = (
        _table(("verdict", "check", "what was seen → what to do"), rows, right=()) if rows else ""
    )
    missing = f"{level_text.marked('not_checked')}: {unmade}" if unmade else ""
    return [table, sound, missing, others]


def _modules(trial: TrialContents) -> tuple[charts.Chart, ...]:
    data = trial.trial.data
    return charts.drawn(data) if data.seconds.num_rows else ()


def _picture(trial: TrialContents, module: charts.Chart) -> str:
    return f"![{module.TITLE}]({FOLDER}/{trial.anchor}.{module.NAME}.svg)\n\n{module.CAPTION}"


def _times(trial: TrialContents) -> list[str]:
    if not trial.times:
        return []
    rows = [(literal(name), *values) for name, _, values in trial.times]
    headings = ("time", *trial_numbers.STATISTIC_HEADINGS)
    remarks = (literal(trial.why_absent), literal(trial.hidden))
    return [_table(headings, rows, right=range(1, len(headings))), *remarks]


def _connections(trial: TrialContents) -> list[str]:
    if not trial.connections:
        return []
    counts = [
        (f"connections {name}", f"{count}, {note}") for name, count, note in trial.connections
    ]
    return [_facts(counts), literal(trial.without_response)]


def _failures(trial: TrialContents) -> list[str]:
    if not trial.failures:
        return []
    rows = [
        (
            literal(f["outcome"]),
            literal(f["words"]),
            literal(f["errno"]),
            f["count"],
            f["first"],
            f["last"],
        )
        for f in trial.failures
    ]
    headings = ("outcome", "", "error number", "requests, whole load", "first at", "last at")
    return [_table(headings, rows, right=(3, 4, 5))]


def _about(trial: TrialContents) -> list[str]:
    facts = {"Server": trial.server, "Load generator": trial.driver, "Versions": trial.versions}
    lists = [f"**{name}**\n\n{_facts(known)}" for name, known in facts.items() if known]
    return [*lists, *(f"- {literal(note)}" for note in trial.notes)]
