"""Use of a database: what each response of a framework read and wrote, by the database's count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.aggregate import by_figures
from plimsoll.findings.trial import by_table
from plimsoll.statistics.missing_values import median_of_known
from plimsoll.verdicts.catalogue import role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from plimsoll.findings.trial import TrialFindings
    from plimsoll.plan import ComparedTable
    from plimsoll.recording import RecordedDatabase


@dataclass(frozen=True)
class EntryDatabaseUse:
    """What one framework asked of its database; medians over trials, None where unknown.

    Attributes:
        framework: Framework and variant.
        trials: Its trials.
        busy_ratio: Share of its cores that the database kept busy.
        rows_read: Rows read for each response.
        rows_to_read: Rows that each response needs.
        rows_written: Rows written for each response.
        rows_to_write: Rows that each response must write.
        commits: Transactions for each response.
    """

    framework: str
    trials: tuple[TrialFindings, ...]
    busy_ratio: float | None
    rows_read: float | None
    rows_to_read: float | None
    rows_written: float | None
    rows_to_write: float | None
    commits: float | None


def of_trials(trials: Iterable[TrialFindings]) -> dict[ComparedTable, tuple[EntryDatabaseUse, ...]]:
    """Each framework, by endpoint, load and driver.

    Args:
        trials: Trials with a database.
    """
    return {
        table: tuple(_entry(framework, found) for framework, found in entries.items())
        for table, entries in by_table(trials).items()
    }


def _entry(framework: str, trials: Sequence[TrialFindings]) -> EntryDatabaseUse:
    databases = [one.recording.database for one in trials if one.recording.database is not None]
    busy = [
        verdict.measured
        for trial in trials
        for verdict in trial.verdicts
        if role(verdict.check).shown_in == "database"
    ]
    return EntryDatabaseUse(
        framework,
        tuple(trials),
        busy_ratio=median_of_known(busy),
        rows_read=_each(trials, lambda one: one.rows_read),
        rows_to_read=median_of_known(one.read_per_response or None for one in databases),
        rows_written=_each(
            trials, lambda one: one.rows_written if one.written_per_response else None
        ),
        rows_to_write=median_of_known(one.written_per_response or None for one in databases),
        commits=_each(trials, lambda one: one.commits),
    )


def _each(
    trials: Sequence[TrialFindings], counted: Callable[[RecordedDatabase], int | None]
) -> float | None:
    """What was counted for each response."""
    found: list[float | None] = []
    for trial in trials:
        database = trial.recording.database
        if database is None:
            continue
        responses = by_figures.responses_of_life(trial.recording, database.contract_responses)
        count = counted(database)
        found.append(count / responses if responses and count is not None else None)
    return median_of_known(found)
