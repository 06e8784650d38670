"""Gathering: the stored results of a campaign become its findings.

What follows from the recordings is worked out once and kept beside them as `derived/`. It is used
again as long as it was made by this version from the same recordings; else it is made anew.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

import plimsoll
from plimsoll import tables
from plimsoll.aggregate import (
    beside_published,
    connections,
    courses,
    failures,
    kinds,
    memory,
    over_connections,
    silences,
)
from plimsoll.aggregate.comparisons import Repetition, comparisons
from plimsoll.aggregate.disagreements import disagreements
from plimsoll.aggregate.summaries import summaries
from plimsoll.aggregate.trial import stored
from plimsoll.aggregate.usage import second_window
from plimsoll.canvas import TrialData
from plimsoll.published import document
from plimsoll.report.findings import Findings, Publication, TrialFindings
from plimsoll.verdicts.audit import audit
from plimsoll.verdicts.checks.steady import NAME as STEADY
from plimsoll.verdicts.judge import judge, judge_campaign
from plimsoll.verdicts.verdict import Verdict, block_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Window
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results

    Derived = Mapping[str, pa.Table]
    """Derived tables by name."""

JUDGED = "verdicts"
"""Name of the derived content that is no table: verdicts, and what all of it was made from."""

CAMPAIGN_JUDGED = "campaign_verdicts"
"""Name of the derived content with the verdicts on the campaign as a whole."""

PUBLISHED = "published.toml"
"""Name of the published figures that a campaign names, among its results."""

SCHEMAS = {
    "seconds": tables.SECONDS.schema,
    "summaries": tables.SUMMARIES.schema,
    "failures_by_second": failures.BY_SECOND,
    "memory_by_second": memory.BY_SECOND,
    "connections_by_second": connections.BY_SECOND,
    "kinds": kinds.SCHEMA,
    "silences": silences.SCHEMA,
    "courses": courses.SCHEMA,
}
"""Derived tables with rows of single trials; those that do not name it get a column `trial`."""


def gather(results: Results, *, again: bool = False) -> Findings:
    """The findings of a campaign.

    Args:
        results: Its stored results.
        again: Whether everything is worked out anew, whatever is there.

    Raises:
        StorageError: The results could not be read, or what follows from them not be kept.
    """
    recordings = [results.recording(trial_id) for trial_id in results.trial_ids()]
    derived, verdicts = (None if again else _kept(results, recordings)) or _derived(
        results, recordings
    )
    each = tuple(_trial(recording, derived, verdicts) for recording in recordings)
    judged = _judged(results, each)
    trials = tuple(_with_block(trial, judged) for trial in each)
    found = {recording.trial for recording in recordings}
    return Findings(
        campaign=results.folder.resolve().name,
        version=plimsoll.__version__,
        trials=trials,
        comparisons=_compared(results, trials),
        verdicts=judged,
        missing=tuple(planned for planned in results.planned_ids() if planned not in found),
        disagreements=disagreements(_repetitions(trials)),
        publication=_publication(results, trials),
        over_connections=over_connections.series(_repetitions(trials)),
    )


def verdicts(results: Results, recording: Recording) -> tuple[Verdict, ...]:
    """What the checks say of one trial, worked out from its rows; nothing is kept.

    Args:
        results: Where the rows are.
        recording: The recording.

    Raises:
        StorageError: They could not be read.
    """
    return judge(stored(results, recording))


def _origin(recordings: Sequence[Recording]) -> dict[str, Any]:
    """What derived tables are made from: they are of no use once any of this has changed."""
    return {
        "plimsoll": plimsoll.__version__,
        "trials": {recording.trial: recording.zero_utc for recording in recordings},
    }


def _kept(
    results: Results, recordings: Sequence[Recording]
) -> tuple[Derived, tuple[Verdict, ...]] | None:
    """Derived tables and verdicts that were kept; None when they are not of these recordings."""
    judged: dict[str, Any] = results.read_derived_json(JUDGED) or {}
    if judged.get("origin") != _origin(recordings):
        return None
    found = {name: results.read_derived(name) for name in SCHEMAS}
    kept = {name: table for name, table in found.items() if table is not None}
    if len(kept) < len(found):
        return None
    return kept, tuple(Verdict(**values) for values in judged["verdicts"])


def _derived(
    results: Results, recordings: Sequence[Recording]
) -> tuple[Derived, tuple[Verdict, ...]]:
    """Derived tables and verdicts, worked out from the recordings and kept."""
    made = {name: [_named(schema.empty_table(), "")] for name, schema in SCHEMAS.items()}
    verdicts: list[Verdict] = []
    for recording in recordings:
        of_trial = stored(results, recording)
        verdicts += judge(of_trial)
        for name, table in _of_trial(of_trial).items():
            made[name].append(_named(table, recording.trial))
    derived = {name: pa.concat_tables(parts) for name, parts in made.items()}
    for name, table in derived.items():
        results.write_derived(name, table)
    judged = [dataclasses.asdict(verdict) for verdict in verdicts]
    results.write_derived_json(JUDGED, {"origin": _origin(recordings), "verdicts": judged})
    return derived, tuple(verdicts)


def _of_trial(of_trial: Tables) -> dict[str, pa.Table]:
    """Rows of every derived table of one trial; none of a summary where no load was put on."""
    seconds = of_trial.seconds
    count = seconds.num_rows
    driver = of_trial.recording.driver
    has_load = driver is not None and not (driver.judged_by_figures and driver.figures is None)
    return {
        "seconds": seconds,
        "summaries": summaries([of_trial.summary] if has_load else []),
        "failures_by_second": failures.by_second(of_trial.requests),
        "memory_by_second": memory.by_second(of_trial.readings, count),
        "connections_by_second": connections.by_second(
            of_trial.connections, of_trial.requests, count
        ),
        "kinds": kinds.kinds(of_trial.recording, of_trial.requests),
        "silences": silences.silences(of_trial.recording, of_trial.requests),
        "courses": courses.courses(of_trial.recording, of_trial.requests, of_trial.usage),
    }


def _named(table: pa.Table, trial_id: str) -> pa.Table:
    """A table of one trial with the column `trial`."""
    if "trial" in table.column_names:
        return table
    return table.append_column("trial", pa.array([trial_id] * table.num_rows, pa.string()))


def _trial(recording: Recording, derived: Derived, verdicts: Sequence[Verdict]) -> TrialFindings:
    def of(name: str) -> pa.Table:
        table = derived[name]
        return table.filter(pc.equal(table["trial"], recording.trial))

    summary = of("summaries").to_pylist()
    failed = of("failures_by_second")
    return TrialFindings(
        data=TrialData(
            recording=recording,
            summary=summary[0] if summary else None,
            seconds=of("seconds"),
            memory=of("memory_by_second"),
            connections=of("connections_by_second"),
            failures=failed,
        ),
        verdicts=tuple(verdict for verdict in verdicts if verdict.subject == recording.trial),
        failures=failures.kinds(failed),
        kinds=tuple(of("kinds").drop_columns("trial").to_pylist()),
        silences=next(iter(of("silences").drop_columns("trial").to_pylist()), None),
        course=next(iter(of("courses").drop_columns("trial").to_pylist()), None),
    )


def _judged(results: Results, trials: Sequence[TrialFindings]) -> tuple[Verdict, ...]:
    """Verdicts on the campaign as a whole, kept as well."""
    verdicts = judge_campaign(_repetitions(trials))
    judged = [dataclasses.asdict(verdict) for verdict in verdicts]
    results.write_derived_json(CAMPAIGN_JUDGED, {"verdicts": judged})
    return verdicts


def _with_block(trial: TrialFindings, judged: Sequence[Verdict]) -> TrialFindings:
    """A trial with the verdicts on its block that are void: its numbers are, too."""
    block = block_name(trial.recording.repetition)
    void = [
        dataclasses.replace(verdict, subject=trial.recording.trial)
        for verdict in judged
        if verdict.subject == block and verdict.level == "void"
    ]
    return dataclasses.replace(trial, verdicts=(*trial.verdicts, *void)) if void else trial


def _publication(results: Results, trials: Sequence[TrialFindings]) -> Publication | None:
    """What was published of the same experiment; None where the campaign names nothing."""
    text = results.published_toml()
    if text is None:
        return None
    found, repetitions = document.read(text, PUBLISHED), _repetitions(trials)
    return Publication(
        document=found,
        fields=beside_published.fields(found, repetitions),
        claims=beside_published.claimed(found, repetitions),
        audit=audit(found.figures),
    )


def _repetitions(trials: Sequence[TrialFindings]) -> list[Repetition]:
    return [
        Repetition(
            trial.recording,
            trial.summary,
            trial.level == "void",
            steps=_steps(trial),
            course=_course(trial),
            server_busy_ratio=(trial.course or {}).get("server_busy_ratio"),
        )
        for trial in trials
    ]


def _steps(trial: TrialFindings) -> tuple[int, ...]:
    """Complete answers in each whole second of ramps and holds."""
    stretches = [
        (stage.start_ns, stage.end_ns)
        for stage in trial.recording.stages
        if stage.kind != "warm_up"
    ]
    rows = trial.data.seconds.select(["second", "completed"]).to_pylist()
    return tuple(
        row["completed"]
        for row in rows
        if row["completed"] is not None and _is_within(second_window(row["second"]), stretches)
    )


def _is_within(second: Window, stretches: Sequence[Window]) -> bool:
    return any(start <= second[0] and second[1] <= end for start, end in stretches)


def _course(trial: TrialFindings) -> str:
    """The course of a trial; flat where the check `steady` finds that it does not matter."""
    name = str((trial.course or {}).get("course", ""))
    doubted = any(one.check == STEADY and one.level != "sound" for one in trial.verdicts)
    return name if doubted or name in ("", courses.SHORT) else courses.FLAT


def _compared(results: Results, trials: Sequence[TrialFindings]) -> pa.Table:
    """Rows of `tables.COMPARISONS`, kept as well."""
    compared = comparisons(_repetitions(trials))
    results.write_derived("comparisons", compared)
    return compared
