"""Answer: what the first screen shows of one ranking, before anything else.

Who is fastest, by how much, whether the numbers can be believed, and the bars beside each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.findings import distributions
from plimsoll.report import contents, load_text
from plimsoll.report.contents import gist, naming
from plimsoll.statistics.intervals import Interval
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.verdict import worst

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.findings.distributions import Distributions
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.rankings import RankedEntry, Ranking
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.report.contents import RankingContents, Remark, Row
    from plimsoll.report.contents.gist import Tile

SHOWN = 3
"""Sentences of one doubt that the first screen shows; the rest is shown below."""

ROOM = 1.06
"""Length of the scale of the bars / the greatest number on it."""

NUMBER = "Requests/s"
"""Heading of the bars and their numbers: successful ones."""

HEADINGS = ("vs. the best (95 %)", "p50", "p99", "CPU/request")
"""Columns beside the bars."""

LABELS = ("vs. best", "p50", "p99", "CPU")
"""The same where there is little room."""

COMPARISON = "Comparison"
"""What doubts are about that no trial has: how repetitions, servers and blocks compare."""

LAID_OVER = 3
"""Frameworks whose latencies are laid over each other until the reader chooses."""

MOST_LAID_OVER = 4
"""The most that the reader can choose."""

MOST_NAMED = 2
"""Frameworks that a mark names."""

MOST_MARKS = 6
"""Marks that the first screen has room for."""


@dataclass(frozen=True)
class Bar:
    """One framework on the first screen.

    Attributes:
        row: Its row in the ranking.
        is_yardstick: Whether it is Plimsoll's own server, which has no rank.
        is_void: Whether its number does not count.
        length: Its number as a share of the scale, from 0 to 1.
        low: Lower end of its interval on the same scale; None where there is none. Ranks rest on
            ratios, so it is that of the ratio to the best, as a share of the best; of its own
            number where nothing is compared.
        high: Upper end of it.
        is_open: Whether the interval reaches beyond the scale.
        columns: A text for each of `HEADINGS`.
    """

    row: Row
    is_yardstick: bool
    is_void: bool
    length: float
    low: float | None
    high: float | None
    is_open: bool
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Mark:
    """What one check says against some trials: a mark, and its sentences on demand.

    Attributes:
        state: The level.
        name: Name of the check, or kind of the error.
        entries: The frameworks it is about; empty where it is about none, or all, of them.
        count: How many trials it concerns; 0 for the campaign.
        remedies: What to do, each once.
        remarks: The findings on each trial, the first few.
        more: How many are left out.
    """

    state: State
    name: str
    entries: tuple[str, ...]
    count: int
    remedies: tuple[str, ...]
    remarks: tuple[Remark, ...]
    more: int

    @property
    def concerned(self) -> str:
        """Whom it is about, and in how many trials: `go, node in 3 trials`; may be empty."""
        trials = wording.several(self.count, "trial") if self.count else ""
        if not self.entries:
            return trials
        names = wording.listed(self.entries, MOST_NAMED)
        return f"{names} in {trials}" if trials else names

    @property
    def brief(self) -> str:
        """Its name and whom it is about: `Not steady: go, node in 3 trials`."""
        return f"{self.name}: {self.concerned}" if self.concerned else self.name


@dataclass(frozen=True)
class RankingAnswer:
    """What the first screen says of one ranking.

    Attributes:
        anchor: Its anchor.
        title: Endpoint, and load and driver where there are several.
        place: What the headline is about.
        about: What a request at the endpoint is; empty where that is not known.
        headline: Who is fastest and by how much.
        further: The first one that is clearly behind, where that is not the next one; else empty.
        counts: How many trials are in each state, without the states that none is in.
        total: How many trials there are, and of what they are the product, in words.
        of_trials: The doubts about them, the worst first; no more than there is room for.
        of_comparison: The doubts about their comparison, which every trial may be sound beside.
        more_marks: How many are left out.
        load: The load in one sentence.
        lines: What the lines on the bars are; empty where there are none.
        tiles: Of one load of a target, in place of bars: name, number and what belongs to it.
        bars: The frameworks, the best first.
        distributions: Their latencies by quantile; None where none is known.
        ranking: The ranking.
    """

    anchor: str
    title: str
    place: str
    about: str
    headline: str
    further: str
    counts: tuple[tuple[State, int], ...]
    total: str
    of_trials: tuple[Mark, ...]
    of_comparison: tuple[Mark, ...]
    more_marks: int
    load: str
    lines: str
    tiles: tuple[Tile, ...]
    bars: tuple[Bar, ...]
    distributions: Distributions | None
    ranking: RankingContents


def answers(findings: Findings, rankings: Sequence[RankingContents]) -> list[RankingAnswer]:
    """What the first screen says of each ranking.

    Args:
        findings: What to report.
        rankings: Its rankings, as `contents.rankings` gives them.
    """
    by_id = {trial.recording.trial: trial for trial in findings.trials}
    return [
        _answer(
            one,
            by_id,
            contents.of_table(findings, one.ranking.table),
            what="Closed peak" if findings.lines or findings.ladders else "",
        )
        for one in rankings
    ]


def _answer(
    ranking: RankingContents,
    by_id: dict[str, TrialFindings],
    doubting: Sequence[Remark],
    *,
    what: str,
) -> RankingAnswer:
    ranked = _ranked(ranking)
    trials = [by_id[repetition.trial] for entry in ranked for repetition in entry.repetitions]
    states: list[State] = [trial.state for trial in trials]
    own = _trial_marks(trials)
    of_campaign = _campaign_marks(doubting, [entry.framework for entry in ranked])
    names = {mark.name for mark in own}
    every = [*own, *(mark for mark in of_campaign if mark.name not in names)]
    marks = sorted(every, key=lambda mark: (-STATES.index(mark.state), -mark.count))
    return RankingAnswer(
        anchor=ranking.anchor.replace("ranking", "at", 1),
        title=ranking.title,
        place=f"{what or ('Fastest' if ranking.lead else 'Measured')} at {ranking.title}",
        about=_ABOUT.get(ranking.ranking.endpoint, ""),
        headline=_headline(ranking, by_id, what.lower(), states),
        further=ranking.clear_lead,
        counts=tuple((state, states.count(state)) for state in STATES if state in states),
        total=_total(ranked, is_beside=ranked is not ranking.ranking.entries),
        of_trials=tuple(mark for mark in marks[:MOST_MARKS] if mark.count),
        of_comparison=tuple(mark for mark in marks[:MOST_MARKS] if not mark.count),
        more_marks=len(marks[MOST_MARKS:]),
        load=load_text.sentence(trials[0].recording.load),
        lines=_lines(ranking.ranking.entries),
        tiles=gist.of_trial(trials[0]) if len(trials) == 1 and _is_target(ranking) else (),
        bars=_bars(ranking),
        distributions=distributions.of_ranking(ranking.ranking, by_id),
        ranking=ranking,
    )


_ABOUT = {endpoint.name: endpoint.summary for endpoint in ENDPOINTS}

STATES: tuple[State, ...] = ("sound", "not_checked", "doubtful", "void", "failed")
"""The states of trials, the worst last."""


def _ranked(ranking: RankingContents) -> Sequence[RankedEntry]:
    """Whom the answer is about: not the yardstick, whose row has a verdict of its own."""
    entries = ranking.ranking.entries
    frameworks = tuple(one for one in entries if not one.is_yardstick)
    return frameworks if frameworks and len(frameworks) < len(entries) else entries


def _total(ranked: Sequence[RankedEntry], *, is_beside: bool) -> str:
    """How many trials: `30 trials (5 frameworks × 6 repetitions, without the yardstick)`."""
    counts = sorted(len(entry.repetitions) for entry in ranked)
    trials = wording.several(sum(counts), "trial")
    if not ranked[1:]:
        return trials
    frameworks = wording.several(len(ranked), "framework")
    fewest, most = counts[0], counts[-1]
    repetitions = wording.several(most, "repetition")
    product = f" × {repetitions}" if fewest == most else f", {fewest} to {repetitions}"
    return f"{trials} ({frameworks}{product}{', without the yardstick' if is_beside else ''})"


def _is_target(ranking: RankingContents) -> bool:
    """Whether one target was loaded; a campaign of one framework may yet get others."""
    return ranking.is_alone and ranking.subject == naming.TARGET


def _headline(
    ranking: RankingContents,
    by_id: dict[str, TrialFindings],
    what: str,
    states: Sequence[State],
) -> str:
    """Who is fastest and by how much; the only one's number; or why nothing can be said."""
    if ranking.lead:
        return ranking.lead
    pairs = _frameworks(ranking)
    counting = [pair for pair in pairs if _counts(pair[0])]
    if not counting:
        trials = f"{'every' if states[1:] else 'the'} trial{what and ' at it'}"
        return f"No {what or 'number'} counts: {trials} {_ended(states)}"
    why = _without_ratio(pairs, by_id)
    row, entry = max(counting, key=lambda pair: pair[1].value or 0.0)
    if not entry.value:
        return wording.capital(why)
    between = f" (95 %: {row.interval})" if row.interval else ""
    own = f"{row.framework}: {row.number}{between}"
    return f"{own}. No ratio: {why}" if why else own


def _without_ratio(
    pairs: Iterable[tuple[Row, RankedEntry]], by_id: dict[str, TrialFindings]
) -> str:
    """Who cannot be compared, and why: `no goodput of node (Wrong responses)`; may be empty."""
    found: dict[tuple[str, str], list[str]] = {}
    for row, entry in pairs:
        lack = _lack(entry) if _counts(row) else "no trial of {} counts"
        if lack:
            checks = _checks_of_goodput(entry, by_id) if _counts(row) else row.reason
            found.setdefault((lack, checks), []).append(row.framework)
    return "; ".join(
        f"{lack.format(wording.listed(names))}{f' ({checks})' if checks else ''}"
        for (lack, checks), names in found.items()
    )


def _lack(entry: RankedEntry) -> str:
    """What an entry lacks for a ratio, with a place for its name; empty where it lacks nothing."""
    known = [value for value in _counted(entry).values() if value is not None]
    zeros = sum(not value for value in known)
    if not known:
        return "no goodput of {}"
    if not zeros:
        return ""
    repetitions = wording.several(len(known), "repetition")
    where = "" if zeros == len(known) else f" in {zeros} of {repetitions}"
    return f"no successful response of {{}}{where}"


def _checks_of_goodput(entry: RankedEntry, by_id: dict[str, TrialFindings]) -> str:
    """The checks that doubt the trials of an entry that have no goodput."""
    verdicts = (
        verdict
        for trial, value in _counted(entry).items()
        if not value
        for verdict in by_id[trial].verdicts
    )
    doubts = (
        one
        for one in verdicts
        if one.level == "doubtful" and catalogue.role(one.check).explains_goodput
    )
    return ", ".join(dict.fromkeys(map(catalogue.title_of, doubts)))


def _counted(entry: RankedEntry) -> dict[str, float | None]:
    """Goodput of each trial of an entry that counts."""
    return {one.trial: one.value for one in entry.repetitions if one.level != "void"}


def _counts(row: Row) -> bool:
    """Whether any trial of a framework counts."""
    return row.state not in ("void", "failed")


def _ended(states: Sequence[State]) -> str:
    """What became of trials none of which counts."""
    if "failed" not in states:
        return "is void"
    return "failed" if {*states} == {"failed"} else "failed or is void"


def _frameworks(ranking: RankingContents) -> list[tuple[Row, RankedEntry]]:
    """The rows without the yardstick, each with its entry."""
    pairs = zip(ranking.rows, ranking.ranking.entries, strict=True)
    return [(row, entry) for row, entry in pairs if not entry.is_yardstick]


def _bars(ranking: RankingContents) -> tuple[Bar, ...]:
    entries = ranking.ranking.entries
    scale = _scale(ranking.ranking)
    best = next((one.value for one in entries if one.rank_low is not None), None)
    is_compared = any(one.to_best is not None for one in entries)
    return tuple(
        _bar(row, entry, scale, _ends(entry, best) if is_compared else _own_ends(entry))
        for row, entry in zip(ranking.rows, entries, strict=True)
    )


def _lines(entries: Sequence[RankedEntry]) -> str:
    """What the lines on the bars are: of ratios where something is compared."""
    if any(entry.to_best and entry.to_best.interval for entry in entries):
        return "95 % interval of the ratio to the best, which itself has none"
    return "95 % interval" if any(entry.low is not None for entry in entries) else ""


def _ends(entry: RankedEntry, best: float | None) -> Interval | None:
    """The interval of its ratio to the best, as responses per second beside those of the best."""
    ratio = entry.to_best
    if best is None or ratio is None or ratio.interval is None:
        return None
    return Interval(best * ratio.interval.low, best * ratio.interval.high)


def _own_ends(entry: RankedEntry) -> Interval | None:
    if entry.low is None or entry.high is None:
        return None
    return Interval(entry.low, entry.high)


def _scale(ranking: Ranking) -> float:
    """The number at the right end of the bars: void ones may reach over it, others not."""
    values = [one.value for one in ranking.entries if one.value and one.level != "void"]
    every = [one.value for one in ranking.entries if one.value]
    return ROOM * max(values or every, default=1.0)


def _bar(row: Row, entry: RankedEntry, scale: float, ends: Interval | None) -> Bar:
    def share(value: float | None) -> float | None:
        return None if value is None else round(min(max(value / scale, 0.0), 1.0), 4)

    return Bar(
        row=row,
        is_yardstick=entry.is_yardstick,
        is_void=row.state in ("void", "failed"),
        length=share(entry.value) or 0.0,
        low=share(ends.low if ends else None),
        high=share(ends.high if ends else None),
        is_open=ends is not None and ends.high > scale,
        columns=(row.of_best, row.others[0][1], row.others[1][1], row.cpu_per_request),
    )


def _trial_marks(trials: Sequence[TrialFindings]) -> list[Mark]:
    """One mark for each check that doubts and level, and for each kind of error.

    A trial is in one mark of a check, that of the worst which the check says of it.
    """
    of_trial: dict[tuple[str, str], State] = {}
    remarks: dict[tuple[State, str], list[Remark]] = {}
    remedies: dict[tuple[State, str], list[str]] = {}
    for doubt in contents.doubts_of(trials):
        for remark in doubt.remarks:
            level = of_trial.setdefault((doubt.name, remark.subject), doubt.level)
            remarks.setdefault((level, doubt.name), []).append(remark)
            remedies.setdefault((level, doubt.name), []).append(doubt.remedy)
    marks = [
        _mark(level, name, found, tuple(dict.fromkeys(filter(None, advised))), trials)
        for ((level, name), found), advised in zip(remarks.items(), remedies.values(), strict=True)
    ]
    return [*marks, *_failure_marks(trials)]


def _mark(
    state: State,
    name: str,
    remarks: Sequence[Remark],
    remedies: tuple[str, ...],
    trials: Sequence[TrialFindings],
) -> Mark:
    """A mark on some of the trials of a ranking."""
    concerned = {remark.subject for remark in remarks}
    names = [one.recording.title for one in trials if contents.title(one.recording) in concerned]
    return Mark(
        state,
        name,
        _if_some(names, [one.recording.title for one in trials]),
        len(concerned),
        remedies,
        tuple(remarks[:SHOWN]),
        len(remarks[SHOWN:]),
    )


def _if_some(names: Iterable[str], every: Iterable[str]) -> tuple[str, ...]:
    """Each name once; none where these are all of several, which no doubt tells apart."""
    found, whole = dict.fromkeys(names), dict.fromkeys(every)
    return () if len(found) == len(whole) > 1 else tuple(found)


def _failure_marks(trials: Sequence[TrialFindings]) -> list[Mark]:
    """One mark for each kind of error."""
    grouped: dict[str, list[TrialFindings]] = {}
    for trial in trials:
        if not trial.has_ended_well:
            grouped.setdefault(trial.recording.ending.kind, []).append(trial)
    return [
        _mark(
            "failed",
            kind,
            [contents.ended(trial) for trial in ended],
            tuple(dict.fromkeys(one.recording.ending.hint for one in ended)),
            trials,
        )
        for kind, ended in grouped.items()
    ]


def _campaign_marks(doubting: Iterable[Remark], frameworks: Sequence[str]) -> list[Mark]:
    """One mark for each check on the campaign that doubts a ranking, with its worst level."""
    found: dict[str, list[Remark]] = {}
    for one in doubting:
        found.setdefault(one.name, []).append(one)
    return [
        Mark(
            worst(one.level for one in remarks),
            name,
            _if_some(_named(remarks, frameworks), frameworks),
            0,
            tuple(dict.fromkeys(remedy for one in remarks for remedy in one.remedies)),
            tuple(remarks[:SHOWN]),
            len(remarks[SHOWN:]),
        )
        for name, remarks in found.items()
    ]


def _named(remarks: Iterable[Remark], frameworks: Iterable[str]) -> list[str]:
    """The frameworks that sentences name, in the order of the ranking.

    `go one-core` is not `go`, so longer names are looked for first.
    """
    text = " ".join(f"{one.subject} {one.text}" for one in remarks)
    found: set[str] = set()
    for name in sorted(frameworks, key=len, reverse=True):
        text, count = re.subn(rf"(?<![\w:-]){re.escape(name)}(?![\w:-])", "", text)
        if count:
            found.add(name)
    return [name for name in frameworks if name in found]
