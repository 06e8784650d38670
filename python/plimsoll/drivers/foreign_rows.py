"""Files in which a foreign driver wrote each of its requests become tables of the trial."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll.errors import DriverFailed, InputError
from plimsoll.intake import named, recorded
from plimsoll.intake.rows import ImportStats, ReadOptions
from plimsoll.recording import HOST, Ending
from plimsoll.recording.readings import Reading

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.drivers.job import DriverResult, Rows
    from plimsoll.intake.recorded import Written
    from plimsoll.intake.rows import Reader
    from plimsoll.recording import Recording

T = TypeVar("T")

INSTANTS = ("due_ns", "sent_ns", "first_byte_ns", "done_ns")
"""Columns of rows that are instants of a clock."""


@dataclass(frozen=True)
class RowsRead:
    """What came of the files.

    Attributes:
        recording: What happened, with what the rows say of it.
        readings: What the driver wrote of its threads, as readings of the scope `driver`.
    """

    recording: Recording
    readings: tuple[Reading, ...] = ()


def take_in(recording: Recording, driven: DriverResult, rows: Rows, into: Path) -> RowsRead:
    """Writes the tables of requests and connections, and removes the files.

    Args:
        recording: What happened.
        driven: What the driver gave back.
        rows: Its files.
        into: Folder of the trial.

    Returns:
        The recording with the kinds of request by the rows, and what else they say. Where the files
        cannot be read its ending is `DriverFailed`, and they stay.

    Raises:
        OSError: Something could not be written.
    """
    zero_ns = _rounded(driven.zero_utc_ns, rows)
    tallies = [ImportStats(path.name) for path in rows.files]
    try:
        written = recorded.merge(_sources(rows, tallies, zero_ns), into, zero_ns)
    except InputError as error:
        return RowsRead(_unreadable(recording, error, into))
    for path in rows.files:
        path.unlink()
    return RowsRead(
        _described(recording, written, tallies),
        tuple(replace(one, at_ns=driven.zero_monotonic_ns + one.at_ns) for one in written.readings),
    )


def _sources(
    rows: Rows, tallies: Sequence[ImportStats], zero_ns: int
) -> dict[str, Iterator[pa.RecordBatch]]:
    """The rows of each host, by its name, with instants by the clock that the zero is of."""
    reader, tally_of = named(rows.reader), dict(zip(rows.files, tallies, strict=True))
    if not rows.hosts:
        return {HOST: _batches(reader, tally_of)}
    return {
        one.host: _shifted(
            _batches(reader, {path: tally_of[path] for path in one.files}),
            zero_ns - _rounded(one.zero_utc_ns, rows),
        )
        for one in rows.hosts
    }


def _rounded(instant_ns: int, rows: Rows) -> int:
    """An instant as the tool would have written it."""
    return instant_ns // rows.step_ns * rows.step_ns


def _batches(reader: Reader, files: Mapping[Path, ImportStats]) -> Iterator[pa.RecordBatch]:
    """The rows of some files, one after the other."""
    for path, tally in files.items():
        with path.open("rb") as stream:
            yield from reader.read(stream, ReadOptions(), tally)


def _shifted(batches: Iterable[pa.RecordBatch], by_ns: int) -> Iterator[pa.RecordBatch]:
    """Rows with later instants."""
    for batch in batches:
        columns = [
            pc.add(column, by_ns) if name in INSTANTS else column
            for name, column in zip(batch.schema.names, batch.columns, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _unreadable(recording: Recording, error: InputError, into: Path) -> Recording:
    """The recording without rows; an error that ended the trial before stays its ending."""
    for name in ("requests", "connections"):
        (into / f"{name}.parquet").unlink(missing_ok=True)
    if recording.ending.kind != Ending.kind:
        return recording
    problem = error.problems[0]
    failed = DriverFailed(f"the request log of `{recording.driver_name}`: {problem}")
    hint = problem.hint or "see the file in the trial's folder"
    return replace(recording, ending=Ending(type(failed).__name__, failed.message, hint))


def _described(recording: Recording, written: Written, tallies: list[ImportStats]) -> Recording:
    """The recording with the kinds of the rows, and with remarks on the files."""
    remarks = [remark for tally in tallies for remark in (*tally.remarks, *_broken(tally))]
    driver = recording.driver
    if driver is not None:
        notes = tuple(dict.fromkeys((*driver.notes, *remarks)))
        driver = replace(recorded.with_capabilities(driver, written, tallies), notes=notes)
    return replace(_of_kinds(recording, written.kinds), driver=driver)


def _of_kinds(recording: Recording, kinds: tuple[str, ...]) -> Recording:
    """The recording with its kinds of request in the order of the rows.

    A tool that gives its requests no name sends one kind only, that of the load.
    """
    if kinds == (recorded.UNNAMED,) and len(recording.requests) == 1:
        return recording
    places = [recording.requests.index(kind) for kind in kinds if kind in recording.requests]
    if len(places) < len(kinds):
        return replace(recording, requests=kinds, request_bytes=(), request_weights=())
    rest = [place for place in range(len(recording.requests)) if place not in places]
    order = [*places, *rest]
    return replace(
        recording,
        requests=_picked(recording.requests, order),
        request_bytes=_picked(recording.request_bytes, order),
        request_weights=_picked(recording.request_weights, order),
    )


def _picked(values: tuple[T, ...], order: list[int]) -> tuple[T, ...]:
    return tuple(values[place] for place in order) if values else ()


def _broken(tally: ImportStats) -> Iterator[str]:
    if tally.broken:
        first = tally.broken_lines[0]
        yield (
            f"{tally.broken} lines of `{tally.file}` are malformed and were skipped; the "
            f"first is line {first.line}: {first.reason}"
        )
