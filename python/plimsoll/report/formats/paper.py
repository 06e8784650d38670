"""Paper: what the pages of the PDF show, as plain values; a template lays them out."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from plimsoll import charts, wording
from plimsoll.findings import servers as servers_seen
from plimsoll.report import contents, level_text, sections, trial_numbers
from plimsoll.report.contents import against_latency, answer, naming, repeat, servers
from plimsoll.report.formats.pictures import BATCH, in_parts, joined, named, sized
from plimsoll.report.sections import lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.canvas import Specification
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import State
    from plimsoll.report.contents import Doubt, Facts, RankingContents, Remark, Row, TrialContents
    from plimsoll.report.contents.answer import Bar, Mark, RankingAnswer
    from plimsoll.report.contents.gist import Tile
    from plimsoll.report.contents.section import Section, SectionAnswer, SectionTable
    from plimsoll.report.contents.servers import ServerRow

WIDTH_PT = 523.0
"""Width of the text, which a chart takes or shares with those beside it."""

MOST_BARS = 12
"""Frameworks of one ranking that the first page has room for."""

MOST_DOUBTS = 3
"""Doubts of one ranking that are named in its sentence."""

MOST_TRIALS = 100
"""Trials that have a page. To typeset one takes 10 MB of memory: a thousand of them took 10 GB."""

MOST_REMARKS = 3
"""Remarks of one doubt before the trials; the others are on the pages of their trials."""

SOUND = "●"
"""The mark of sound in a text: a circle, as the template draws it."""

_NO_DOUBT = "No check found a problem."
_PT_PER_PX = 0.6
_MOST_PX = 1060
"""Height of the rows of a chart that fit on a page with a heading, a legend and an axis."""

_GAP_PT = 12.0
_FULL = 0.999
"""Share of a scale from which on bars fill it; lengths are rounded."""

_HEIGHTS_PX = {200: 92, 150: 72, 130: 72, 80: 38, 70: 92}
_ROWS = (
    (charts.throughput, charts.heat_map),
    (charts.response_time, charts.machine_speed),
    (charts.cpu, charts.memory, charts.connections),
)
"""Charts of a trial that stand side by side on its page."""


@dataclass(frozen=True)
class Drawing:
    """A chart.

    Attributes:
        file: Name of its picture.
        title: Its title.
        description: What it shows, for those who cannot see it.
    """

    file: str
    title: str
    description: str


@dataclass(frozen=True)
class Statement:
    """What a check or an error says.

    Attributes:
        state: How bad it is.
        name: Name of the check, or the trial that ended.
        note: What it is about, or what was measured.
        lines: Its sentences; those that begin with an arrow say what to do.
    """

    state: State
    name: str
    note: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class PaperAnswer:
    """One ranking on the first page.

    Attributes:
        place: What the headline is about.
        headline: Who is fastest and by how much.
        further: The first one that is clearly behind, where that is not the next one; else empty.
        counts: How many trials are in each state, without the states that none is in.
        total: How many trials there are, in words.
        doubts: The doubts about trials in one sentence, and those about their comparison.
        of_trials: Level and name of each doubt about trials, and how many it is about.
        of_comparison: The same of each doubt about their comparison.
        lines: What the lines on the bars are; empty where there are none.
        subject: What the bars are of.
        is_alone: Whether it has one row, which has no rank and no ratio.
        tiles: Of one trial, or of load lines, in place of bars: name, number, what belongs to it.
        bars: The frameworks, the best first.
        more: How many frameworks there is no room for, without the yardstick.
    """

    place: str
    headline: str
    further: str
    counts: tuple[tuple[State, int], ...]
    total: str
    doubts: tuple[str, ...]
    of_trials: tuple[tuple[State, str], ...]
    of_comparison: tuple[tuple[State, str], ...]
    lines: str
    subject: str
    is_alone: bool
    tiles: tuple[Tile, ...]
    bars: tuple[Bar, ...]
    more: int


@dataclass(frozen=True)
class PaperRanking:
    """One ranking with all its columns.

    Attributes:
        title: Endpoint and load.
        pictures: Its chart, in parts where it is higher than a page.
        subject: What its rows are.
        is_alone: Whether it has one row, which has no rank and no ratio.
        headings: Headings of the quantities besides goodput.
        rows: The frameworks, the best first.
        leads: Who is ahead by which quantity, and by how much.
        lead: The one of them by the quantity that ranks; empty where there is none.
        resolution: What differences it tells apart; may be empty.
    """

    title: str
    pictures: tuple[Drawing, ...]
    subject: str
    is_alone: bool
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    leads: tuple[str, ...]
    lead: str
    resolution: str


@dataclass(frozen=True)
class PaperSection:
    """A section that only some campaigns have.

    Attributes:
        title: Its title.
        headlines: What it amounts to.
        caption: What it shows and how it is read.
        pictures: Its charts.
        tables: Its tables.
        statements_title: Title of what checks say.
        statements: What checks say.
    """

    title: str
    headlines: tuple[str, ...]
    caption: str
    pictures: tuple[Drawing, ...]
    tables: tuple[SectionTable, ...] = ()
    statements_title: str = ""
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class PaperTrial:
    """The page of a trial.

    Attributes:
        title: Framework, endpoint, load and repetition.
        about: What ran when.
        state: How far to believe it.
        number: Its goodput.
        contract: What was wrong before or after the load.
        tiles: Its main numbers: name, number and what belongs to it.
        statements: The error that ended it, and verdicts that are not sound, the worst first.
        sound: Names of the sound checks, after what the state rests on.
        not_checked: The checks that apply and could not be made, with the reasons.
        rows: Its charts, row by row.
        times: The table of times: name and a text for each heading.
        under_times: Sentences below it.
        connections: What became of the connections: name and count.
        failures: How requests failed: outcome, error number, count, first and last.
        lists: Titles and facts of server, driver and versions.
        notes: What a reader must know besides what its framework's notes say.
    """

    title: str
    about: str
    state: State
    number: str
    contract: tuple[str, ...]
    tiles: tuple[tuple[str, str, str], ...]
    statements: tuple[Statement, ...]
    sound: str
    not_checked: str
    rows: tuple[tuple[Drawing, ...], ...]
    times: tuple[tuple[str, ...], ...]
    under_times: tuple[str, ...]
    connections: tuple[tuple[str, str], ...]
    failures: tuple[tuple[str, ...], ...]
    lists: tuple[tuple[str, Facts], ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Paper:
    """The whole report.

    Attributes:
        campaign: Its name.
        version: Version of Plimsoll.
        subtitle: What the campaign was, in one line.
        machines: Each host in one line.
        extent: What to say of trials that are missing; may be empty.
        conditions: How servers and load generator shared the machine; may be empty.
        answer_number: Heading of the bars.
        answer_headings: Headings of the columns beside the bars.
        answers: The load lines or rankings on the first page.
        first_pictures: Charts on the first page: those of the one trial, or of the one load line,
            row by row.
        headlines: Sentences on the first page: of the sections that are the answer.
        configuration: The configuration and the hosts.
        banner: How many trials are in each state, and what it means.
        of_yardstick: The same of the yardstick beside frameworks; else empty.
        limits: Limits of checks that the campaign changed.
        comparison: What stands before doubts about the comparison of trials.
        trust: Title of all that checks say.
        campaign_heading: Title of what checks say of the campaign.
        of_campaign: What they say.
        failed: Trials that an error ended.
        doubts: What checks say against trials.
        detail: Heading and caption of the rankings.
        rankings: The rankings with all columns.
        foremost: Sections that are the answer of the campaign.
        sections: The other sections.
        servers_caption: What the table of servers shows.
        server_headings: Its columns between the server and the listen queue.
        subject: What its rows are.
        servers: Its rows, with what ran of each.
        ran_alike: What ran of all of them, where there are several: it is printed once.
        server_notes: Framework, and what a reader must know of it: notes that all its trials have.
        repeat: Heading and caption of how to repeat the campaign.
        how_to_repeat: The lines of the command, and facts; None where there was no campaign file.
        as_run: The lines of the campaign as run; none where there was no campaign file.
        as_run_heading: Their heading.
        glossary: The words of a report.
        statistics: Headings of the table of times of a trial.
        trials: The trials that have a page.
        left_out: What to say of those that have none; may be empty.
    """

    campaign: str
    version: str
    subtitle: str
    machines: tuple[str, ...]
    extent: str
    conditions: str
    answer_number: str
    answer_headings: tuple[str, ...]
    answers: tuple[PaperAnswer, ...]
    first_pictures: tuple[tuple[Drawing, ...], ...]
    headlines: tuple[str, ...]
    configuration: Facts
    banner: tuple[tuple[State, int, str], ...]
    of_yardstick: str
    limits: tuple[str, ...]
    comparison: str
    trust: str
    campaign_heading: str
    of_campaign: tuple[Statement, ...]
    failed: tuple[Statement, ...]
    doubts: tuple[Statement, ...]
    detail: tuple[str, str]
    rankings: tuple[PaperRanking, ...]
    foremost: tuple[PaperSection, ...]
    sections: tuple[PaperSection, ...]
    servers_caption: str
    server_headings: tuple[str, ...]
    subject: str
    servers: tuple[ServerRow, ...]
    ran_alike: Facts
    server_notes: tuple[tuple[str, tuple[str, ...]], ...]
    repeat: tuple[str, str]
    how_to_repeat: tuple[tuple[str, ...], Facts] | None
    as_run: tuple[str, ...]
    as_run_heading: str
    glossary: Facts
    statistics: tuple[str, ...]
    trials: tuple[PaperTrial, ...]
    left_out: str


class Drawings:
    """The pictures of a document while it is made."""

    def __init__(self) -> None:
        """Begins without any."""
        self._drawn: dict[str, str] = {}
        self._to_draw: dict[str, Specification] = {}

    @property
    def pictures(self) -> Mapping[str, str]:
        """Names of files with their pictures as SVG."""
        self._draw()
        return self._drawn

    def add(self, specification: Specification, title: str, beside: int = 1) -> Drawing:
        """Adds a chart.

        Args:
            specification: The chart.
            title: Its title.
            beside: How many charts share the width of the text.
        """
        width_pt = (WIDTH_PT - (beside - 1) * _GAP_PT) / beside
        file = f"{len(self._drawn) + len(self._to_draw)}.svg"
        self._to_draw[file] = sized(specification, width_pt / _PT_PER_PX, _HEIGHTS_PX)
        if len(self._to_draw) == BATCH:
            self._draw()
        return Drawing(file, title, specification["description"])

    def in_parts(self, specification: Specification, title: str) -> tuple[Drawing, ...]:
        """Adds a chart, as several where it has more rows than fit on a page.

        Args:
            specification: The chart.
            title: Its title.
        """
        parts = in_parts(specification, _MOST_PX)
        return tuple(
            self.add(one, f"{title}, continued" if place else title)
            for place, one in enumerate(parts)
        )

    def _draw(self) -> None:
        for file, picture in named(self._to_draw.items()):
            self._drawn[file] = joined(picture)
        self._to_draw.clear()


def paper(findings: Findings, drawings: Drawings) -> Paper:
    """What the pages show.

    Args:
        findings: What to report.
        drawings: Gets the pictures.
    """
    rankings = contents.rankings(findings)
    trials = contents.trials(findings)
    hosts = [("Machine", summary) for summary, _ in contents.machines(findings).values()]
    of_sections = sections.of(findings)
    how = repeat.repeat(findings)
    notes = tuple(_common_notes(findings, trials))
    printed = {trial: one.common for one in notes for trial in one.trials}
    of_servers = servers.rows(findings, is_brief=True)
    alike = _alike([one.ran for one in of_servers if one.ran])
    foremost = tuple(_section(one, drawings) for one in of_sections if one.is_answer)
    with_page = _with_page(trials)
    shown = tuple(
        _trial(one, printed.get(one.trial.recording.trial, ()), drawings) for one in with_page
    )
    line = lines.answer(findings) if lines.of_one_server(findings) else None
    if line is not None:
        first_pictures = tuple((one,) for section in foremost for one in section.pictures)
        foremost = tuple(replace(section, pictures=()) for section in foremost)
    else:
        first_pictures = shown[0].rows if len(shown) == 1 else ()
        shown = tuple(replace(one, rows=()) for one in shown) if first_pictures else shown
    return Paper(
        campaign=findings.campaign.strip() or wording.ABSENT,
        version=findings.version,
        subtitle=contents.subtitle(findings),
        machines=tuple(summary for _, summary in hosts),
        extent=contents.extent(findings),
        conditions=contents.conditions(findings),
        answer_number=answer.NUMBER,
        answer_headings=answer.HEADINGS,
        answers=tuple(answered(one, MOST_BARS) for one in answer.answers(findings, rankings))
        if line is None
        else (of_section(line),),
        first_pictures=first_pictures,
        headlines=()
        if line is not None
        else tuple(said for section in foremost for said in section.headlines),
        configuration=[*contents.configuration(findings), *hosts],
        banner=tuple(contents.banner(findings)),
        of_yardstick=contents.of_yardstick(findings),
        limits=tuple(contents.changed_limits(findings)),
        comparison=answer.COMPARISON,
        trust=contents.TRUST,
        campaign_heading=contents.CAMPAIGN,
        of_campaign=tuple(_statement(one, one.subject) for one in contents.of_campaign(findings)),
        failed=tuple(replace(one, note=trial.title) for trial in trials for one in _error(trial)),
        doubts=tuple(map(_doubt, contents.doubts(findings))),
        detail=contents.detail(rankings),
        rankings=tuple(_ranking(one, drawings) for one in rankings),
        foremost=foremost,
        sections=(
            *_against_latency(findings, drawings),
            *(_section(one, drawings) for one in of_sections if not one.is_answer),
        ),
        servers_caption=servers.CAPTION,
        server_headings=servers.HEADINGS,
        subject=naming.subject(findings),
        servers=tuple(replace(one, ran=_without(one.ran, alike)) for one in of_servers),
        ran_alike=alike,
        server_notes=tuple((one.framework, one.common) for one in notes),
        repeat=(repeat.HEADING, repeat.CAPTION),
        how_to_repeat=None if how is None else (tuple(how.command.splitlines()), how.facts),
        as_run=tuple(contents.as_run(findings).splitlines()),
        as_run_heading=contents.AS_RUN,
        glossary=contents.glossary(findings),
        statistics=trial_numbers.STATISTIC_HEADINGS,
        trials=shown,
        left_out=_left_out(len(trials) - len(with_page)),
    )


def _with_page(trials: Sequence[TrialContents]) -> Sequence[TrialContents]:
    """The trials that have a page, in their order; of many those that are not sound come first."""
    chosen = sorted(range(len(trials)), key=lambda place: trials[place].state == "sound")
    return [trials[place] for place in sorted(chosen[:MOST_TRIALS])]


def _left_out(number: int) -> str:
    if not number:
        return ""
    more = (
        f"{wording.several(number, 'more trial')} {'has' if number == 1 else 'have'} no page here"
    )
    return f"{more}: the HTML report has every trial."


def answered(found: RankingAnswer, most_bars: int) -> PaperAnswer:
    """One ranking where there is room for a few lines.

    Args:
        found: The answer.
        most_bars: Frameworks that there is room for.
    """
    is_of_one = bool(found.tiles)
    return PaperAnswer(
        place=found.place,
        headline=found.headline,
        further=found.further,
        counts=found.counts,
        total=found.total,
        doubts=_doubts(found),
        of_trials=_named(found.of_trials, is_of_one=is_of_one),
        of_comparison=_named(found.of_comparison, is_of_one=is_of_one),
        lines=found.lines,
        subject=found.ranking.subject,
        is_alone=found.ranking.is_alone,
        tiles=found.tiles,
        bars=_to_scale(found.bars[:most_bars]),
        more=sum(not bar.is_yardstick for bar in found.bars[most_bars:]),
    )


def _to_scale(bars: tuple[Bar, ...]) -> tuple[Bar, ...]:
    """Bars on a scale that reaches no further than they need, if they are some of a ranking."""
    lengths = [bar.length for bar in bars if bar.row.state != "void"]
    longest = answer.ROOM * max(filter(None, lengths or [bar.length for bar in bars]), default=0)
    if not 0 < longest < _FULL:
        return bars

    def share(value: float | None) -> float | None:
        return None if value is None else round(min(value / longest, 1.0), 4)

    return tuple(
        replace(
            bar,
            length=share(bar.length) or 0.0,
            low=share(bar.low),
            high=share(bar.high),
            is_open=bar.is_open or (bar.high or 0.0) > longest,
        )
        for bar in bars
    )


def of_section(found: SectionAnswer) -> PaperAnswer:
    """The answer of a section where there is room for a few lines.

    Args:
        found: The answer.
    """
    said = "; ".join(reason for _, reason in found.doubts)
    return PaperAnswer(
        place=found.place,
        headline=found.headline,
        further="",
        counts=found.counts,
        total=found.total,
        doubts=(f"Doubts: {said}." if said else _NO_DOUBT,),
        of_trials=found.doubts,
        of_comparison=(),
        lines="",
        subject="framework",
        is_alone=True,
        tiles=tuple((one.name, one.number, one.about) for one in found.tiles),
        bars=(),
        more=found.more,
    )


def _named(marks: Sequence[Mark], *, is_of_one: bool) -> tuple[tuple[State, str], ...]:
    """Level and name of some doubts."""
    return tuple((mark.state, mark.name if is_of_one else mark.brief) for mark in marks)


def _doubts(found: RankingAnswer) -> tuple[str, ...]:
    """The doubts about trials in one sentence, and those about their comparison in another."""
    of = {"Doubts": found.of_trials, answer.COMPARISON: found.of_comparison}
    is_of_one = bool(found.tiles)
    reported = [
        f"{name}: {_doubts_text(marks, is_of_one=is_of_one)}."
        for name, marks in of.items()
        if marks
    ]
    return tuple(reported) or (_NO_DOUBT,)


def _doubts_text(marks: Sequence[Mark], *, is_of_one: bool) -> str:
    """Some doubts, the worst first."""
    doubts = [_doubt_text(mark, is_of_one=is_of_one) for mark in marks[:MOST_DOUBTS]]
    rest = len(marks) - len(doubts)
    more = [wording.several(rest, "further doubt")] if rest else []
    return "; ".join([*doubts, *more])


def _doubt_text(mark: Mark, *, is_of_one: bool) -> str:
    """A doubt in a few words: its check, its level, whom it is about, and what it found first."""
    concerned = "" if is_of_one else mark.concerned
    state = ", ".join(filter(None, (level_text.name(mark.state), concerned)))
    sentence = mark.remarks[0].sentences[0].clause if mark.remarks else ""
    return f"{mark.name} ({state})" + (f": {sentence}" if sentence else "")


def _statement(remark: Remark, note: str) -> Statement:
    """A verdict: each finding, and what to do about it."""
    lines: list[str] = []
    for text, remedy in remark.advised:
        lines += [text, *_arrow(remedy)]
    if note != remark.against:
        lines += filter(None, [remark.against])
    return Statement(remark.level, remark.name, note, tuple(lines))


def _arrow(remedy: str) -> list[str]:
    return [f"→ {remedy}"] if remedy else []


def _error(trial: TrialContents) -> Iterator[Statement]:
    """The error that ended a trial, if one did."""
    if trial.error:
        lines = (trial.error["message"], *_arrow(trial.error["hint"]))
        yield Statement(trial.state, trial.error["kind"], "", lines)


def _doubt(doubt: Doubt) -> Statement:
    lines = [f"{one.subject}: {one.full_text}" for one in doubt.remarks[:MOST_REMARKS]]
    rest = len(doubt.remarks) - len(lines)
    more = [f"… and {rest} more, on the pages of their trials"] if rest else []
    lines = [*_arrow(doubt.remedy), *lines, *more]
    return Statement(doubt.level, doubt.name, doubt.count, tuple(lines))


def _ranking(ranking: RankingContents, drawings: Drawings) -> PaperRanking:
    module = charts.comparison
    return PaperRanking(
        title=ranking.title or wording.ABSENT,
        pictures=drawings.in_parts(module.draw(ranking.ranking), module.TITLE),
        subject=ranking.subject,
        is_alone=ranking.is_alone,
        headings=ranking.headings,
        rows=ranking.rows,
        leads=ranking.leads,
        lead=ranking.lead,
        resolution=ranking.resolution,
    )


def _against_latency(findings: Findings, drawings: Drawings) -> Iterator[PaperSection]:
    pictures = against_latency.drawn(findings)
    if pictures:
        drawn = tuple(drawings.add(one.specification, one.title) for one in pictures)
        yield PaperSection(against_latency.TITLE, (), against_latency.CAPTION, drawn)


def _section(section: Section, drawings: Drawings) -> PaperSection:
    return PaperSection(
        title=section.title,
        headlines=section.headlines,
        caption=section.caption,
        pictures=tuple(
            part
            for one in section.pictures
            for part in drawings.in_parts(one.specification, one.title)
        ),
        tables=tuple(map(_on_paper, section.tables)),
        statements_title=section.remarks_title,
        statements=tuple(_statement(one, one.subject) for one in section.remarks),
    )


def _on_paper(table: SectionTable) -> SectionTable:
    """A table with the mark of sound as it is drawn on paper: the fonts have no ✓."""

    def marked(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(text.replace(level_text.MARKS["sound"], SOUND) for text in texts)

    lines = tuple(replace(line, cells=marked(line.cells)) for line in table.lines)
    return replace(table, lines=lines, notes=marked(table.notes))


def _alike(of_each: Sequence[Sequence[tuple[str, str]]]) -> Facts:
    """The facts that all of several servers have."""
    if not of_each[1:]:
        return []
    first, *others = of_each
    return [fact for fact in first if all(fact in facts for facts in others)]


def _without(facts: Sequence[tuple[str, str]], left_out: Facts) -> tuple[tuple[str, str], ...]:
    return tuple(fact for fact in facts if fact not in left_out)


@dataclass(frozen=True)
class _Notes:
    """Notes that all trials of a framework have: they are printed once.

    Attributes:
        framework: The framework.
        common: The notes.
        trials: Ids of its trials; a single one keeps its own notes.
    """

    framework: str
    common: tuple[str, ...]
    trials: tuple[str, ...]


def _common_notes(findings: Findings, trials: Sequence[TrialContents]) -> Iterator[_Notes]:
    of_trial = {one.trial.recording.trial: one.notes for one in trials}
    for entry in servers_seen.of_findings(findings):
        ids = tuple(one.recording.trial for one in entry.trials)
        first, *others = (of_trial[trial] for trial in ids)
        common = tuple(note for note in first if all(note in notes for notes in others))
        if others and common:
            yield _Notes(entry.framework, common, ids)


def _trial(trial: TrialContents, known: Sequence[str], drawings: Drawings) -> PaperTrial:
    """The page of a trial.

    Args:
        trial: The trial.
        known: Notes that stand elsewhere.
        drawings: Gets the pictures.
    """
    level = level_text.name(trial.state).capitalize()
    by_checks = f"{level} {trial.by_checks}" if trial.by_checks else ""
    lists = (
        ("Server", trial.server),
        ("Load generator", trial.driver),
        ("Versions", trial.versions),
    )
    return PaperTrial(
        title=trial.title,
        about=trial.about,
        state=trial.state,
        number=trial.number,
        contract=trial.contract,
        tiles=tuple(trial.headline),
        statements=(*_error(trial), *(_statement(one, one.against) for one in trial.doubts)),
        sound=": ".join(filter(None, (by_checks or "Sound", trial.sound_names)))
        if by_checks or trial.sound
        else "",
        not_checked="; ".join(one.reason for one in trial.not_checked),
        rows=tuple(_rows(trial, drawings)),
        times=tuple((name, *values) for name, _, values in trial.times),
        under_times=tuple(filter(None, (trial.why_absent, trial.hidden))),
        connections=tuple((name, count) for name, count, _ in trial.connections),
        failures=tuple(
            (one["outcome"], one["words"], one["errno"], one["count"], one["first"], one["last"])
            for one in trial.failures
        ),
        lists=tuple((title, facts) for title, facts in lists if facts),
        notes=tuple(note for note in trial.notes if note not in known),
    )


def _rows(trial: TrialContents, drawings: Drawings) -> Iterator[tuple[Drawing, ...]]:
    """The charts of a trial, as far as there is something to draw."""
    data = trial.trial.data
    known = charts.drawn(data) if data.seconds.num_rows else ()
    for row in _ROWS:
        modules = [module for module in row if module in known]
        if modules:
            beside = len(modules)
            drawn = ((one.TITLE, _in_rows(one.draw(data), beside)) for one in modules)
            yield tuple(drawings.add(chart, title, beside) for title, chart in drawn)


def _in_rows(specification: Specification, beside: int) -> Specification:
    """A chart whose legend is as wide as its place: a wider one would make the whole chart smaller.

    Kinds of failure stand side by side; many names beside two other charts, in two columns.
    """
    copy = deepcopy({name: part for name, part in specification.items() if name != "datasets"})
    for view in copy.get("vconcat", [])[1:]:
        view["encoding"]["color"]["legend"]["columns"] = 4 // beside
    if beside > 2 and _most_names(copy) >= beside + 1:  # noqa: PLR2004
        copy["config"]["legend"] = {**copy["config"].get("legend", {}), "columns": 2}
    return {**specification, **copy}


def _most_names(part: object) -> int:
    """How many names the longest legend of a chart has."""
    if isinstance(part, list):
        return max(map(_most_names, cast("list[object]", part)), default=0)
    if not isinstance(part, dict):
        return 0
    known = cast("dict[str, object]", part)
    return max(_names(known.get("color")), *map(_most_names, known.values()), 0)


def _names(colour: object) -> int:
    """How many names the scale of a colour has; 0 for one of numbers, or without a scale."""
    scale = cast("dict[str, object]", colour).get("scale") if isinstance(colour, dict) else None
    domain = cast("dict[str, object]", scale).get("domain") if isinstance(scale, dict) else None
    return len(cast("list[object]", domain)) if isinstance(domain, list) else 0
