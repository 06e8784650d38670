"""The section on the database: how busy it was, and what it counted for each response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.findings import database_use
from plimsoll.findings.trial import state_of
from plimsoll.report.contents import anchor
from plimsoll.report.contents.section import Section, SectionTable, TableRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.database_use import EntryDatabaseUse
    from plimsoll.findings.findings import Findings
    from plimsoll.plan import ComparedTable
    from plimsoll.recording import RecordedDatabase

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
    return Section(
        anchor=ANCHOR,
        title=TITLE,
        short="Database",
        caption=_caption([one.recording.database for one in trials if one.recording.database]),
        tables=tuple(_table(*one) for one in database_use.of_trials(trials).items()),
    )


def _caption(databases: Sequence[RecordedDatabase]) -> str:
    versions = wording.listed(list(dict.fromkeys(one.version for one in databases)))
    started = {one.cores for one in databases if one.started}
    cores = [f"on {wording.several(len(one), 'core')}" for one in started if one]
    return (
        f"PostgreSQL {versions} {', '.join(cores) or 'where it ran already'}. Busy: CPU time of "
        "its processes by the time of its cores in the measurement window. Rows and transactions "
        "by its own count, for each response of warm-up, load and contract checks, and the rows "
        "that a response needs at least; medians over repetitions."
    )


def _table(key: ComparedTable, entries: Sequence[EntryDatabaseUse]) -> SectionTable:
    endpoint, load, driver = key
    return SectionTable(
        title=f"{endpoint}, {load}, by {driver}",
        headings=_HEADINGS,
        numbers=tuple(range(1, len(_HEADINGS))),
        lines=tuple(map(_line, entries)),
        verdict="verdict",
        brief=(1, 2, 4),
    )


def _line(found: EntryDatabaseUse) -> TableRow:
    cells = (
        found.framework,
        wording.percent(wording.significant(found.busy_ratio, 2)),
        _each(found.rows_read),
        _each(found.rows_to_read),
        _each(found.rows_written),
        _each(found.rows_to_write),
        _each(found.commits),
    )
    first = found.trials[0].recording.trial
    return TableRow(cells, state_of(found.trials), anchor=anchor("trial", first))


def _each(count: float | None) -> str:
    """What was counted for each response."""
    return wording.ABSENT if count is None else wording.amount(wording.significant(count, 3) or 0.0)
