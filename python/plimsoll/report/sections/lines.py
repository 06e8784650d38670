"""The section on load lines: which rate each framework carries inside limits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import charts, wording
from plimsoll.report.contents import anchor, line_curve, naming, several
from plimsoll.report.contents.gist import JudgedTile
from plimsoll.report.contents.section import (
    Picture,
    Section,
    SectionAnswer,
    SectionTable,
    TableRow,
)
from plimsoll.report.contents.several import Judged
from plimsoll.report.results import line_result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.load_lines import EntryLines, LineFindings, LineRanking, RankedLine
    from plimsoll.findings.rankings import RankedEntry
    from plimsoll.load_line.search import Line
    from plimsoll.report.contents.gist import Tile

ANCHOR = "load-lines"
TITLE = "Load lines"
DEFINITION = (
    "The load line is the greatest open-model rate within the limits of latency and errors, with "
    "at least 99 % of the due requests sent. Latency counts from the intended start. "
)
CLOSED_PEAK = "The closed peak is the throughput without a limit."
CAPTION = (
    f"{DEFINITION}Each try of a rate has a fresh server process, so intervals are over processes "
    f"as well. Frameworks whose intervals overlap share ranks. {CLOSED_PEAK}"
)
CAPTION_OF_ONE = (
    f"{DEFINITION}Every try was of the same server process, and the interval is its own. "
    f"{CLOSED_PEAK}"
)

_HEADINGS = (
    *("rank", "load line, requests/s", "95 %", "tries"),
    *("closed peak", "rank by peak", "line / peak", "saturated beyond the line"),
)
"""Headings after that of the name."""

_NUMBERS = (1, 2, 3, 4, 5, 6, 7)
_BRIEF = (1, 2, 5)
_RANKS = (1, 6)
"""Columns that one row alone does not have."""


def section(findings: Findings) -> Section | None:
    """The section; None for a campaign of another kind.

    Args:
        findings: What to report.
    """
    if not findings.lines:
        return None
    by_peak = {
        (ranking.endpoint, one.framework): one
        for ranking in findings.rankings
        for one in ranking.entries
    }
    alone = of_one_server(findings)
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        short=TITLE,
        caption=CAPTION if alone is None else CAPTION_OF_ONE,
        tables=tuple(
            _table(one, by_peak, naming.subject(findings)) for one in findings.line_rankings
        ),
        pictures=tuple(map(_ranking, findings.line_rankings))
        if alone is None
        else (line_curve.picture(alone),),
        headlines=tuple(map(headline, findings.line_rankings))
        if alone is None
        else (line_result.one_line(alone),),
        is_answer=True,
    )


def of_one_server(findings: Findings) -> LineFindings | None:
    """What `plimsoll line` found of a server that ran already; None for a campaign."""
    found = next((one.found for one in findings.lines), None)
    return None if found is None or found.searched.wanted.has_processes else found


def answer(findings: Findings) -> SectionAnswer | None:
    """What the search for load lines answered; None for a campaign of another kind.

    Args:
        findings: What to report.
    """
    if not findings.line_rankings:
        return None
    alone = of_one_server(findings)
    return _of_ranking(findings.line_rankings[0]) if alone is None else _of_server(alone)


def _of_ranking(ranking: LineRanking) -> SectionAnswer:
    is_beside = any(not one.entry.is_yardstick for one in ranking.places)
    return several.answer(
        f"Load lines at {_title(ranking)}",
        headline(ranking),
        "load line",
        [_judged(one, is_beside=is_beside) for one in ranking.places],
    )


def _judged(one: RankedLine, *, is_beside: bool) -> Judged:
    line, is_yardstick = one.line, one.entry.is_yardstick and is_beside
    is_known = line is not None and line.edge is not None
    reason = _reason_in_brief(one)
    tile = JudgedTile(
        one.entry.framework,
        f"{line_result.line_text(line)}/s" if line and is_known else wording.ABSENT,
        _how_well_known(line) if line and is_known else _without_number(one),
        one.state,
        is_yardstick,
    )
    return Judged(tile, one.state, reason)


def _reason_in_brief(one: RankedLine) -> str:
    """Why there is no line or none that counts, or what is doubtful of it, in a few words."""
    found, line = one.entry.found, one.line
    if found is None or line is None:
        return one.entry.problem
    held = found.held.get(line.limit.name)
    doubts = several.doubts_in_brief([] if held is None else [held])
    wide = line_result.WIDE if line in found.wide else ""
    return ", ".join(filter(None, (_without_number(one), doubts, wide)))


def _without_number(one: RankedLine) -> str:
    """Why there is no line or none of the server's own, in a few words; else empty."""
    if one.entry.found is None or one.line is None:
        return one.entry.problem
    return line_result.without_number(one.entry.found, one.line)


def _of_server(found: LineFindings) -> SectionAnswer:
    line, doubt = line_result.shown(found), line_result.doubt(found)
    return SectionAnswer(
        place=f"Load line of {found.subject.name}",
        headline=line_result.sentence(found),
        counts=((found.level, 1),),
        total="",
        doubts=((found.level, doubt),) if doubt else (),
        tiles=tuple(JudgedTile(*tile) for tile in _tiles(found, line)),
    )


def _tiles(found: LineFindings, line: Line) -> Iterator[Tile]:
    rate = line_result.rate_text
    ends = line_result.interval_text(line)
    hardly = ", hardly known" if line.is_hardly_known else ""
    yield "Load line", f"{line_result.line_text(line)}/s", f"{line.limit.text}{hardly}"
    yield "95 % interval", ends, "requests/s"
    for name, at_per_s, where in (
        ("Held", line.held_per_s, "below the line"),
        ("Failed", line.failed_per_s, "beyond the line"),
    ):
        yield name, wording.ABSENT if at_per_s is None else f"{rate(at_per_s)}/s", where
    yield "Closed peak", f"{rate(found.searched.start_per_s)}/s", "throughput without a limit"
    yield "Connections", wording.count(found.subject.connections), "in the pool"
    yield "Tries", str(len(found.searched.tries)), wording.seconds(round(found.searched.elapsed_s))


def _how_well_known(line: Line) -> str:
    """The interval of a line; of one that is hardly known the rate is its interval."""
    if line.is_hardly_known:
        return "95 %, hardly known"
    return f"95 %: {line_result.interval_text(line)}"


def headline(ranking: LineRanking) -> str:
    """Who carries the most at an endpoint, beside the next one."""
    limit = ranking.limit.text
    carried = [
        (one.entry.framework, one.line)
        for one in ranking.places
        if one.line is not None and one.rank
    ]
    if not carried:
        is_known = any(one.line and one.line.edge for one in ranking.places)
        missing = "counts" if is_known else "was found"
        return f"No load line {missing} at {ranking.endpoint} with {limit}"
    name, line = carried[0]
    most = line_result.carried(name, line, f"of {ranking.endpoint} with {limit}")
    if line.is_hardly_known:
        most = wording.capital(most)
    others = [f"{other} {line_result.line_text(each)}" for other, each in carried[1:2]]
    return "; ".join([most, *others])


def _title(ranking: LineRanking) -> str:
    return f"{ranking.endpoint}, {ranking.limit.text}"


def _ranking(ranking: LineRanking) -> Picture:
    return Picture(
        anchor("line-ranking", ranking.endpoint, ranking.limit.name),
        f"Carried and peak: {_title(ranking)}",
        charts.line_ranking,
        charts.line_ranking.draw(ranking),
    )


def _table(
    ranking: LineRanking, by_peak: Mapping[tuple[str, str], RankedEntry], subject: str
) -> SectionTable:
    lines = [_line(one, by_peak) for one in ranking.places]
    absent = _RANKS if len(lines) == 1 else ()
    headings = (subject, *_HEADINGS)
    kept = [place for place in range(len(headings)) if place not in absent]
    return SectionTable(
        title=_title(ranking),
        headings=tuple(headings[place] for place in kept),
        numbers=tuple(now for now, place in enumerate(kept) if place in _NUMBERS),
        lines=tuple(
            replace(line, cells=tuple(line.cells[place] for place in kept)) for line in lines
        ),
        verdict="verdict",
        brief=tuple(now for now, place in enumerate(kept) if place in _BRIEF),
        notes=tuple(note for one in ranking.places for note in _notes(one.entry)),
    )


def _line(one: RankedLine, by_peak: Mapping[tuple[str, str], RankedEntry]) -> TableRow:
    entry, line = one.entry, one.line
    peak = by_peak.get((entry.endpoint, entry.framework))
    beyond = entry.found and line and entry.found.beyond.get(line.limit.name)
    of_peak = (
        line_result.share_text(line, entry.peak.value) if line and entry.peak else wording.ABSENT
    )
    first = (
        entry.found.searched.tries[0].trial if entry.found and entry.found.searched.tries else ""
    )
    cells = (
        entry.framework,
        one.rank or wording.ABSENT,
        line_result.line_text(line) if line else wording.ABSENT,
        line_result.interval_text(line) if line else wording.ABSENT,
        str(len(entry.found.searched.tries)) if entry.found else wording.ABSENT,
        line_result.rate_text(entry.peak and entry.peak.value),
        (peak and peak.rank) or wording.ABSENT,
        of_peak,
        beyond.sentence if beyond else wording.ABSENT,
    )
    return TableRow(cells, one.state, _reason(one), anchor("trial", first) if first else "")


def _reason(one: RankedLine) -> str:
    """Why there is no line or none that counts, or what is doubtful of it."""
    found = one.entry.found
    if found is None or one.line is None:
        return one.entry.problem
    if one.line.edge is None or found.is_of_driver(one.line):
        return line_result.sentence_of(found, one.line)
    return line_result.doubt_of(found, one.line)


def _notes(entry: EntryLines) -> Iterator[str]:
    """What else must be known of an entry: gaps, a slowdown, a search that is not over."""
    if entry.found is None:
        return
    name = entry.found.subject.name
    for said in line_result.notable(entry.found):
        yield f"{name}: {said}"
    if entry.problem:
        yield f"{name}: the search ended early: {entry.problem}"
    elif entry.goes_on:
        yield f"{name}: not finished; run the same `plimsoll run` again to resume"
