"""Files in which a foreign driver wrote each of its requests become tables of the trial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from plimsoll.errors import DriverFailed, InputError
from plimsoll.intake import named, recorded
from plimsoll.intake.rows import ImportStats, ReadOptions
from plimsoll.recording import Ending
from plimsoll.recording.readings import Reading

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from plimsoll.drivers.job import DriverResult, Rows
    from plimsoll.intake.recorded import Written
    from plimsoll.intake.rows import Reader
    from plimsoll.recording import Recording

T = TypeVar("T")


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
    zero_ns = driven.zero_utc_ns // rows.step_ns * rows.step_ns
    tallies = [ImportStats(path.name) for path in rows.files]
    try:
        batches = _batches(named(rows.reader), rows, tallies)
        written = recorded.write(batches, into, zero_ns)
    except InputError as error:
        return RowsRead(_unreadable(recording, error, into))
    for path in rows.files:
        path.unlink()
    return RowsRead(
        _described(recording, written, tallies),
        tuple(
            Reading(driven.zero_monotonic_ns + one.at_ns, "driver", one.quantity, one.value)
            for one in written.readings
        ),
    )


def _batches(reader: Reader, rows: Rows, tallies: list[ImportStats]) -> Iterator[pa.RecordBatch]:
    """The rows of all files, one after the other."""
    for path, tally in zip(rows.files, tallies, strict=True):
        with path.open("rb") as stream:
            yield from reader.read(stream, ReadOptions(), tally)


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
