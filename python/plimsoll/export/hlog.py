"""HdrHistogram interval logs: times of complete responses, a histogram per second and request type.

`service_time.hlog` starts at the send time of a request; `response_time.hlog` at its due time, and
is free of coordinated omission. A second without a response is an empty histogram.

Source:
    HdrHistogram, HistogramLogWriter: log format 1.3, with tags.
"""

from __future__ import annotations

import re
from importlib import resources
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import plimsoll
from plimsoll.aggregate import query
from plimsoll.export import clock, histogram

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import duckdb

    from plimsoll.aggregate.trial import Tables

    Interval = tuple[int, list[tuple[int, int]]]
    """The longest time, and the cells of a histogram."""

NAME = "hlog"
FILES = ("response_time.hlog", "service_time.hlog")
OF_ROWS = True

BEGINS = {"response_time": "due_ns", "service_time": "sent_ns"}
"""The timestamp at which each of the two times begins."""

LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'

FETCHED = 1 << 16
"""Cells read at a time."""

_EMPTY: Interval = (0, [])


def write(of_trial: Tables, into: Path) -> tuple[str, ...]:
    """Writes both logs.

    Args:
        of_trial: The tables of the trial.
        into: Folder of the files.

    Returns:
        Sentences on what the format cannot represent.

    Raises:
        OSError: They could not be written.
    """
    unsaid: list[str] = []
    with query.opened(requests=of_trial.requests) as database:
        for time, begin in BEGINS.items():
            if _is_known(database, begin):
                kinds = of_trial.recording.kinds
                _write(into / f"{time}.hlog", of_trial, _seconds(database, begin, kinds))
            else:
                unsaid.append(f"no `{time}.hlog`: it is unknown when requests were {begin[:-3]}")
    return tuple(unsaid)


def tag(kind: str) -> str:
    """A request type as a tag, without commas and white space."""
    return re.sub(r"[\s,]+", "_", kind) or "_"


def sql(begin: str) -> str:
    """The query for the cells of all histograms.

    Args:
        begin: Column of the timestamp at which the time begins.
    """
    text = resources.files("plimsoll.export").joinpath("histograms.sql").read_text("utf-8")
    return text.replace("$begin_ns::BIGINT", begin)


def _is_known(database: duckdb.DuckDBPyConnection, begin: str) -> bool:
    found = database.execute(f"SELECT 1 FROM requests WHERE {begin} IS NOT NULL LIMIT 1")  # noqa: S608
    return found.fetchone() is not None


def _seconds(
    database: duckdb.DuckDBPyConnection, begin: str, kinds: Sequence[int]
) -> Iterator[tuple[int, Mapping[int, Interval]]]:
    """Each second with a response, with the histogram of each request type."""
    given = {"highest": histogram.HIGHEST_NS, "kinds": list(kinds)}
    cursor = database.execute(sql(begin), given)
    for second, rows in groupby(_fetched(cursor), itemgetter(0)):
        by_kind = groupby(rows, itemgetter(1))
        yield second, {kind: _interval([row[2:] for row in cells]) for kind, cells in by_kind}


def _fetched(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while rows := cursor.fetchmany(FETCHED):
        yield from rows


def _interval(cells: Sequence[tuple[Any, ...]]) -> Interval:
    longest = max(most for _, _, most in cells)
    return longest, [(index, count) for index, count, _ in cells]


def _write(
    path: Path, of_trial: Tables, responded: Iterator[tuple[int, Mapping[int, Interval]]]
) -> None:
    recording = of_trial.recording
    kinds = {kind: tag(recording.requests[kind]) for kind in recording.kinds}
    with path.open("w", encoding="utf-8") as file:
        file.writelines(_head(clock.zero_utc_ms(of_trial.recording)))
        for second, found in _every(responded, of_trial.counted_seconds.num_rows):
            for kind, name in (kinds | {k: str(k) for k in found if k not in kinds}).items():
                file.write(_line(second, name, found.get(kind, _EMPTY)))


def _every(
    responded: Iterator[tuple[int, Mapping[int, Interval]]], length: int
) -> Iterator[tuple[int, Mapping[int, Interval]]]:
    """Each second from zero on, including those without a response."""
    expected = 0
    for second, found in responded:
        yield from ((silent, {}) for silent in range(expected, second))
        yield second, found
        expected = second + 1
    yield from ((silent, {}) for silent in range(expected, length))


def _head(zero_ms: int) -> Iterator[str]:
    yield f"#[Written by Plimsoll {plimsoll.__version__}]\n"
    yield "#[Histogram log format version 1.3]\n"
    yield f"#[StartTime: {zero_ms / 1000:.3f} (seconds since epoch), {clock.written(zero_ms)}]\n"
    yield f"#[BaseTime: {zero_ms / 1000:.3f} (seconds since epoch)]\n"
    yield f"{LEGEND}\n"


def _line(second: int, name: str, interval: Interval) -> str:
    longest_ns, cells = interval
    encoded = histogram.encoded(cells)
    return f"Tag={name},{second:.3f},1.000,{longest_ns / 1e6:.3f},{encoded}\n"
