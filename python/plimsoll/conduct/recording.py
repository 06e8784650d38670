"""The files of a trial become tables."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from plimsoll import tables
from plimsoll.conduct import written_bodies
from plimsoll.drivers import records
from plimsoll.errors import EngineFailed
from plimsoll.recording import HOST, writing
from plimsoll.storage import documents

if TYPE_CHECKING:
    from plimsoll.drivers.job import DriverResult
    from plimsoll.recording import HostDriver, Recording
    from plimsoll.recording.readings import Reading
    from plimsoll.tables import Table

CHUNK_ROWS = 1 << 19
"""Rows that are converted at a time, and rows of a row group; bounds the memory."""

RECORDED = (tables.REQUESTS, tables.CONNECTIONS)
"""The tables that the engine writes."""

LEFTOVERS = (
    "spec.json", "finish.json", *records.ROWS, written_bodies.FILE,
    *(f"{name}{writing.ARROW}" for name in ("requests", "connections", "usage")),
)  # fmt: skip
"""Files of the driver that are not kept; what matters of them is in `trial.json` and the tables."""

Records = np.ndarray[Any, np.dtype[np.void]]


@dataclass(frozen=True)
class RecordSource:
    """Where an engine left its records.

    Attributes:
        host: Name of its host.
        folder: The folder.
        shift_ns: Its zero, in nanoseconds since the trial's zero.
    """

    host: str
    folder: Path
    shift_ns: int = 0


def close(
    recording: Recording,
    readings: Sequence[Reading],
    zero_ns: int,
    into: Path,
    driven: DriverResult | None = None,
    *,
    is_kept: bool = True,
) -> Recording:
    """Writes the tables of a trial and its `trial.json`; removes the driver's files of rows.

    Of an engine that did not end well no rows are kept: some of them may be missing.

    Args:
        recording: What happened.
        readings: Every reading of a resource.
        zero_ns: Zero of the trial by CLOCK_MONOTONIC.
        into: The trial's folder, where the driver's files lie.
        driven: What the driver gave back; None when it never ended.
        is_kept: Whether the rows outlive this process; else the engine's records stay as they are.

    Returns:
        What happened, with what the rows of a foreign driver say of it. Where these cannot be
        read, that is the trial's ending.

    Raises:
        OSError: Something could not be written.
        EngineFailed: The engine's files are damaged.
    """
    if driven is not None and driven.rows is not None:
        from plimsoll.drivers import foreign_rows  # noqa: PLC0415 - reads the files of every tool

        taken = foreign_rows.take_in(recording, driven, driven.rows, into)
        recording, readings = taken.recording, [*readings, *taken.readings]
    ending = writing.PARQUET if is_kept else writing.ARROW
    if is_kept or recording.driver is None:
        _convert_all(recording, into)
    writing.write_usage(readings, into / f"usage{ending}", zero_ns)
    documents.keep_recording(recording, into)
    return recording


def _convert_all(recording: Recording, into: Path) -> None:
    """Turns what the engine wrote into tables; removes its files."""
    if recording.driver:
        convert_rows(into, sources_of(recording.hosts, into))
    for name in LEFTOVERS:
        (into / name).unlink(missing_ok=True)
    for one in recording.hosts:
        shutil.rmtree(into / one.host, ignore_errors=True)


def sources_of(hosts: Iterable[HostDriver], into: Path) -> tuple[RecordSource, ...]:
    """Where the engines of several hosts left their records; empty for one on this host.

    Args:
        hosts: The hosts.
        into: The trial's folder.
    """
    return tuple(
        RecordSource(one.host, into / one.host, one.zero_ns)
        for one in hosts
        if one.driver is not None
    )


def convert_rows(into: Path, sources: Sequence[RecordSource] = ()) -> None:
    """Turns the rows that the engine wrote into tables, and removes its files of them.

    Args:
        into: The trial's folder.
        sources: Where the engines of several hosts left their files; empty for one in `into`.

    Raises:
        EngineFailed: A file is damaged.
        OSError: It could not be read or written.
    """
    for table in RECORDED:
        convert(table, into, sources=sources)
        (into / f"{table.name}.bin").unlink(missing_ok=True)


def convert(
    table: Table, into: Path, ending: str = writing.PARQUET, sources: Sequence[RecordSource] = ()
) -> int:
    """Turns the engine's files of a table into one of Arrow's, a chunk at a time.

    Args:
        table: The table.
        into: Folder of the result.
        ending: Ending of the result, which is its format.
        sources: Where the engines of several hosts left their files; empty for one in `into`.

    Returns:
        Its rows; 0, and no result, when there is no such file.

    Raises:
        EngineFailed: The file has a truncated last record, or holds an unknown outcome.
        OSError: It could not be read or written.
    """
    places = sources or (RecordSource(HOST, into),)
    if not any((place.folder / f"{table.name}.bin").exists() for place in places):
        return 0
    rows, hosts = 0, tuple(place.host for place in places)
    with writing.opened(table, into / f"{table.name}{ending}") as writer:
        for place in places:
            file = place.folder / f"{table.name}.bin"
            for chunk in chunks(file, records.record_dtype(table.name)):
                writer.write_table(arrow(table, chunk, place, hosts))
                rows += len(chunk)
    return rows


def chunks(source: Path, dtype: np.dtype[np.void], rows: int = CHUNK_ROWS) -> Iterator[Records]:
    """The records of a file, some at a time.

    Args:
        source: The file.
        dtype: Type of one record.
        rows: Most records at a time.

    Raises:
        EngineFailed: The file has a truncated last record.
    """
    if source.stat().st_size % dtype.itemsize:
        raise EngineFailed(f"`{source.name}` has a truncated last record", "report it to Plimsoll")
    with source.open("rb") as file:
        while len(chunk := np.fromfile(file, dtype, rows)):
            yield chunk


def arrow(table: Table, chunk: Records, source: RecordSource, hosts: Sequence[str]) -> pa.Table:
    """Records of the engine as rows of a table; its marks for "none" become nulls.

    Args:
        table: The table.
        chunk: The records.
        source: Where they come from; their instants are counted from the trial's zero.
        hosts: Every host that the table has rows of.

    Raises:
        EngineFailed: A record holds an unknown outcome.
    """
    arrays = [_array(column, chunk, source, hosts) for column in table.columns]
    return pa.Table.from_arrays(arrays, schema=table.schema)


def _array(
    column: tables.Column, chunk: Records, source: RecordSource, hosts: Sequence[str]
) -> pa.Array:
    if column.name == "host":
        return writing.repeated(source.host, len(chunk), hosts)
    if column.name not in (chunk.dtype.names or ()):
        return pa.nulls(len(chunk), column.type)
    values = chunk[column.name]
    if column.name == "outcome":
        return _outcomes(values)
    mask = values == _none(column.name, values.dtype) if column.nullable else None
    values = values.astype(column.type.to_pandas_dtype())
    if column.name.endswith("_ns"):
        values += source.shift_ns
    return pa.array(values, column.type, mask=mask)


def _none(name: str, dtype: np.dtype[Any]) -> int:
    """The engine's mark for "none": the greatest value, but 0 for status and error number."""
    return 0 if name in ("status", "errno") else int(np.iinfo(dtype).max)


def _outcomes(codes: np.ndarray[Any, Any]) -> pa.Array:
    names = records.outcome_names()
    index_of = np.full(256, -1, np.int32)
    index_of[list(names)] = np.arange(len(names))
    indices = index_of[codes]
    if (indices < 0).any():
        unknown = int(codes[indices < 0][0])
        raise EngineFailed(f"the engine wrote an unknown outcome ({unknown})", "`make setup`")
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(list(names.values())))
