"""CSV by the second, one file of successful responses and one of failures, as in the CENGN study.

Every second of the trial is a line, even if no request ended in it: its count is 0 and its times
are empty. Times are milliseconds with six decimals, which keeps nanoseconds.

Source:
    *Perfect-NIO-CENGN*: requests grouped by second; means of elapsed time, threads and latency;
    percentiles of elapsed time by `percentile_cont`; mean use of the CPU in percent of one core.
"""

from __future__ import annotations

import csv
from importlib import resources
from typing import TYPE_CHECKING, Any

from plimsoll.aggregate import query
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.aggregate.seconds import stretches
from plimsoll.export.threads import threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from plimsoll.aggregate.trial import Tables

    Row = Mapping[str, Any]
    Times = Mapping[tuple[int, bool], Row]
    """Times of the requests that ended in a second, by that second and whether they were right."""

NAME = "seconds"
FILES = ("seconds_success.csv", "seconds_failure.csv")
OF_ROWS = True

COLUMNS: tuple[str, ...] = (
    "second",
    "requests",
    "elapsed_mean_ms",
    "threads_mean",
    "latency_mean_ms",
    "elapsed_p25_ms",
    "elapsed_p50_ms",
    "elapsed_p75_ms",
    "elapsed_p95_ms",
    "cpu_percent",
)
"""Columns of both files."""


def write(of_trial: Tables, into: Path) -> tuple[str, ...]:
    """Writes both files.

    Args:
        of_trial: The tables of the trial.
        into: Folder of the files.

    Returns:
        Sentences on what the format cannot represent.

    Raises:
        OSError: They could not be written.
    """
    seconds = of_trial.counted_seconds.to_pylist()
    for second, at_work in zip(seconds, threads(of_trial), strict=True):
        second["threads"] = at_work
    times = _times(of_trial, seconds)
    for name, counted, is_right in zip(FILES, ("ok", "failed"), (True, False), strict=True):
        _write(into / name, (_row(second, counted, times, is_right) for second in seconds))
    return _missing(seconds)


def _times(of_trial: Tables, seconds: Iterable[Row]) -> Times:
    sql = resources.files("plimsoll.export").joinpath("seconds.sql").read_text("utf-8")
    ended = [(row["second"], (row["completed"] or 0) + (row["failed"] or 0)) for row in seconds]
    times: dict[tuple[int, bool], Row] = {}
    with query.opened(requests=of_trial.requests) as database:
        for first, last in stretches(ended):
            window = {"from_ns": first * SECOND_NS, "until_ns": (last + 1) * SECOND_NS}
            cursor = database.execute(sql, window)
            names = [str(column[0]) for column in cursor.description or ()]
            for values in cursor.fetchall():
                row = dict(zip(names, values, strict=True))
                times[row["second"], row["is_right"]] = row
    return times


def _row(second: Row, counted: str, times: Times, is_right: bool) -> dict[str, object]:
    """One line of a file."""
    known = times.get((second["second"], is_right), {})
    cores = second["server_busy_cores"]
    quartiles = ("elapsed_p25_ms", "elapsed_p50_ms", "elapsed_p75_ms", "elapsed_p95_ms")
    percentiles = known.get("elapsed_percentiles_ms") or [None] * len(quartiles)
    return {
        "second": second["second"],
        "requests": second[counted],
        "elapsed_mean_ms": _decimal(known.get("elapsed_mean_ms")),
        "threads_mean": _decimal(second["threads"], 3),
        "latency_mean_ms": _decimal(known.get("latency_mean_ms")),
        **{name: _decimal(value) for name, value in zip(quartiles, percentiles, strict=True)},
        "cpu_percent": _decimal(None if cores is None else 100 * cores, 3),
    }


def _decimal(number: float | None, places: int = 6) -> str:
    return "" if number is None else f"{number:.{places}f}"


def _write(path: Path, rows: Iterator[dict[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _missing(seconds: Iterable[Row]) -> tuple[str, ...]:
    rows = [*seconds]
    unread = {"threads_mean": "threads", "cpu_percent": "server_busy_cores"}
    return tuple(
        f"`{column}` is empty: it was not sampled in this trial"
        for column, source in unread.items()
        if all(row[source] is None for row in rows)
    )
