"""Locust: the CSV of its statistics (`--csv`, or downloaded from its page).

What its figures mean, by its documentation and its source (`locust/stats.py`):

- `Request Count` counts every request that ended, failed ones too, and `Requests/s` is that number
  / the time from the first request to the last.
- Times are in milliseconds, of all requests, failed ones too, connecting included. Percentiles are
  rounded: to whole milliseconds, from 100 ms on to tens, from 1 s on to hundreds, and so on.
  Average, minimum and maximum are not.
- Its users wait between requests: they say nothing about requests in flight.
- The line `Aggregated` adds all others up; the others are of one endpoint each.
"""

from __future__ import annotations

import csv
import io

from plimsoll.errors import InputError, Problem
from plimsoll.tool_output import numbers, restated
from plimsoll.tool_output.numbers import Marks, UnreadableNumber
from plimsoll.tool_output.reported import ReportedStatistics, Source, percentile_name

NAME = "Locust"
TITLE = "the CSV of Locust's statistics (`--csv`)"

NOTES = (
    "Locust includes failed requests in its rate and latencies",
    "Locust's users may wait between requests, so the number of requests in flight is not known",
)
_ALL = ("Aggregated", "Total")
_NAMES = {
    "Median Response Time": "p50", "Average Response Time": "mean",
    "Min Response Time": "min", "Max Response Time": "max",
}  # fmt: skip
_NEEDED = ("Name", "Request Count", "Requests/s")


def recognises(text: str) -> bool:
    """Whether a text is such a table."""
    first = text.lstrip("\ufeff").partition("\n")[0]
    return "Request Count" in first and "Average Response Time" in first


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """One result for each line, that of all requests first.

    Raises:
        InputError: A column is missing, or a number cannot be read.
    """
    bare = text.lstrip("\ufeff")
    separator = max(",;\t", key=bare.partition("\n")[0].count)
    try:
        reader = csv.DictReader(io.StringIO(bare), delimiter=separator)
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError([Problem(name, f"looks like {TITLE} but malformed: {error}")]) from error
    lacking = [column for column in _NEEDED if column not in (reader.fieldnames or ())]
    if lacking:
        message = f"looks like {TITLE} but has no column `{lacking[0]}`"
        raise InputError([Problem(f"{name}:1", message, "give the complete file")])
    known = numbers.marks(str(cell) for _, row in rows for cell in row.values())
    found = [_figures(row, line, name, known) for line, row in rows if row.get("Name")]
    return tuple(sorted(found, key=lambda one: one.endpoint != "" or one.subject != ""))


def _figures(row: dict[str, str], line: int, name: str, known: Marks) -> ReportedStatistics:
    cells = {key: str(cell) for key, cell in row.items() if cell}
    where = f"{name}:{line}"
    requests = _number(cells, "Request Count", known, where)
    failed = _number(cells, "Failure Count", known, where)
    shares = {
        percentile_name(key[:-1]): _number(cells, key, known, where)
        for key in cells
        if key and key.endswith("%") and key != "100%"
    }
    times = {ours: _number(cells, theirs, known, where) for theirs, ours in _NAMES.items()}
    held = {key: value / 1e3 for key, value in {**times, **shares}.items() if value is not None}
    return ReportedStatistics(
        source=Source(name, f"line {line}"),
        tool=NAME,
        model="unknown",
        endpoint=_endpoint(row),
        requests=requests,
        failures={"failed": failed} if failed else {},
        counts_failures=failed is not None,
        throughput_per_s=_number(cells, "Requests/s", known, where),
        counting="ends",
        times_s=held if requests else {},
        times="service",
        timed="ends",
        percentiles_step_s=_step_s(max((v or 0.0 for v in shares.values()), default=0.0)),
        restated=restated.at_most("`Failure Count`", failed, "`Request Count`", requests),
        notes=NOTES,
    )


def _endpoint(row: dict[str, str]) -> str:
    if row["Name"] in _ALL:
        return ""
    return " ".join(filter(None, (row.get("Type"), row["Name"])))


def _step_s(longest_ms: float) -> float:
    """What a percentile may be off by: half of the last of two digits."""
    step_ms = 1.0
    while longest_ms >= step_ms * 100:
        step_ms *= 10
    return step_ms / 2e3


def _number(cells: dict[str, str], column: str, known: Marks, where: str) -> float | None:
    if column not in cells:
        return None
    try:
        form = numbers.count if column.endswith("Count") else numbers.number
        return form(cells[column], known)
    except UnreadableNumber as error:
        raise InputError([Problem(where, f"`{column}`: {error}")]) from error
