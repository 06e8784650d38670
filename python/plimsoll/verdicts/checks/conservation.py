"""Is every request that was sent a row, and every row a request that was sent?

    requests sent = right + wrong + refused + timed out + lost + malformed + unfinished

Both sides are counted twice, independently: by the driver while it works, outcome by outcome, and
here from the rows. Any difference voids the trial, for then nobody knows which requests the
percentiles are of. The same holds for connections. Rows whose instants run backwards are no
requests either.

Source: conservation of requests; the driver's counters do not pass through its recorder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate import by_figures
from plimsoll.aggregate.outcomes import BY_NAME, COMPLETED
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.aggregate.trial import Tables
    from plimsoll.published.figures import Figures
    from plimsoll.recording import Driver
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "conservation"
SOURCE = "requests sent = sum of their outcomes, counted by the driver and from the rows"
REMEDY = "Do not use this trial; repeat it, and report a fault if it happens again"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether rows and the driver's own counters agree."""
    driver = tables.recording.driver
    findings = [_differing(tables, limits), _lost(driver, limits), _impossible(tables, limits)]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _differing(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "rows_differ")
    driver = tables.recording.driver
    if driver is not None and driver.sent is None and driver.figures is not None:
        return _printed(tables, driver.figures, limits)
    if driver is None or driver.sent is None:
        sentence = "the driver did not say how many requests it sent, so rows could not be counted"
        return unknown(limit, sentence, "Use a driver that counts its requests")
    counted, rows = _by_the_driver(driver), _by_the_rows(tables)
    differences = {
        name: rows.get(name, 0) - number
        for name, number in (dict.fromkeys(rows, 0) | counted).items()
        if rows.get(name, 0) != number
    }
    total = sum(row.requests for row in tables.outcome_counts)
    sentence = (
        f"the driver counted other numbers than its rows show: {_told(differences, rows, counted)}"
        if differences
        else f"all {wording.count(total)} requests that the driver counted are recorded, and no "
        "other"
    )
    return found(limit, float(max(map(abs, differences.values()), default=0)), sentence, REMEDY)


def _printed(tables: Tables, figures: Figures, limits: Limits) -> Finding:
    """What a foreign driver printed of its hold against the rows that it wrote."""
    rows = sum(row.requests for row in tables.outcome_counts)
    answered = sum(row.requests for row in tables.outcome_counts if row.outcome in COMPLETED)
    printed = by_figures.answers(figures)
    sentence = (
        f"the driver printed {wording.count(printed)} answers and wrote down "
        f"{wording.several(rows, 'request')}, {wording.count(answered)} of them answered"
    )
    return found(limits.of(NAME, "rows_differ"), abs(answered - printed), sentence, REMEDY)


def _by_the_driver(driver: Driver) -> dict[str, int]:
    """The driver's own counters, in words."""
    counted = {f"requests `{name}`": number for name, number in driver.outcomes.items()}
    counted["requests sent"] = driver.sent or 0
    if driver.opened is not None:
        counted["connections opened"] = driver.opened
    if driver.refused is not None:
        counted["connections refused"] = driver.refused
    return counted


def _by_the_rows(tables: Tables) -> dict[str, int]:
    """The same from the rows; outcomes and connections only where the driver counts them."""
    rows: dict[str, int] = {}
    driver = tables.recording.driver
    counts_outcomes = driver is None or driver.outcomes or not driver.sent
    for row in tables.outcome_counts if counts_outcomes else ():
        name = f"requests `{row.outcome}`"
        rows[name] = rows.get(name, 0) + row.requests
    rows["requests sent"] = sum(row.sent for row in tables.outcome_counts)
    if driver is not None and driver.opened is not None:
        rows["connections opened"] = tables.summary["connections_opened"]
    if driver is not None and driver.refused is not None:
        rows["connections refused"] = tables.summary["connections_refused"]
    return rows


def _told(
    differences: Mapping[str, int], rows: Mapping[str, int], counted: Mapping[str, int]
) -> str:
    largest = sorted(differences, key=lambda name: -abs(differences[name]))
    return wording.listed(
        [
            f"{name} {wording.count(counted.get(name, 0))} against "
            f"{wording.count(rows.get(name, 0))} rows"
            for name in largest
        ]
    )


def _lost(driver: Driver | None, limits: Limits) -> Finding:
    limit = limits.of(NAME, "rows_lost")
    if driver is not None and driver.sent is None and driver.figures is None:
        sentence = "whether the driver wrote down every request cannot be told"
        return unknown(limit, sentence, "Use a driver that counts its requests")
    lost = 0 if driver is None else driver.requests_lost_by_recorder
    sentence = (
        f"{wording.several(lost, 'request')} could not be written down fast enough"
        if lost
        else "no row was lost"
    )
    return found(limit, float(lost), sentence, "Write to a faster disk, or ask for less load")


def _impossible(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "rows_impossible")
    rows = tables.outcome_counts
    number = sum(r.requests if r.outcome not in BY_NAME else r.impossible for r in rows)
    sentence = (
        f"{wording.several(number, 'request')} cannot have happened as recorded: answered before "
        "they were sent, or ended in a way that nobody knows"
        if number
        else "every row is possible"
    )
    return found(limit, float(number), sentence, REMEDY)
