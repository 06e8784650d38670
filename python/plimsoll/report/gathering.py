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
from plimsoll.aggregate import connections, failures, memory
from plimsoll.aggregate.comparisons import Repetition, comparisons
from plimsoll.aggregate.summaries import summaries
from plimsoll.aggregate.trial import Tables
from plimsoll.canvas import TrialData
from plimsoll.report.findings import Findings, TrialFindings
from plimsoll.verdicts.judge import judge
from plimsoll.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.recording import Recording
    from plimsoll.storage.parquet import Results

    Derived = Mapping[str, pa.Table]
    """Derived tables by name."""

JUDGED = "verdicts"
"""Name of the derived content that is no table: verdicts, and what all of it was made from."""

SCHEMAS = {
    "seconds": tables.SECONDS.schema,
    "summaries": tables.SUMMARIES.schema,
    "failures_by_second": failures.BY_SECOND,
    "memory_by_second": memory.BY_SECOND,
    "connections_by_second": connections.BY_SECOND,
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
    trials = tuple(_trial(recording, derived, verdicts) for recording in recordings)
    found = {recording.trial for recording in recordings}
    return Findings(
        campaign=results.folder.resolve().name,
        version=plimsoll.__version__,
        trials=trials,
        comparisons=_compared(results, trials),
        missing=tuple(planned for planned in results.planned_ids() if planned not in found),
    )


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
        of_trial = _tables(results, recording)
        verdicts += judge(of_trial)
        for name, table in _of_trial(of_trial).items():
            made[name].append(_named(table, recording.trial))
    derived = {name: pa.concat_tables(parts) for name, parts in made.items()}
    for name, table in derived.items():
        results.write_derived(name, table)
    judged = [dataclasses.asdict(verdict) for verdict in verdicts]
    results.write_derived_json(JUDGED, {"origin": _origin(recordings), "verdicts": judged})
    return derived, tuple(verdicts)


def _tables(results: Results, recording: Recording) -> Tables:
    requests, attempts, readings = (
        results.table(recording.trial, name) for name in ("requests", "connections", "usage")
    )
    return Tables(recording, requests, attempts, readings)


def _of_trial(of_trial: Tables) -> dict[str, pa.Table]:
    """Rows of every derived table of one trial; none of a summary where no load was put on."""
    seconds = of_trial.seconds
    count = seconds.num_rows
    has_load = of_trial.recording.driver is not None
    return {
        "seconds": seconds,
        "summaries": summaries([of_trial.summary] if has_load else []),
        "failures_by_second": failures.by_second(of_trial.requests),
        "memory_by_second": memory.by_second(of_trial.readings, count),
        "connections_by_second": connections.by_second(
            of_trial.connections, of_trial.requests, count
        ),
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
    )


def _compared(results: Results, trials: Sequence[TrialFindings]) -> pa.Table:
    """Rows of `tables.COMPARISONS`, kept as well."""
    repetitions = [
        Repetition(trial.recording, trial.summary, trial.level == "void") for trial in trials
    ]
    compared = comparisons(repetitions)
    results.write_derived("comparisons", compared)
    return compared
