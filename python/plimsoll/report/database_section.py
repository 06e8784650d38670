"""The section on the database: how busy it was, and what it counted for each response."""

from __future__ import annotations

from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.findings.trial import state_of
from plimsoll.report import words
from plimsoll.report.contents import anchor
from plimsoll.report.section import Section, SectionTable, TableRow
from plimsoll.verdicts.checks import database_headroom, rows_from_database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.recording import RecordedDatabase

    Key = tuple[str, str, str]
    """Endpoint, load and driver."""

ANCHOR = "database"
TITLE = "Database"
_HEADINGS = ("framework", "database busy", "read", "needed", "written", "needed", "transactions")


def section(findings: Findings) -> Section | None:
    """The section; None where no trial had a database.

    Args:
        findings: What to report.
    """
    trials = [one for one in findings.trials if one.recording.database is not None]
    if not trials:
        return None
    groups = groupby(sorted(trials, key=_key), key=_key)
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        short="Database",
        caption=_caption([one.recording.database for one in trials if one.recording.database]),
        tables=tuple(_table(key, list(group)) for key, group in groups),
    )


def _key(trial: TrialFindings) -> Key:
    recording = trial.recording
    return recording.endpoint, recording.load.name, recording.driver_name


def _caption(databases: Sequence[RecordedDatabase]) -> str:
    versions = wording.listed(list(dict.fromkeys(one.version for one in databases)))
    started = {one.cores for one in databases if one.started}
    cores = [f"on {wording.several(len(one), 'core')}" for one in started if one]
    return (
        f"PostgreSQL {versions} {', '.join(cores) or 'where it ran already'}. Busy: CPU time of "
        "its processes by the time of its cores in the measurement window. Rows and transactions "
        "by its own count, for each response of load and contract checks, and the rows that a "
        "response needs at least; medians over repetitions."
    )


def _table(key: Key, trials: Sequence[TrialFindings]) -> SectionTable:
    by_framework: dict[str, list[TrialFindings]] = {}
    for trial in trials:
        by_framework.setdefault(trial.recording.title, []).append(trial)
    endpoint, load, driver = key
    return SectionTable(
        title=f"{endpoint}, {load}, by {driver}",
        headings=_HEADINGS,
        numbers=tuple(range(1, len(_HEADINGS))),
        lines=tuple(_line(framework, ours) for framework, ours in by_framework.items()),
        verdict="verdict",
        brief=(1, 2, 4),
    )


def _line(framework: str, trials: Sequence[TrialFindings]) -> TableRow:
    busy = [
        verdict.measured
        for trial in trials
        for verdict in trial.verdicts
        if verdict.check == database_headroom.NAME
    ]
    cells = (
        framework,
        _shown(busy, wording.percent, digits=2),
        _each(trials, lambda one: one.rows_read),
        _needed(trials, lambda one: one.read_per_response),
        _each(trials, lambda one: one.rows_written if one.written_per_response else None),
        _needed(trials, lambda one: one.written_per_response),
        _each(trials, lambda one: one.commits),
    )
    return TableRow(cells, state_of(trials), anchor=anchor("trial", trials[0].recording.trial))


def _each(
    trials: Sequence[TrialFindings], counted: Callable[[RecordedDatabase], int | None]
) -> str:
    """What was counted for each response."""
    found: list[float | None] = []
    for trial in trials:
        database, responses = (
            trial.recording.database,
            rows_from_database.responses(trial.recording),
        )
        count = None if database is None else counted(database)
        found.append(count / responses if responses and count is not None else None)
    return _shown(found, wording.amount, digits=3)


def _needed(trials: Sequence[TrialFindings], needed: Callable[[RecordedDatabase], int]) -> str:
    databases = (trial.recording.database for trial in trials)
    return _shown([needed(one) or None for one in databases if one], wording.amount, digits=3)


def _shown(values: Iterable[float | None], spoken: Callable[[float], str], *, digits: int) -> str:
    """The median of what is known, to so many digits; a dash where nothing is."""
    known = [value for value in values if value is not None]
    return spoken(float(f"{median(known):.{digits}g}")) if known else words.ABSENT
