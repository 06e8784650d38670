"""Contents: the text of each part of a report; a format only lays it out."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from plimsoll import charts
from plimsoll.aggregate.outcomes import BY_NAME
from plimsoll.findings import leads
from plimsoll.findings.trial import RANKED_BY, load_name
from plimsoll.machine import Fact
from plimsoll.report import hidden, stopping, words
from plimsoll.report.hold_length import hold_length
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.verdict import DOUBTING, LEVELS, Sentence, by_checks
from plimsoll.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from plimsoll.aggregate.failures import Failure
    from plimsoll.aggregate.summary import Summary
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.rankings import Ranking, Standing
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.recording import Recording
    from plimsoll.verdicts.verdict import Level, Verdict

Facts = list[tuple[str, str]]
"""Names and values."""

Key = tuple[str, str, str, str]
"""Endpoint, load, driver and quantity."""

STATES: dict[State, str] = {
    "sound": "no check found a problem",
    "not_checked": "responses were not verified",
    "doubtful": "use with care, see why",
    "void": "shown, not ranked",
    "failed": "ended by an error",
}
"""Every state of a trial, and what it means."""

RARE: tuple[State, ...] = ("not_checked", "failed")
"""States that are shown only if a trial is in them."""

ENGINE = "plimsoll"
"""Name of the driver that a title does not name: our own engine."""

CAMPAIGN = "The campaign as a whole"
"""Heading of what the checks on a campaign say."""

GLOSSARY: Facts = [
    ("trial", "one framework, one endpoint, one load, one repetition, with a fresh server"),
    ("repetition", "a trial repeated with a fresh server"),
    ("hold", "the measurement window: the stage with a constant load, the only one summarised"),
    ("throughput", "responses per second, successful or not"),
    ("goodput", "successful responses per second; rankings use it"),
    ("due", "the intended start of a request, by the schedule"),
    ("response time", "done − due: includes the wait before sending"),
    ("service time", "done − sent"),
    ("lag", "sent − due: how late the load generator sent it"),
    ("RSS, PSS", "memory of processes; shared pages counted per process, or once"),
    (
        "rank 2–4",
        "not significantly different from its neighbours: its true rank may be any of these",
    ),
    ("sound", "no check found a problem with the number"),
    ("not checked", "a check does not apply, or lacks data"),
    ("doubtful", "a check found a problem; the number is ranked and marked"),
    ("void", "a check shows that the number is wrong; it is shown, not ranked"),
]
"""The words of a report."""

AS_RUN = "Campaign as run"
"""Heading of the campaign with the settings of the command line and every default."""

_OTHERS = (
    ("time 50 %", "response_time_p50_ns", words.duration),
    ("time 99 %", "response_time_p99_ns", words.duration),
    ("failed", "failure_ratio", words.share),
    ("server CPU", "server_busy_cores", words.cores),
    ("memory", "server_peak_rss_bytes", words.size),
)
"""Columns of a ranking besides throughput: heading, quantity, how it is written."""

CPU_PER_REQUEST = "server_cpu_s_per_request"
"""The column of `tables.SUMMARIES` with the processor time of a response."""


@dataclass(frozen=True)
class Remark:
    """The text of a verdict.

    Attributes:
        level: Its level.
        name: Name of its check.
        subject: What it is about, as people read it.
        anchor: Anchor of the trial it is about; empty for a campaign and for a block.
        measured: What was measured, with its unit.
        limit: The limit, with its unit.
        sentences: Its sentences, each with what to do about it.
        source: Where formula and limit come from.
    """

    level: Level
    name: str
    subject: str
    anchor: str
    measured: str
    limit: str
    sentences: tuple[Sentence, ...]
    source: str

    @property
    def against(self) -> str:
        """What was measured against which limit; empty where nothing was."""
        if self.measured == words.ABSENT:
            return ""
        return f"measured {self.measured}, limit {self.limit}"

    @property
    def text(self) -> str:
        """All sentences, without what to do."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def remedies(self) -> tuple[str, ...]:
        """What to do, each once."""
        return tuple(dict.fromkeys(one.remedy for one in self.sentences if one.remedy))

    @property
    def full_text(self) -> str:
        """All sentences, and what was measured against which limit."""
        return f"{self.text} ({self.against})" if self.against else self.text


@dataclass(frozen=True)
class Doubt:
    """The findings of one check on one level with one remedy.

    Attributes:
        level: The level.
        name: Name of the check.
        count: How many subjects it concerns, in words.
        remedy: What to do; the same for every subject.
        remarks: One for each subject.
    """

    level: Level
    name: str
    count: str
    remedy: str
    remarks: tuple[Remark, ...]


@dataclass(frozen=True)
class Row:
    """One framework in a ranking.

    Attributes:
        rank: Its rank, or range of ranks.
        is_ranked: Whether it has one.
        framework: Framework and variant.
        anchor: Anchor of its first trial.
        number: Its median goodput.
        interval: The 95 % interval of it; empty when there is none.
        of_best: It as a share of the best, with the interval of that; `–` when it has none.
        to_next: It as a multiple of the next one in the ranking, with interval; `–` for the last.
        to_next_brief: The same without the name, which stands in the next line.
        others: Other quantities: heading and value.
        ratios: For each of them the ratio to the best by that quantity, with interval; empty where
            there is none.
        state: How far to believe it.
        reason: Why, in a few words.
        cpu_per_request: Processor time of the server per complete response.
    """

    rank: str
    is_ranked: bool
    framework: str
    anchor: str
    number: str
    interval: str
    of_best: str
    to_next: str
    to_next_brief: str
    others: Facts
    ratios: tuple[str, ...]
    state: State
    reason: str
    cpu_per_request: str


@dataclass(frozen=True)
class RankingContents:
    """One ranking.

    Attributes:
        anchor: Its anchor.
        title: Endpoint and load.
        headings: Headings of the other quantities.
        rows: The frameworks, the best first.
        leads: Who is ahead by which quantity, and by how much; the ranking's own first.
        clear_lead: The best and the first one that it is ahead of, where that is not the next one.
        resolution: What differences it tells apart, and whether more repetitions or longer holds
            would tell more; of a campaign with `until`, which intervals are too wide. Empty where
            nothing is known of scatter.
        ranking: What it is made from.
    """

    anchor: str
    title: str
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    leads: tuple[str, ...]
    clear_lead: str
    resolution: str
    ranking: Ranking


@dataclass(frozen=True)
class TrialContents:
    """One trial.

    Attributes:
        anchor: Its anchor.
        title: Framework, endpoint, load and repetition.
        about: What ran when, in one line.
        state: How far to believe it.
        number: Its goodput.
        error: Kind, sentence and hint of the error that ended it; None when none did.
        contract: What was wrong before or after the load.
        headline: Its main numbers.
        doubts: Verdicts that are not sound, the worst first.
        not_checked: Those of checks that do not apply, or had nothing to go by.
        sound: The others.
        by_checks: By how many checks its state is what it is; empty where the doubts say it.
        times: The table of times.
        why_absent: Why some percentiles are not shown.
        hidden: What the times of a closed load hide; empty for an open one.
        connections: What became of the connections; empty where nothing is known of any.
        without_response: A sentence on connections without a response; empty if there are none.
        failures: How requests failed.
        server: Facts of the server's side.
        driver: Facts of the driver's side.
        versions: Versions of all parts.
        notes: What a reader must know of its framework, its driver and its charts.
        trial: What it is made from.
    """

    anchor: str
    title: str
    about: str
    state: State
    number: str
    error: Mapping[str, str] | None
    contract: tuple[str, ...]
    headline: list[tuple[str, str, str]]
    doubts: tuple[Remark, ...]
    not_checked: tuple[Remark, ...]
    sound: tuple[Remark, ...]
    by_checks: str
    times: list[tuple[str, str, list[str]]]
    why_absent: str
    hidden: str
    connections: list[tuple[str, str, str]]
    without_response: str
    failures: tuple[Mapping[str, str], ...]
    server: Facts
    driver: Facts
    versions: Facts
    notes: tuple[str, ...]
    trial: TrialFindings

    @property
    def sound_names(self) -> str:
        """Names of the sound checks."""
        return ", ".join(remark.name for remark in self.sound)

    @property
    def not_checked_names(self) -> str:
        """Names of the checks that were not made."""
        return ", ".join(remark.name for remark in self.not_checked)


def subtitle(findings: Findings) -> str:
    """What the campaign was, in one line."""
    frameworks = {trial.recording.title for trial in findings.trials}
    endpoints = {trial.recording.endpoint for trial in findings.trials}
    parts = [
        words.plural(len(frameworks), "framework"),
        words.plural(len(endpoints), "endpoint"),
        words.plural(len(findings.trials), "trial"),
    ]
    days = sorted({trial.recording.zero_utc[:10] for trial in findings.trials})
    when = " to ".join(dict.fromkeys([days[0], days[-1]])) if days else ""
    return " · ".join(part for part in [*parts, when] if part)


def configuration(findings: Findings) -> Facts:
    """The configuration of the campaign."""
    recordings = [trial.recording for trial in findings.trials]
    loads = {load_name(recording): recording.load for recording in recordings}
    return [
        ("Frameworks", _listed(sorted(_with_version(recording) for recording in recordings))),
        ("Endpoints", _listed(ranking.endpoint for ranking in findings.rankings)),
        *((f"Load {name}", words.load_text(load)) for name, load in sorted(loads.items())),
        ("Repetitions", str(max((recording.repetition for recording in recordings), default=0))),
        ("Driver", _listed(_driver(recording) for recording in recordings)),
    ]


def _with_version(recording: Recording) -> str:
    version = recording.versions.get("framework", "")
    return f"{recording.title} ({version})" if version else recording.title


def _driver(recording: Recording) -> str:
    if recording.driver is None:
        return recording.driver_name
    return f"{recording.driver.name} {recording.driver.version}".strip()


def _listed(texts: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(texts))


def as_run(findings: Findings) -> str:
    """The campaign as run, as JSON; empty where there was no campaign file."""
    return "" if findings.as_run is None else json.dumps(findings.as_run, indent=2)


def machines(findings: Findings) -> dict[str, tuple[str, Facts]]:
    """Each host by its name: itself in one line, and every fact of it."""
    found: dict[str, dict[str, Fact]] = {}
    for trial in findings.trials:
        found.update(trial.recording.machines)
    return {
        name: (words.machine(facts), [words.fact(key, value) for key, value in facts.items()])
        for name, facts in found.items()
    }


def extent(findings: Findings) -> str:
    """What to say of trials that are missing, or why no further block was begun; may be empty."""
    count = len(findings.missing)
    if not count:
        return "" if findings.progress is None else stopping.of_campaign(findings.progress)
    return (
        f"{words.plural(count, 'trial')} of the plan {'is' if count == 1 else 'are'} missing: "
        "the campaign was interrupted. Run the same `plimsoll run` again to resume."
    )


def changed_limits(findings: Findings) -> list[str]:
    """Each limit of a check that the campaign changed, in words."""
    return [
        f"{check}.{name} = {words.number(value)}"
        for check, values in findings.limits.items()
        for name, value in values.items()
    ]


def banner(findings: Findings) -> list[tuple[State, int, str]]:
    """How many trials are in each state, and what it means; rare ones where there are any."""
    counts = findings.counts
    return [
        (state, counts[state], meaning)
        for state, meaning in STATES.items()
        if state not in RARE or counts[state]
    ]


def remark(verdict: Verdict, titles: Mapping[str, str]) -> Remark:
    """The text of a verdict.

    Args:
        verdict: The verdict.
        titles: Title of each trial by its id.
    """
    return Remark(
        level=verdict.level,
        name=catalogue.title(verdict.check),
        subject=titles.get(verdict.subject, verdict.subject),
        anchor=anchor("trial", verdict.subject) if verdict.subject in titles else "",
        measured=words.measured(verdict),
        limit=words.limit(verdict),
        sentences=verdict.sentences,
        source=verdict.source,
    )


def of_campaign(findings: Findings) -> list[Remark]:
    """What the checks on a campaign say of it, the worst first, sound ones too."""
    remarks = [remark(verdict, {}) for verdict in findings.verdicts]
    return sorted(remarks, key=lambda entry: -LEVELS.index(entry.level))


def failed(findings: Findings) -> list[TrialFindings]:
    """The trials that an error ended."""
    return [trial for trial in findings.trials if not trial.has_ended_well]


def ended(trial: TrialFindings) -> Remark:
    """The text of the error that ended a trial."""
    recording = trial.recording
    kind, name = recording.ending.kind, title(recording)
    reported = Sentence("void", recording.ending.message, recording.ending.hint)
    place = anchor("trial", recording.trial)
    return Remark("void", kind, name, place, words.ABSENT, words.ABSENT, (reported,), "")


def doubts(findings: Findings) -> list[Doubt]:
    """What checks say against trials, by level, check and remedy; void first, then the most.

    Verdicts on a trial that an error ended are left to its own section: the error explains it.
    What they say of the campaign is `of_campaign`.
    """
    return doubts_of(findings.trials)


def doubts_of(trials: Iterable[TrialFindings]) -> list[Doubt]:
    """What checks say against some trials, by level, check and remedy; void first, then the most.

    Args:
        trials: The trials.
    """
    known = tuple(trials)
    titles = {trial.recording.trial: title(trial.recording) for trial in known}
    grouped: dict[tuple[Level, str, str], list[Remark]] = {}
    for trial in known:
        for verdict in trial.verdicts if trial.has_ended_well else ():
            for (level, remedy), reported in _by_remedy(verdict, titles):
                grouped.setdefault((level, verdict.check, remedy), []).append(reported)
    found = [
        Doubt(
            level=level,
            name=catalogue.title(check),
            count=f"in {words.plural(len(remarks), 'trial')}",
            remedy=remedy,
            remarks=tuple(remarks),
        )
        for (level, check, remedy), remarks in grouped.items()
    ]
    return sorted(found, key=lambda doubt: (-LEVELS.index(doubt.level), -len(doubt.remarks)))


def _by_remedy(
    verdict: Verdict, titles: Mapping[str, str]
) -> Iterator[tuple[tuple[Level, str], Remark]]:
    """The sentences of a verdict that doubt, by level and remedy.

    What was measured belongs to the first sentence, which gave the verdict its level.
    """
    whole = remark(verdict, titles)
    grouped: dict[tuple[Level, str], list[Sentence]] = {}
    for sentence in verdict.sentences:
        if sentence.level in DOUBTING:
            grouped.setdefault((sentence.level, sentence.remedy), []).append(sentence)
    for key, sentences in grouped.items():
        is_first = verdict.sentences[0] in sentences
        reported = replace(whole, level=key[0], sentences=tuple(sentences))
        yield key, reported if is_first else replace(reported, measured=words.ABSENT)


def rankings(findings: Findings) -> list[RankingContents]:
    """Every ranking."""
    compared: dict[Key, list[leads.Row]] = {}
    for row in findings.comparisons.to_pylist():
        key = (row["endpoint"], row["load"], row["driver"], row["quantity"])
        compared.setdefault(key, []).append(row)
    states: dict[str, State] = {trial.recording.trial: trial.state for trial in findings.trials}
    return [_ranking(ranking, findings, compared, states) for ranking in findings.rankings]


def detail(rankings: Sequence[RankingContents]) -> tuple[str, str]:
    """Heading and caption of the rankings; tables of one entry each rank nothing."""
    if any(ranking.rows[1:] for ranking in rankings):
        return "Ranking in detail", charts.comparison.CAPTION
    return "Results in detail", charts.comparison.CAPTION_OF_ONE


def _ranking(
    ranking: Ranking,
    findings: Findings,
    compared: Mapping[Key, Sequence[leads.Row]],
    states: Mapping[str, State],
) -> RankingContents:
    def rows(quantity: str) -> Sequence[leads.Row]:
        return compared.get((ranking.endpoint, ranking.load, ranking.driver, quantity), ())

    quantities = {
        (row["framework"], row["quantity"]): row
        for quantity in _columns()
        for row in rows(quantity)
    }
    reported = leads.leads([rows(quantity) for quantity in leads.QUANTITIES])
    clear = leads.clear_lead(rows(RANKED_BY))
    is_next = clear is None or (bool(reported) and reported[0].second == clear.second)
    resolution = leads.resolution(rows(RANKED_BY))
    counting = _counting(ranking, findings)
    length = None if resolution is None else hold_length(counting, resolution.scatter)
    return RankingContents(
        anchor=anchor("ranking", *_field(ranking, findings, always=(0, 1))),
        title=", ".join(_field(ranking, findings, always=(0,))),
        headings=tuple(heading for heading, _, _ in _OTHERS),
        rows=tuple(_row(standing, quantities, states) for standing in ranking.standings),
        leads=tuple(lead.sentence for lead in reported),
        clear_lead="" if clear is None or is_next else clear.sentence,
        resolution=". ".join(
            one
            for one in (_told_apart(ranking, findings, resolution), length and length.sentence)
            if one
        ),
        ranking=ranking,
    )


def _told_apart(ranking: Ranking, findings: Findings, resolution: leads.Resolution | None) -> str:
    """What differences a ranking tells apart, or which of its intervals are still too wide."""
    if findings.progress is not None:
        table = (ranking.endpoint, ranking.load, ranking.driver)
        return stopping.of_table(findings.progress, table)
    return "" if resolution is None else resolution.sentence


def _counting(ranking: Ranking, findings: Findings) -> list[TrialFindings]:
    """The trials of a ranking that count."""
    names = {
        repetition.trial
        for standing in ranking.standings
        for repetition in standing.repetitions
        if repetition.level != "void"
    }
    return [trial for trial in findings.trials if trial.recording.trial in names]


def _columns() -> Iterator[str]:
    """Columns of summaries that a row of a ranking needs."""
    for _, quantity, _ in _OTHERS:
        yield quantity
        yield _instead(quantity)
    yield CPU_PER_REQUEST


def _instead(quantity: str) -> str:
    """The service time where the response time is unknown."""
    return quantity.replace("response_time", "service_time")


def _field(ranking: Ranking, findings: Findings, always: tuple[int, ...]) -> list[str]:
    """Endpoint, load and driver of a ranking; those named always, others where there are several.

    Args:
        ranking: The ranking.
        findings: All that there is.
        always: Places of what is named always.
    """
    every = [(one.endpoint, one.load, one.driver) for one in findings.rankings]
    own = (ranking.endpoint, ranking.load, ranking.driver)
    return [
        name
        for place, name in enumerate(own)
        if place in always or len({names[place] for names in every}) > 1
    ]


def _row(
    standing: Standing,
    quantities: Mapping[tuple[str, str], leads.Row],
    states: Mapping[str, State],
) -> Row:
    others = [_other(standing.framework, quantities, *other) for other in _OTHERS]
    return Row(
        rank=standing.rank,
        is_ranked=standing.rank_low is not None,
        framework=standing.framework,
        anchor=anchor("trial", standing.repetitions[0].trial),
        number=words.rate(standing.value),
        interval=_interval(standing),
        of_best=words.of_best(standing.to_best),
        to_next=words.times_as(standing.to_next, standing.next_framework),
        to_next_brief=words.times_as(standing.to_next),
        others=[(heading, value) for heading, value, _ in others],
        ratios=tuple(ratio for _, _, ratio in others),
        state=_state(standing, states),
        reason=_reason(standing),
        cpu_per_request=words.seconds(
            quantities.get((standing.framework, CPU_PER_REQUEST), {}).get("median")
        ),
    )


def _other(
    framework: str,
    quantities: Mapping[tuple[str, str], leads.Row],
    heading: str,
    quantity: str,
    write: Callable[[float | None], str],
) -> tuple[str, str, str]:
    """Heading, value and ratio to the best of another quantity."""
    own: leads.Row = quantities.get((framework, quantity), {})
    instead: leads.Row = quantities.get((framework, _instead(quantity)), {})
    if own.get("median") is None and instead.get("median") is not None:
        return heading, f"{write(instead['median'])} service", _to_least(instead)
    return heading, write(own.get("median")), _to_least(own)


def _to_least(row: leads.Row) -> str:
    ratio = leads.ratio_of(row, "best")
    if ratio is None:
        return ""
    return "least" if ratio.value == 1 else f"{words.times_as(ratio)}"


def _interval(standing: Standing) -> str:
    if standing.low is None or standing.high is None:
        return ""
    return f"{words.number(standing.low)}–{words.number(standing.high)}"


def _state(standing: Standing, states: Mapping[str, State]) -> State:
    every = {states[repetition.trial] for repetition in standing.repetitions}
    return "failed" if every == {"failed"} else standing.level


def _reason(standing: Standing) -> str:
    repetitions = len(standing.repetitions)
    single = "one repetition" if repetitions == 1 and standing.rank_low else ""
    yardstick = "yardstick, not ranked" if standing.is_yardstick else ""
    return "; ".join(part for part in (yardstick, standing.reason, single) if part)


def trials(findings: Findings) -> list[TrialContents]:
    """Every trial, in the order of the rankings: the plan's own order is shuffled."""
    by_id = {trial.recording.trial: trial for trial in findings.trials}
    return [
        _trial(by_id[repetition.trial])
        for ranking in findings.rankings
        for standing in ranking.standings
        for repetition in standing.repetitions
    ]


def _trial(trial: TrialFindings) -> TrialContents:
    recording, summary = trial.recording, trial.summary
    judged = trial.verdicts if summary is not None else ()
    titles = {recording.trial: title(recording)}
    remarks = sorted(
        (remark(verdict, titles) for verdict in judged),
        key=lambda entry: -LEVELS.index(entry.level),
    )
    return TrialContents(
        anchor=anchor("trial", recording.trial),
        title=title(recording),
        about=about(recording),
        state=trial.state,
        number=words.rate(trial.value),
        error=_error(recording),
        contract=_contract(recording),
        headline=words.headline(trial),
        doubts=tuple(one for one in remarks if one.level in DOUBTING),
        not_checked=tuple(one for one in remarks if one.level == "not_checked"),
        sound=tuple(one for one in remarks if one.level == "sound"),
        by_checks=by_checks(judged) if judged and trial.level not in DOUBTING else "",
        times=[] if summary is None else words.times(summary),
        why_absent="" if summary is None else words.why_absent(summary),
        hidden=hidden.sentence(trial.stalls, summary),
        connections=_connections(summary),
        without_response=_without_response(summary),
        failures=tuple(_failure(failure) for failure in trial.failures),
        server=[*words.server_facts(recording), *words.course_facts(trial.course)],
        driver=words.driver_facts(recording),
        versions=list(recording.versions.items()),
        notes=tuple(_notes(trial)),
        trial=trial,
    )


def _connections(summary: Summary | None) -> list[tuple[str, str, str]]:
    """What became of the connections; nothing where nothing is known of any."""
    counts = [] if summary is None else words.connections(summary)
    return counts if any(count != words.ABSENT for _, count, _ in counts) else []


def _notes(trial: TrialFindings) -> Iterator[str]:
    """What its framework's folder, its driver and the lack of a chart have a reader know."""
    yield from trial.recording.notes
    if trial.recording.driver is not None:
        yield from trial.recording.driver.notes
    if shared := charts.joined(trial.data):
        yield shared
    if absent := charts.left_out(trial.data):
        yield absent


def title(recording: Recording) -> str:
    """A trial as people read it: `go · 2048 · steady · repetition 1`; a foreign driver is named."""
    by = "" if recording.driver_name == ENGINE else f" · {recording.driver_name}"
    return (
        f"{recording.title} · {recording.endpoint} · {load_name(recording)}{by} · "
        f"repetition {recording.repetition}"
    )


def about(recording: Recording) -> str:
    """What ran when, in one line."""
    parts = [
        recording.language,
        "" if words.is_imported(recording) else f"number {recording.order + 1} of the plan",
        recording.zero_utc and f"began {recording.zero_utc[:19].replace('T', ' ')} UTC",
    ]
    return " · ".join(part for part in parts if part)


def _error(recording: Recording) -> Mapping[str, str] | None:
    ending = recording.ending
    if ending.kind == "completed":
        return None
    return {"kind": ending.kind, "message": ending.message, "hint": ending.hint}


def _contract(recording: Recording) -> tuple[str, ...]:
    return tuple(
        f"{when.capitalize()} the load: {sentence}"
        for when, sentences in recording.contract.items()
        for sentence in sentences
    )


def _without_response(summary: Summary | None) -> str:
    if summary is None:
        return ""
    opened, responded = summary.connections_opened, summary.connections_with_response
    if opened is None or responded is None or responded >= opened:
        return ""
    return (
        f"{words.plural(opened - responded, 'connection')} opened without a response byte: "
        "accepted by the kernel, not by the server"
    )


def _failure_words(failure: Failure) -> str:
    known = BY_NAME.get(failure.outcome)
    words_of = known.words if known else ""
    return words_of if failure.status is None else f"{words_of}, {failure.status}"


def _failure(failure: Failure) -> Mapping[str, str]:
    return {
        "outcome": failure.outcome,
        "words": _failure_words(failure),
        "errno": f"{failure.errno_name} ({failure.errno})" if failure.errno_name else words.ABSENT,
        "count": counted(failure.count),
        "first": words.seconds(failure.first_at_s),
        "last": words.seconds(failure.last_at_s),
    }


def anchor(*parts: str) -> str:
    """An anchor, also fit for a file name: letters, digits, dots and hyphens."""
    return "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-") for part in parts)
