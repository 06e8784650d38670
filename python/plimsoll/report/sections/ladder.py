"""The section on ladders: what a request costs each server, and its idle cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import charts, wording
from plimsoll.report import estimate_text
from plimsoll.report.contents import anchor, looks, several
from plimsoll.report.contents.gist import JudgedTile
from plimsoll.report.contents.section import (
    Picture,
    Section,
    SectionAnswer,
    SectionTable,
    TableRow,
)
from plimsoll.report.contents.several import Judged
from plimsoll.statistics import ranks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.ladders import EntryLadder, LadderRanking, RankedLadder
    from plimsoll.statistics.intervals import Estimate

ANCHOR = "ladders"
TITLE = "Cost at a rate"
CAPTION = (
    "Every server had the same rates, each with fresh processes. A straight line through the cores "
    "that it kept busy has two numbers: the slope is the cost per request, the intercept the idle "
    "cost. CPU seconds per million requests are microseconds per "
    "request. Intervals are over processes. Steps at which the server was at its limit are left "
    "out. Frameworks whose intervals overlap share ranks."
)
MILLION = 1e6
MOST_LEFT_OUT = 3
"""Rates of a framework at which steps are left out and named, each with its first reason."""

_ADDED = (
    *("framework", "rank", "CPU s per million requests", "95 %", "user", "system"),
    *("context switches/request", "system calls/request", "steps"),
)
_SYSTEM_CALLS = _ADDED.index("system calls/request")
_STANDING = (
    *("framework", "cores at rate 0", "95 %", "cores before", "cores after"),
    *("memory before", "at the highest rate", "after"),
)
_POWER = (
    "framework",
    "energy per request",
    "95 %",
    "power at rate 0",
    "95 %",
    "power without load",
)


def section(findings: Findings) -> Section | None:
    """The section; None for a campaign of another kind.

    Args:
        findings: What to report.
    """
    if not findings.ladders:
        return None
    found = findings.ladder_rankings
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        short=TITLE,
        caption=CAPTION,
        tables=tuple(table for one in found for table in _tables(one)),
        pictures=tuple(_picture(one, findings) for one in found),
        headlines=tuple(map(headline, found)),
        is_answer=True,
    )


def headline(ranking: LadderRanking) -> str:
    """Whose requests cost the least at an endpoint, beside the next one."""
    ranked = [one.ladder for one in ranking.places if one.ranks is not None]
    costs = [(one.framework, one.cores.slope) for one in ranked if one.cores is not None]
    if not costs:
        return f"No cost of a request at {ranking.endpoint} is known with its interval"
    (name, slope), *others = costs
    ends = f" (95 %: {_ends(slope, MILLION)})" if slope.interval else ""
    least = f"A request at {ranking.endpoint} costs {name} {_per_million(slope)} µs of CPU{ends}"
    return "; ".join([least, *(f"{one} {_per_million(each)} µs" for one, each in others[:1])])


def answer(findings: Findings) -> SectionAnswer | None:
    """What a ladder answered; None for a campaign of another kind.

    Args:
        findings: What to report.
    """
    if not findings.ladder_rankings:
        return None
    ranking = findings.ladder_rankings[0]
    is_beside = any(not one.ladder.is_yardstick for one in ranking.places)
    return several.answer(
        f"CPU time of a request at {ranking.endpoint}",
        headline(ranking),
        "framework",
        [_judged(one.ladder, is_beside=is_beside) for one in ranking.places],
    )


def _judged(ladder: EntryLadder, *, is_beside: bool) -> Judged:
    slope = ladder.cores and ladder.cores.slope
    reason = _reason(ladder) or several.doubts_in_brief(one.trial for one in ladder.counting)
    tile = JudgedTile(
        ladder.framework,
        f"{_per_million(slope)} µs" if slope else wording.ABSENT,
        f"95 %: {_ends(slope, MILLION)}" if slope and slope.interval else _reason(ladder),
        ladder.state,
        ladder.is_yardstick and is_beside,
    )
    return Judged(tile, ladder.state, reason)


def _picture(ranking: LadderRanking, findings: Findings) -> Picture:
    return Picture(
        anchor(ANCHOR, ranking.endpoint),
        f"Cores over rate: {ranking.endpoint}",
        charts.ladder,
        charts.ladder.draw(ranking, looks.entries(findings)),
    )


def _tables(ranking: LadderRanking) -> Iterator[SectionTable]:
    ladders = [one.ladder for one in ranking.places]
    added = SectionTable(
        title=f"What each request adds: {ranking.endpoint}",
        headings=_ADDED,
        numbers=tuple(range(1, len(_ADDED))),
        lines=tuple(map(_added, ranking.places)),
        verdict="verdict",
        brief=(1, 2, 3),
        notes=tuple(note for one in ladders for note in _notes(one)),
    )
    counted = any(known is not None for one in ladders for known in one.system_calls)
    yield added if counted else _without(added, _SYSTEM_CALLS)
    yield SectionTable(
        title=f"Idle cost: {ranking.endpoint}",
        headings=_STANDING,
        numbers=tuple(range(1, len(_STANDING))),
        lines=tuple(map(_standing, ladders)),
        brief=(1, 3, 5),
    )
    if any(one.power is not None for one in ladders):
        yield SectionTable(
            title=f"Power: {ranking.endpoint}",
            headings=_POWER,
            numbers=tuple(range(1, len(_POWER))),
            lines=tuple(map(_energy, ladders)),
            brief=(1, 3),
            notes=(_source(ladders), *(note for one in ladders for note in _power_notes(one))),
        )


def _added(one: RankedLadder) -> TableRow:
    ladder = one.ladder
    slopes = [line and line.slope for line in (ladder.cores, ladder.user, ladder.system)]
    cells = (
        ladder.framework,
        ranks.text(one.ranks) or wording.ABSENT,
        _per_million(slopes[0]),
        _ends(slopes[0], MILLION),
        *(_per_million(slope) for slope in slopes[1:]),
        _from_to(ladder.switches),
        _from_to(ladder.system_calls),
        f"{len(ladder.counting)} of {len(ladder.steps)}",
    )
    first = ladder.steps[0].trial.recording.trial if ladder.steps else ""
    return TableRow(cells, ladder.state, _reason(ladder), anchor("trial", first) if first else "")


def _standing(ladder: EntryLadder) -> TableRow:
    intercept = ladder.cores and ladder.cores.intercept
    before, after = ladder.standing_bytes("before"), ladder.standing_bytes("after")
    cells = (
        ladder.framework,
        _cores(intercept),
        _ends(intercept, 1.0),
        _cores(ladder.standing_cores("before")),
        _cores(ladder.standing_cores("after")),
        wording.size(estimate_text.value_of(before)),
        wording.size(ladder.loaded_bytes),
        wording.size(estimate_text.value_of(after)),
    )
    return TableRow(cells)


def _energy(ladder: EntryLadder) -> TableRow:
    slope = ladder.power and ladder.power.slope
    intercept = ladder.power and ladder.power.intercept
    cells = (
        ladder.framework,
        wording.joules(estimate_text.value_of(slope)),
        "–".join(map(wording.joules, (slope.interval.low, slope.interval.high)))
        if slope and slope.interval
        else wording.ABSENT,
        wording.power(estimate_text.value_of(intercept)),
        _ends(intercept, 1.0),
        wording.power(ladder.idle_power_w),
    )
    return TableRow(cells)


def _source(ladders: Sequence[EntryLadder]) -> str:
    """Which power the table has, and why not that of a meter which was read."""
    if any(one.power_source == "wall" for one in ladders):
        return "Power is that of the host, measured at the wall."
    sentence = "Power is that of the host by RAPL"
    costs = [step.cost for one in ladders for step in one.counting if step.cost is not None]
    if any("wall" in one.power for one in costs):
        return f"{sentence}: that at the wall is unknown at some steps of the campaign."
    return f"{sentence}."


def _per_million(slope: Estimate | None) -> str:
    return wording.ABSENT if slope is None else wording.number(slope.value * MILLION, 3)


def _cores(found: Estimate | None) -> str:
    return wording.ABSENT if found is None else wording.decimals(found.value, 3)


def _ends(found: Estimate | None, factor: float) -> str:
    """An interval: `0.10 to 0.21`, since an end may be negative."""
    if found is None or found.interval is None:
        return wording.ABSENT
    low, high = found.interval.low * factor, found.interval.high * factor
    return f"{wording.number(low, 3)} to {wording.number(high, 3)}"


def _without(table: SectionTable, place: int) -> SectionTable:
    """A table without one of its columns of numbers, none of which is known."""

    def rest(cells: tuple[str, ...]) -> tuple[str, ...]:
        return cells[:place] + cells[place + 1 :]

    lines = tuple(replace(line, cells=rest(line.cells)) for line in table.lines)
    return replace(table, headings=rest(table.headings), numbers=table.numbers[:-1], lines=lines)


def _from_to(ends: tuple[float | None, float | None]) -> str:
    """At the lowest and the highest rate: batches grow with the rate."""
    low, high = ends
    if low is None or high is None:
        return wording.ABSENT
    return f"{wording.number(low, 2)} → {wording.number(high, 2)}"


def _reason(ladder: EntryLadder) -> str:
    """Why there is no line."""
    if ladder.cores is not None:
        return ""
    reasons = dict.fromkeys(one.left_out for one in ladder.steps if one.left_out)
    return next(iter(reasons), "no two rates were measured")


def _notes(ladder: EntryLadder) -> Iterator[str]:
    """What else must be known: a line that bends, and steps that are left out."""
    if ladder.cores is not None and ladder.cores.bend is not None:
        yield f"{ladder.framework}: {_bent('cost', ladder.cores.bend)}"
    rates = dict.fromkeys(one.requested_per_s for one in ladder.steps if one.left_out)
    for rate_per_s in [*rates][:MOST_LEFT_OUT]:
        every = [one for one in ladder.steps if one.requested_per_s == rate_per_s]
        left_out = [one for one in every if one.left_out]
        steps = f"{len(left_out)} of {wording.several(len(every), 'step')}"
        verb = "is" if len(left_out) == 1 else "are"
        at = f"at {wording.per_second(rate_per_s)}"
        yield f"{ladder.framework}: {steps} {at} {verb} left out: {left_out[0].left_out}"
    if (more := len(rates) - MOST_LEFT_OUT) > 0:
        yield f"{ladder.framework}: so are steps at {wording.several(more, 'further rate')}"


def _power_notes(ladder: EntryLadder) -> Iterator[str]:
    """That the line of power bends."""
    if ladder.power is not None and ladder.power.bend is not None:
        yield f"{ladder.framework}: {_bent('energy', ladder.power.bend)}"


def _bent(what: str, bend: float) -> str:
    """What a line that bends beyond chance says of the numbers."""
    cheap, dear = ("highest", "lowest") if bend < 0 else ("lowest", "highest")
    less = wording.percent(min(abs(round(bend, 3)), 1.0))
    return (
        f"{what} per request is {less} lower at the {cheap} rate than at the {dear}: the fit is "
        "not linear; do not extrapolate to rate 0"
    )
