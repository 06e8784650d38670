"""Does every request that was sent have a row, and every row a request that was sent?

    requests sent = correct + wrong + refused + timed out + lost + malformed + unfinished

Both sides are counted independently: by the load generator as it works, outcome by outcome, and
here from the rows. Any difference voids the trial, because the percentiles would then cover an
unknown set of requests. The same holds for connections. Rows with timestamps out of order are not
requests either.

Of another tool's log, lines that could not be read are requests without a row, and so are numbers
that are missing where the log numbers its requests. A row that is there twice counts its request
twice: each row of a log, or some of them. Where a log has coarse times, rows may be the same by
chance, about as often as rows of neighbouring instants are but for the instant; those are
subtracted.

Source: conservation of requests; the driver's counters do not pass through its recorder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import by_figures
from plimsoll.aggregate.outcomes import BY_NAME, COMPLETED
from plimsoll.verdicts.finding import Finding, Remedy, found, led_by, of_trial, unknown
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.remedies import REPEAT
from plimsoll.verdicts.role import Role
from plimsoll.verdicts.verdict import DOUBTING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.aggregate.check_inputs import RepeatedRows
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Driver
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "conservation"
TITLE = "Conservation"
PROBLEM = "Requests not conserved"
SOURCE = "requests sent = sum of their outcomes, counted by the load generator and from the rows"
ROWS_LOST = Limit(
    NAME,
    "rows_lost",
    "above",
    None,
    0.0,
    "rows",
    "rows that the recorder could not keep",
    "every request is a row",
)
ROWS_DIFFER = Limit(
    NAME,
    "rows_differ",
    "above",
    None,
    0.0,
    "rows",
    "difference between rows and the load generator's own counters",
    "every request is a row",
)
ROWS_IMPOSSIBLE = Limit(
    NAME,
    "rows_impossible",
    "above",
    None,
    0.0,
    "rows",
    "rows with timestamps out of order, or an unknown outcome",
    "a response comes after its request",
)
LINES_MALFORMED_RATIO = Limit(
    NAME,
    "lines_malformed_ratio",
    "above",
    0.001,
    0.01,
    "ratio",
    "lines of another tool's log that could not be read / its lines with a request",
    "from there on, p99.9 and p99 of the rows are not those of the requests",
)
ROWS_MISSING_RATIO = Limit(
    NAME,
    "rows_missing_ratio",
    "above",
    0.001,
    0.01,
    "ratio",
    "requests that another tool's log numbers and has no row of / all that it numbers",
    "as for malformed lines",
)
ROWS_REPEATED = Limit(
    NAME,
    "rows_repeated",
    "above",
    None,
    1.0,
    "times",
    "how many times each row of another tool's log is there",
    "every request is one row",
)
ROWS_REPEATED_RATIO = Limit(
    NAME,
    "rows_repeated_ratio",
    "above",
    0.001,
    0.01,
    "ratio",
    "rows of another tool's log that repeat another one / its rows",
    "as for malformed lines",
)
LIMITS = (
    ROWS_LOST,
    ROWS_DIFFER,
    ROWS_IMPOSSIBLE,
    LINES_MALFORMED_RATIO,
    ROWS_MISSING_RATIO,
    ROWS_REPEATED,
    ROWS_REPEATED_RATIO,
)
NEEDS = EveryRequest(ROWS_DIFFER, "whether each request was counted exactly once is unknown")
_COMPLETE_LOG = Remedy(
    "Repeat the trial, with a log of the load generator that is complete",
    imported="Repair the lines that the import names, or repeat the test",
)
_WHOLE_LOG = Remedy(
    "Repeat the trial, with a log of the load generator that is complete",
    imported="Give the whole log: rows were removed from it, or were never written",
)
_ONE_ROW_EACH = Remedy(
    "Repeat the trial, with a log that has each request once",
    imported="Give a log that has each request once: it may have been merged with a copy of itself",
)
FEWEST_DIFFERENT = 20
"""Fewer rows may all be there twice by chance, in a log with coarse times."""

ROLE = Role(is_essential=True, needs_no_time=True)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether rows and the driver's own counters agree."""
    driver = tables.recording.driver
    findings = led_by(
        _differing(tables, limits),
        _lost(driver, limits),
        _impossible(tables, limits),
        *_malformed(tables, limits),
        *_missing(tables, limits),
        *_repeated(tables, limits),
    )
    return of_trial(NAME, tables.recording, findings, SOURCE)


def _differing(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(ROWS_DIFFER)
    driver = tables.recording.driver
    if driver is not None and driver.sent is None and driver.figures is not None:
        return _printed(tables, driver.figures, limits)
    if driver is None or driver.sent is None:
        sentence = "the load generator does not count requests, so rows could not be compared"
        return unknown(limit, sentence, "Use a load generator that counts its requests")
    counted, rows = _by_the_driver(driver), _by_the_rows(tables)
    differences = {
        name: rows.get(name, 0) - number
        for name, number in (dict.fromkeys(rows, 0) | counted).items()
        if rows.get(name, 0) != number
    }
    total = sum(row.requests for row in tables.outcome_counts)
    sentence = (
        "counters of the load generator differ from its rows: "
        f"{_listed(differences, rows, counted)}"
        if differences
        else f"all {wording.count(total)} requests that the load generator counted are recorded"
    )
    return found(limit, float(max(map(abs, differences.values()), default=0)), sentence, REPEAT)


def _printed(tables: Tables, figures: ReportedStatistics, limits: Limits) -> Finding:
    """What a foreign driver printed of its hold against the rows that it wrote."""
    rows = sum(row.requests for row in tables.outcome_counts)
    responded = sum(row.requests for row in tables.outcome_counts if row.outcome in COMPLETED)
    printed = by_figures.complete_responses(figures)
    sentence = (
        f"the load generator printed {wording.count(printed)} responses and recorded "
        f"{wording.several(rows, 'request')}, {wording.count(responded)} of them with a response"
    )
    return found(limits.of(ROWS_DIFFER), abs(responded - printed), sentence, REPEAT)


def _by_the_driver(driver: Driver) -> dict[str, int]:
    """The driver's own counters, by description."""
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
        rows["connections opened"] = tables.summary.connections_opened or 0
    if driver is not None and driver.refused is not None:
        rows["connections refused"] = tables.summary.connections_refused or 0
    return rows


def _listed(
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
    limit = limits.of(ROWS_LOST)
    if driver is not None and driver.sent is None and driver.figures is None:
        sentence = "the load generator does not report whether it recorded every request"
        return unknown(limit, sentence, "Use a load generator that counts its requests")
    lost = 0 if driver is None else driver.requests_lost_by_recorder
    sentence = (
        f"{wording.several(lost, 'request')} could not be written fast enough and are lost"
        if lost
        else "no row was lost"
    )
    return found(limit, float(lost), sentence, "Write to a faster disk, or use a lower load")


def _malformed(tables: Tables, limits: Limits) -> Iterator[Finding]:
    """Lines of a log that could not be read, where there are so many that they raise a doubt."""
    driver = tables.recording.driver
    broken = 0 if driver is None else driver.lines_malformed
    lines = broken + sum(row.requests for row in tables.outcome_counts)
    if not broken:
        return
    sentence = (
        f"{wording.percent(broken / lines)} of the lines of the load generator's log are malformed "
        f"({wording.count(broken)} of {wording.count(lines)}), and their requests are missing"
    )
    yield from _if_doubting(
        limits.of(LINES_MALFORMED_RATIO), broken / lines, sentence, _COMPLETE_LOG
    )


def _missing(tables: Tables, limits: Limits) -> Iterator[Finding]:
    """Numbers of a log that have no row, where there are so many that they raise a doubt."""
    missing = 0 if tables.recording.driver is None else tables.recording.driver.rows_missing
    if not missing:
        return
    numbered = missing + sum(row.requests for row in tables.outcome_counts)
    sentence = (
        f"by the numbers of the log {wording.percent(missing / numbered)} of its requests have no "
        f"row ({wording.count(missing)} of {wording.count(numbered)})"
    )
    yield from _if_doubting(limits.of(ROWS_MISSING_RATIO), missing / numbered, sentence, _WHOLE_LOG)


def _if_doubting(limit: Limit, ratio: float, sentence: str, remedy: Remedy) -> Iterator[Finding]:
    """What is missing or repeated, where it is so much that it raises a doubt."""
    finding = found(limit, ratio, sentence, remedy)
    if finding.level in DOUBTING:
        yield finding


def _repeated(tables: Tables, limits: Limits) -> Iterator[Finding]:
    """That every row of a log is there several times, or that some are."""
    if tables.recording.origin != "import" or not tables.outcome_counts:
        return
    repeated = tables.repeated_rows
    if repeated.different < FEWEST_DIFFERENT:
        return
    rows = sum(row.requests for row in tables.outcome_counts)
    often = "twice" if repeated.times == 2 else f"{repeated.times} times"  # noqa: PLR2004
    sentence = (
        f"every row is there {often}: {wording.count(rows)} rows are "
        f"{wording.count(rows // repeated.times)} requests, and throughput is too high by that"
    )
    finding = found(limits.of(ROWS_REPEATED), float(repeated.times), sentence, _ONE_ROW_EACH)
    if finding.level in DOUBTING:
        yield finding
    else:
        yield from _repeated_in_part(repeated, limits)


def _repeated_in_part(repeated: RepeatedRows, limits: Limits) -> Iterator[Finding]:
    """That some rows of a log are there several times."""
    sentence = (
        f"{wording.percent(repeated.ratio)} of the rows of the log repeat another one: those "
        "requests count twice"
    )
    yield from _if_doubting(limits.of(ROWS_REPEATED_RATIO), repeated.ratio, sentence, _ONE_ROW_EACH)


def _impossible(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(ROWS_IMPOSSIBLE)
    rows = tables.outcome_counts
    number = sum(r.requests if r.outcome not in BY_NAME else r.impossible for r in rows)
    if not number:
        return found(limit, 0.0, "all timestamps are consistent", "")
    sentence = (
        f"{wording.several(number, 'request')} cannot have happened as recorded: "
        f"{_why_impossible(tables, number)}"
    )
    return found(limit, float(number), sentence, REPEAT)


def _why_impossible(tables: Tables, number: int) -> str:
    early = tables.ended_before_first_byte
    late_byte = "the first byte comes after the end of the response"
    if early >= number:
        return late_byte
    rest = "completed before they were sent, or with an unknown outcome"
    return f"of {wording.count(early)} {late_byte}; others {rest}" if early else rest
