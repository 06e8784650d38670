"""Contents: what each part of a report says, in words; a format only lays it out."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from plimsoll import charts
from plimsoll.aggregate.outcomes import BY_NAME
from plimsoll.canvas import counted
from plimsoll.report import hidden, words
from plimsoll.report.findings import load_name
from plimsoll.verdicts.verdict import LEVELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from plimsoll.aggregate.failures import Failure
    from plimsoll.canvas import Ranking, Standing
    from plimsoll.recording import Recording
    from plimsoll.report.findings import Findings, State, TrialFindings
    from plimsoll.verdicts.verdict import Level, Verdict

Facts = list[tuple[str, str]]
"""Names and values."""

STATES: dict[State, str] = {
    "sound": "no check doubts the numbers",
    "doubtful": "believe with care, see why",
    "void": "shown, and not ranked",
    "failed": "ended by an error",
}
"""Every state of a trial, and what it means."""

ENGINE = "plimsoll"
"""Name of the driver that a title does not name: our own engine."""

CAMPAIGN = "The campaign as a whole"
"""Heading of what the checks on a campaign say."""

GLOSSARY: Facts = [
    ("trial", "one start of one framework, one endpoint, one load, one repetition"),
    ("repetition", "the same trial again, with a fresh server"),
    ("hold", "the stage in which the load stays as it is; only holds are summarised"),
    ("throughput", "requests completed per second, right or wrong"),
    ("goodput, right answers", "requests completed rightly per second; rankings go by it"),
    ("due", "the instant the schedule wanted a request to start"),
    ("response time", "done − due: it contains the wait before sending"),
    ("service time", "done − sent"),
    ("lag", "sent − due: how late the driver was"),
    ("RSS, PSS", "memory of processes; shared pages counted in each of them, or once"),
    (
        "rank 2–4",
        "cannot be told apart from its neighbours: its true rank may be any of these",
    ),
    ("sound", "no check found anything against the number"),
    ("doubtful", "a check found something; the number is ranked and marked"),
    ("void", "a check says that the number is wrong; it is shown and not ranked"),
]
"""The words of a report."""

_OTHERS = (
    ("time 50 %", "response_time_p50_ns", words.duration),
    ("time 99 %", "response_time_p99_ns", words.duration),
    ("failed", "failure_ratio", words.share),
    ("server CPU", "server_busy_cores", words.cores),
    ("memory", "server_peak_rss_bytes", words.size),
)
"""Columns of a ranking besides throughput: heading, quantity, how it is written."""


@dataclass(frozen=True)
class Remark:
    """What a verdict says, in words.

    Attributes:
        level: Its level.
        name: Name of its check.
        subject: What it is about, as people read it.
        anchor: Anchor of the trial it is about; empty for a campaign and for a block.
        measured: What was measured, with its unit.
        limit: The limit, with its unit.
        statement: Its sentence.
        remedy: What to do.
        source: Where formula and limit come from.
    """

    level: Level
    name: str
    subject: str
    anchor: str
    measured: str
    limit: str
    statement: str
    remedy: str
    source: str

    @property
    def against(self) -> str:
        """What was measured against which limit."""
        if self.measured == words.ABSENT:
            return "could not be measured"
        return f"measured {self.measured}, limit {self.limit}"


@dataclass(frozen=True)
class Doubt:
    """Every verdict of one check on one level.

    Attributes:
        level: The level.
        name: Name of the check.
        count: How many subjects it concerns, in words.
        remedy: What to do.
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
        others: Other quantities: heading and value.
        state: How far to believe it.
        reason: Why, in a few words.
    """

    rank: str
    is_ranked: bool
    framework: str
    anchor: str
    number: str
    interval: str
    others: Facts
    state: State
    reason: str


@dataclass(frozen=True)
class RankingContents:
    """One ranking.

    Attributes:
        anchor: Its anchor.
        title: Endpoint and load.
        headings: Headings of the other quantities.
        rows: The frameworks, the best first.
        ranking: What it is made from.
    """

    anchor: str
    title: str
    headings: tuple[str, ...]
    rows: tuple[Row, ...]
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
        untold: Those that are not sound only because the recording of another tool does not tell
            what they need; their statements say that.
        sound: The others.
        times: The table of times.
        why_absent: Why some percentiles are not shown.
        hidden: What the times of a closed load hide; empty for an open one.
        connections: What became of the connections; empty where nothing is known of any.
        unanswered: What to say of connections that nobody answered; empty when there are none.
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
    untold: tuple[Remark, ...]
    sound: tuple[Remark, ...]
    times: list[tuple[str, str, list[str]]]
    why_absent: str
    hidden: str
    connections: list[tuple[str, str, str]]
    unanswered: str
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
    def untold_names(self) -> str:
        """Names of the checks that the recording tells nothing."""
        return ", ".join(remark.name for remark in self.untold)


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


def asked(findings: Findings) -> Facts:
    """What the campaign asked for."""
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


def machines(findings: Findings) -> dict[str, tuple[str, Facts]]:
    """Each host by its name: itself in one line, and every fact of it."""
    found: dict[str, dict[str, Any]] = {}
    for trial in findings.trials:
        found.update(trial.recording.machines)
    return {
        name: (words.machine(facts), [words.fact(key, value) for key, value in facts.items()])
        for name, facts in found.items()
    }


def missing(findings: Findings) -> str:
    """What to say of trials that were planned and not conducted; empty when there are none."""
    count = len(findings.missing)
    if not count:
        return ""
    return (
        f"{words.plural(count, 'trial')} of the plan {'is' if count == 1 else 'are'} missing: "
        "the campaign was interrupted. The same `plimsoll run` goes on where it stopped."
    )


def changed_limits(findings: Findings) -> list[str]:
    """Each limit of a check that the campaign changed, in words."""
    return [
        f"{check}.{name} = {words.number(value)}"
        for check, values in findings.limits.items()
        for name, value in values.items()
    ]


def banner(findings: Findings) -> list[tuple[State, int, str]]:
    """How many trials are in each state, and what it means; `failed` only where there are any."""
    counts = findings.counts
    return [
        (state, counts[state], meaning)
        for state, meaning in STATES.items()
        if state != "failed" or counts[state]
    ]


def remark(verdict: Verdict, titles: Mapping[str, str]) -> Remark:
    """What a verdict says, in words.

    Args:
        verdict: The verdict.
        titles: Title of each trial by its id.
    """
    return Remark(
        level=verdict.level,
        name=words.check_name(verdict.check),
        subject=titles.get(verdict.subject, verdict.subject),
        anchor=anchor("trial", verdict.subject) if verdict.subject in titles else "",
        measured=words.measured(verdict),
        limit=words.limit(verdict),
        statement=verdict.statement,
        remedy=verdict.remedy,
        source=verdict.source,
    )


def of_campaign(findings: Findings) -> list[Remark]:
    """What the checks on a campaign say of it, the worst first, sound ones too."""
    remarks = [remark(verdict, {}) for verdict in findings.verdicts]
    return sorted(remarks, key=lambda entry: -LEVELS.index(entry.level))


def failed(findings: Findings) -> list[TrialFindings]:
    """The trials that an error ended."""
    return [trial for trial in findings.trials if not trial.has_ended_well]


def doubts(findings: Findings) -> list[Doubt]:
    """The verdicts on trials that are not sound, by check; void ones first.

    What checks say of a trial that an error ended is left to its own section: the error says it.
    What they say of the campaign is `of_campaign`.
    """
    titles = {trial.recording.trial: title(trial.recording) for trial in findings.trials}
    ended_well = [trial for trial in findings.trials if trial.has_ended_well]
    told = [
        verdict
        for trial in ended_well
        for verdict in trial.verdicts
        if not words.is_untold(verdict, trial.recording)
    ]
    grouped: dict[tuple[Level, str], list[Verdict]] = {}
    for verdict in told:
        if verdict.level != "sound":
            grouped.setdefault((verdict.level, verdict.check), []).append(verdict)
    ordered = sorted(grouped.items(), key=lambda item: -LEVELS.index(item[0][0]))
    found = [_doubt(level, verdicts, titles) for (level, _), verdicts in ordered]
    return [*found, *_untold(ended_well, titles)]


def _untold(trials: Sequence[TrialFindings], titles: Mapping[str, str]) -> list[Doubt]:
    """What recordings of other tools do not say, in one: no check of it could say anything."""
    remarks: list[Remark] = []
    for trial in trials:
        doubts = [one for one in trial.verdicts if one.level != "sound"]
        if untold := [one for one in doubts if words.is_untold(one, trial.recording)]:
            told = replace(untold[0], statement=words.untold_text(untold), remedy="")
            remarks.append(remark(told, titles))
    if not remarks:
        return []
    count = f"in {words.plural(len(remarks), 'trial')}"
    remedy = "Measure with Plimsoll to have these checked"
    return [Doubt("doubtful", "What another tool did not record", count, remedy, tuple(remarks))]


def _doubt(level: Level, verdicts: Sequence[Verdict], titles: Mapping[str, str]) -> Doubt:
    remedies = Counter(verdict.remedy for verdict in verdicts if verdict.remedy)
    return Doubt(
        level=level,
        name=words.check_name(verdicts[0].check),
        count=f"in {words.plural(len(verdicts), 'trial')}",
        remedy=remedies.most_common(1)[0][0] if remedies else "",
        remarks=tuple(remark(verdict, titles) for verdict in verdicts),
    )


def rankings(findings: Findings) -> list[RankingContents]:
    """Every ranking."""
    quantities = {
        (row["endpoint"], row["load"], row["driver"], row["framework"], row["quantity"]): row[
            "median"
        ]
        for row in findings.comparisons.to_pylist()
    }
    states: dict[str, State] = {trial.recording.trial: trial.state for trial in findings.trials}
    return [
        RankingContents(
            anchor=anchor("ranking", *_field(ranking, findings, always=(0, 1))),
            title=", ".join(_field(ranking, findings, always=(0,))),
            headings=tuple(heading for heading, _, _ in _OTHERS),
            rows=tuple(
                _row(standing, ranking, quantities, states) for standing in ranking.standings
            ),
            ranking=ranking,
        )
        for ranking in findings.rankings
    ]


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
    ranking: Ranking,
    quantities: Mapping[tuple[str, str, str, str, str], float | None],
    states: Mapping[str, State],
) -> Row:
    def other(quantity: str) -> float | None:
        field = (ranking.endpoint, ranking.load, ranking.driver)
        return quantities.get((*field, standing.framework, quantity))

    def told(quantity: str, write: Callable[[float | None], str]) -> str:
        """A quantity in words; the service time where the response time is unknown."""
        value = other(quantity)
        instead = other(quantity.replace("response_time", "service_time"))
        return write(value) if value is not None or instead is None else f"{write(instead)} service"

    return Row(
        rank=standing.rank,
        is_ranked=standing.rank_low is not None,
        framework=standing.framework,
        anchor=anchor("trial", standing.repetitions[0].trial),
        number=words.rate(standing.value),
        interval=_interval(standing),
        others=[(heading, told(quantity, write)) for heading, quantity, write in _OTHERS],
        state=_state(standing, states),
        reason=_reason(standing),
    )


def _interval(standing: Standing) -> str:
    if standing.low is None or standing.high is None:
        return ""
    return f"{words.number(standing.low)}–{words.number(standing.high)}"


def _state(standing: Standing, states: Mapping[str, State]) -> State:
    every = {states[repetition.trial] for repetition in standing.repetitions}
    return "failed" if every == {"failed"} else standing.level


def _reason(standing: Standing) -> str:
    repetitions = len(standing.repetitions)
    single = "one repetition, no interval" if repetitions == 1 and standing.rank_low else ""
    return "; ".join(part for part in (standing.reason, single) if part)


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
    remarks = [remark(verdict, titles) for verdict in judged if verdict.level == "sound"]
    doubted = [verdict for verdict in judged if verdict.level != "sound"]
    untold = [verdict for verdict in doubted if words.is_untold(verdict, recording)]
    not_sound = [remark(verdict, titles) for verdict in doubted if verdict not in untold]
    return TrialContents(
        anchor=anchor("trial", recording.trial),
        title=title(recording),
        about=about(recording),
        state=trial.state,
        number=words.rate(trial.value),
        error=_error(recording),
        contract=_contract(recording),
        headline=words.headline(trial),
        doubts=tuple(sorted(not_sound, key=lambda entry: -LEVELS.index(entry.level))),
        untold=tuple(remark(verdict, titles) for verdict in untold),
        sound=tuple(remarks),
        times=[] if summary is None else words.times(summary),
        why_absent="" if summary is None else words.why_absent(summary),
        hidden=hidden.told(trial.silences, summary),
        connections=_connections(summary),
        unanswered=_unanswered(summary),
        failures=tuple(_failure(failure) for failure in trial.failures),
        server=[*words.server_facts(recording), *words.course_facts(trial.course)],
        driver=words.driver_facts(recording),
        versions=list(recording.versions.items()),
        notes=tuple(_notes(trial)),
        trial=trial,
    )


def _connections(summary: Mapping[str, Any] | None) -> list[tuple[str, str, str]]:
    """What became of the connections; nothing where nothing is known of any."""
    counts = [] if summary is None else words.connections(summary)
    return counts if any(count != words.ABSENT for _, count, _ in counts) else []


def _notes(trial: TrialFindings) -> Iterator[str]:
    """What its framework's folder, its driver and the lack of a chart have a reader know."""
    yield from trial.recording.notes
    if trial.recording.driver is not None:
        yield from trial.recording.driver.notes
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


def _unanswered(summary: Mapping[str, Any] | None) -> str:
    if summary is None:
        return ""
    opened, answered = summary["connections_opened"], summary["connections_answered"]
    if opened is None or answered is None or answered >= opened:
        return ""
    return (
        f"{words.plural(opened - answered, 'connection')} opened and never got a byte: the kernel "
        "accepted what the server did not"
    )


def _failure(failure: Failure) -> Mapping[str, str]:
    known = BY_NAME.get(failure.outcome)
    return {
        "outcome": failure.outcome,
        "words": known.words if known else "",
        "errno": f"{failure.errno_name} ({failure.errno})" if failure.errno_name else words.ABSENT,
        "count": counted(failure.count),
        "first": words.seconds(failure.first_at_s),
        "last": words.seconds(failure.last_at_s),
    }


def anchor(*parts: str) -> str:
    """An anchor, also fit for a file name: letters, digits, dots and hyphens."""
    return "-".join(re.sub(r"[^A-Za-z0-9.]+", "-", part).strip("-") for part in parts)
