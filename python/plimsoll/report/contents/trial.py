"""What a report says of a trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import charts, wording
from plimsoll.aggregate.outcomes import BY_NAME
from plimsoll.report import fact_text, hidden, load_text, trial_numbers
from plimsoll.report.contents.naming import anchor, title
from plimsoll.report.contents.remarks import remark
from plimsoll.verdicts.levels import by_checks
from plimsoll.verdicts.verdict import DOUBTING, LEVELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.aggregate.counted import Failure
    from plimsoll.aggregate.summary import Summary
    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.recording import Driver, Recording
    from plimsoll.report.contents.campaign import Facts
    from plimsoll.report.contents.remarks import Remark


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
        not_checked: Those of checks that apply and could not be made.
        inapplicable: Those of checks that have nothing to check here.
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
    inapplicable: tuple[Remark, ...]
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
    def inapplicable_names(self) -> str:
        """Names of the checks that have nothing to check here."""
        return ", ".join(remark.name for remark in self.inapplicable)


def trials(findings: Findings) -> list[TrialContents]:
    """Every trial, in the order of the rankings: the plan's own order is shuffled."""
    by_id = {trial.recording.trial: trial for trial in findings.trials}
    return [
        _trial(by_id[repetition.trial])
        for ranking in findings.rankings
        for entry in ranking.entries
        for repetition in entry.repetitions
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
        number=wording.per_second(trial.value),
        error=_error(recording),
        contract=_contract(recording),
        headline=trial_numbers.headline(trial),
        doubts=tuple(one for one in remarks if one.level in DOUBTING),
        not_checked=tuple(one for one in remarks if one.level == "not_checked" and one.applies),
        inapplicable=tuple(one for one in remarks if not one.applies),
        sound=tuple(one for one in remarks if one.level == "sound"),
        by_checks=by_checks(judged) if judged and trial.level not in DOUBTING else "",
        times=[] if summary is None else trial_numbers.times(summary),
        why_absent="" if summary is None else trial_numbers.why_absent(summary),
        hidden=hidden.sentence(trial.stalls, summary),
        connections=_connections(summary, recording.driver),
        without_response=_without_response(summary),
        failures=tuple(_failure(failure) for failure in trial.failures),
        server=[*fact_text.of_server(recording), *trial_numbers.steady_state(trial.steady_state)],
        driver=fact_text.of_driver(recording),
        versions=list(recording.versions.items()),
        notes=tuple(_notes(trial)),
        trial=trial,
    )


def _connections(summary: Summary | None, driver: Driver | None) -> list[tuple[str, str, str]]:
    """What became of the connections; nothing where nothing is known of any."""
    counts = [] if summary is None else trial_numbers.connections(summary, driver)
    return counts if any(count != wording.ABSENT for _, count, _ in counts) else []


def _notes(trial: TrialFindings) -> Iterator[str]:
    """What its framework's folder, its driver and the lack of a chart have a reader know."""
    yield from trial.recording.notes
    if trial.recording.driver is not None:
        yield from trial.recording.driver.notes
    if shared := charts.joined(trial.data):
        yield shared
    if absent := charts.left_out(trial.data):
        yield absent


def about(recording: Recording) -> str:
    """What ran when, in one line."""
    parts = [
        recording.language,
        "" if load_text.is_imported(recording) else f"number {recording.order + 1} of the plan",
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
        f"{wording.several(opened - responded, 'connection')} opened without a response byte: "
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
        "errno": f"{failure.errno_name} ({failure.errno})"
        if failure.errno_name
        else wording.ABSENT,
        "count": wording.count(failure.count),
        "first": wording.seconds(failure.first_at_s),
        "last": wording.seconds(failure.last_at_s),
    }
