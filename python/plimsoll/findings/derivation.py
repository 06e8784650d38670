"""Derivation: what follows from one trial, worked out once and kept beside its recording.

A trial is derived and judged when it ends. What was kept is used again as long as it was made by
this version, with the same limits, from the same recording; else it is made anew. So a trial costs
the same however many others there are.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import plimsoll
from plimsoll import aggregate, tables
from plimsoll.aggregate import (
    connections,
    distribution,
    failures,
    kinds,
    latency_buckets,
    machine_speed,
    memory,
    rate_levels,
    stages,
    stalls,
    statuses,
    steady_state,
)
from plimsoll.aggregate.outcomes import NOT_FAILED
from plimsoll.aggregate.steady_state import SteadyState
from plimsoll.aggregate.summaries import summaries
from plimsoll.aggregate.summary import Summary
from plimsoll.aggregate.trial import stored
from plimsoll.aggregate.unfinished import Unfinished
from plimsoll.findings.trial import TrialData, TrialFindings
from plimsoll.storage.results import DerivedTrial
from plimsoll.verdicts.catalogue import LIMITS
from plimsoll.verdicts.judge import judge
from plimsoll.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results

SCHEMAS = {
    "seconds": tables.SECONDS.schema,
    "summaries": tables.SUMMARIES.schema,
    "stages": tables.STAGES.schema,
    "quantiles": tables.QUANTILES.schema,
    "latency_buckets": tables.LATENCY_BUCKETS.schema,
    **{table.name: table.schema for table in tables.REPORT_TABLES},
}
"""Derived tables with rows of single trials; those that do not name it get a column `trial`."""


def of_trial(results: Results, recording: Recording, *, again: bool = False) -> TrialFindings:
    """What is known of one trial: what was kept of it, or else derived and judged now, and kept.

    Args:
        results: Where its rows are.
        recording: Its recording.
        again: Whether it is derived anew, whatever was kept.

    Raises:
        StorageError: The rows could not be read, or what follows from them not be kept.
    """
    found = None if again else kept(results, recording)
    return derived(results, recording) if found is None else found


def derived(results: Results, recording: Recording) -> TrialFindings:
    """What is known of one trial, derived and judged now, and kept.

    Args:
        results: Where its rows are.
        recording: Its recording.

    Raises:
        StorageError: The rows could not be read, or what follows from them not be kept.
    """
    found = _derived(stored(results, recording))
    results.write_derived_trial(recording.trial, found)
    return _findings(recording, found)


def kept(results: Results, recording: Recording) -> TrialFindings | None:
    """What was kept of one trial; None when it was not derived from what is there now.

    Args:
        results: Where it was kept.
        recording: Its recording.

    Raises:
        StorageError: It could not be read.
    """
    found = _kept(results, recording)
    return None if found is None else _findings(recording, found)


def judged(trial: Tables) -> TrialFindings:
    """What is known of one trial without what its charts are drawn from: those tables are empty.

    Args:
        trial: Its tables.
    """
    empty = _nothing(trial.recording)
    verdicts = [dataclasses.asdict(verdict) for verdict in judge(trial)]
    shown = {
        "summaries": summaries([(trial.recording, trial.summary)] if _has_load(trial) else []),
        "statuses": statuses.by_request(trial.status_counts),
        "kinds": kinds.kinds(trial.recording, trial.requests),
        "stalls": stalls.of_trial(trial.recording, trial.stalls),
    }
    named = {key: _named(table, trial.recording.trial) for key, table in shown.items()}
    found = _findings(
        trial.recording,
        DerivedTrial(
            {**empty.tables, **named},
            {"verdicts": verdicts, "unfinished": dataclasses.asdict(trial.unfinished)},
        ),
    )
    if not _has_failed(trial):
        return found
    known = failures.of_trial(trial.recording, trial.requests)
    return dataclasses.replace(found, failures=known)


def listed(trial: Tables, found: TrialFindings) -> TrialFindings:
    """The same with what only a list of everything needs: the steady state.

    Args:
        trial: Its tables.
        found: What `judged` found.
    """
    return dataclasses.replace(
        found,
        steady_state=steady_state.in_full(
            trial.recording, trial.requests, trial.usage, trial.served
        ),
    )


def _has_failed(trial: Tables) -> bool:
    """Whether any request has failed, also outside of the measurement window."""
    return any(one.requests and one.outcome not in NOT_FAILED for one in trial.outcome_counts)


def _has_load(trial: Tables) -> bool:
    """Whether a load was put on, and a summary says what it amounts to."""
    driver = trial.recording.driver
    return driver is not None and not (driver.uses_reported_statistics and driver.figures is None)


def kept_of_trial(results: Results, recording: Recording) -> TrialFindings | None:
    """What was kept of a trial; None when it was not derived from what is there now.

    Nothing is derived and nothing written. Of a trial that an error ended, and that was not
    derived, only the error is known.

    Args:
        results: Where it was kept.
        recording: Its recording.

    Raises:
        StorageError: It could not be read.
    """
    found = kept(results, recording)
    if found is None and recording.ending.kind != "completed":
        return _findings(recording, _nothing(recording))
    return found


def _nothing(recording: Recording) -> DerivedTrial:
    """The derived tables of a trial without rows."""
    empty = {key: _named(one.empty_table(), recording.trial) for key, one in SCHEMAS.items()}
    return DerivedTrial(empty, {"verdicts": []})


def _kept(results: Results, recording: Recording) -> DerivedTrial | None:
    """What was kept of a trial; None when it was not made from what is there now."""
    found = results.read_derived_trial(recording.trial)
    if found is None or found.judged.get("origin") != _origin(recording):
        return None
    is_whole = all(_has_columns(found.tables.get(key), one) for key, one in SCHEMAS.items())
    return found if is_whole else None


def _has_columns(table: pa.Table | None, schema: pa.Schema) -> bool:
    return table is not None and {*schema.names} <= {*table.column_names}


def _origin(recording: Recording) -> dict[str, str]:
    """What is derived from a trial is of no use once any of this has changed."""
    recorded = json.dumps(recording, default=_fields, sort_keys=True)
    return {
        "plimsoll": plimsoll.__version__,
        "recording": hashlib.sha256(recorded.encode()).hexdigest(),
        "limits": _limits(),
    }


def _fields(value: DataclassInstance) -> dict[str, object]:
    """The fields of a dataclass without a copy of what they hold."""
    return {name: getattr(value, name) for name in _field_names(type(value))}


@cache
def _field_names(kind: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(one.name for one in dataclasses.fields(kind))


@cache
def _limits() -> str:
    """Digest of the limits of all checks; those that a campaign changes are in its recordings."""
    return hashlib.sha256(repr(LIMITS).encode()).hexdigest()


def _derived(trial: Tables) -> DerivedTrial:
    """Every derived table of a trial, and its verdicts."""
    name = trial.recording.trial
    with aggregate.database.shared():
        verdicts = [dataclasses.asdict(verdict) for verdict in judge(trial)]
        derived = _tables(trial)
        unfinished = dataclasses.asdict(trial.unfinished)
    return DerivedTrial(
        tables={key: _named(table, name) for key, table in derived.items()},
        judged={
            "origin": _origin(trial.recording),
            "trial": name,
            "verdicts": verdicts,
            "unfinished": unfinished,
        },
    )


def _tables(trial: Tables) -> dict[str, pa.Table]:
    """Rows of every derived table of one trial; none of a summary where no load was put on."""
    seconds = trial.seconds
    count = seconds.num_rows
    return {
        "seconds": seconds,
        "summaries": summaries([(trial.recording, trial.summary)] if _has_load(trial) else []),
        "stages": stages.stages(trial.recording),
        "quantiles": distribution.of_trial(trial.recording, trial.requests),
        "latency_buckets": latency_buckets.of_trial(trial.recording, trial.requests, count),
        "failures_by_second": failures.by_second(trial.recording, trial.requests),
        "statuses": statuses.by_request(trial.status_counts),
        "memory_by_second": memory.by_second(trial.readings, count),
        "connections_by_second": connections.by_second(trial.connections, trial.requests, count),
        "kinds": kinds.kinds(trial.recording, trial.requests),
        "rate_levels": rate_levels.of_trial(trial.recording, trial.requests),
        "stalls": stalls.of_trial(trial.recording, trial.stalls),
        "steady_states": steady_state.table(
            trial.recording, trial.requests, trial.usage, trial.served
        ),
        "machine_speed": machine_speed.by_second(trial.recording, trial.usage),
    }


def _named(table: pa.Table, trial_id: str) -> pa.Table:
    """A table of one trial with the column `trial`."""
    if "trial" in table.column_names:
        return table
    return table.append_column("trial", pa.array([trial_id] * table.num_rows, pa.string()))


def _findings(recording: Recording, derived: DerivedTrial) -> TrialFindings:
    of = derived.tables
    summary = of["summaries"].to_pylist()
    failed = of["failures_by_second"]
    return TrialFindings(
        data=TrialData(
            recording=recording,
            summary=Summary.of_row(summary[0]) if summary else None,
            seconds=of["seconds"],
            memory=of["memory_by_second"],
            connections=of["connections_by_second"],
            failures=failed,
            latencies=of["latency_buckets"],
            machine_speed=of["machine_speed"],
        ),
        verdicts=tuple(Verdict.read(values) for values in derived.judged["verdicts"]),
        failures=failures.kinds(failed),
        kinds=tuple(_rows(of["kinds"])),
        rate_levels=tuple(_rows(of["rate_levels"])),
        stalls=next(iter(_rows(of["stalls"])), None),
        statuses=statuses.totals(of["statuses"]),
        quantiles=distribution.of_rows(of["quantiles"]),
        steady_state=next(map(SteadyState.of_row, _rows(of["steady_states"])), None),
        unfinished=Unfinished(**derived.judged.get("unfinished", {})),
    )


def _rows(table: pa.Table) -> list[Any]:
    """Rows without the name of their trial: each column by its name."""
    return table.drop_columns("trial").to_pylist()
