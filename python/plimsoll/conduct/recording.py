"""The files of a trial become tables.

Instants are stored as differences (DELTA_BINARY_PACKED): on rows of 100 and of 9,000 connections
they take a fifth less room than zstd over plain values, and half the time to write.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from plimsoll import tables
from plimsoll.conduct import records
from plimsoll.errors import EngineFailed

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.conduct.scope import Reading
    from plimsoll.recording import Recording
    from plimsoll.tables import Table

HOST = "local"
"""Name of the one host there is."""

CHUNK_ROWS = 1 << 19
"""Rows that are converted at a time, and rows of a row group; bounds the memory."""

RECORDED = (tables.REQUESTS, tables.CONNECTIONS)
"""The tables that the engine writes."""

LEFTOVERS = ("spec.json", "finish.json", "requests.bin", "connections.bin")
"""Files of the driver that are not kept; what matters of them is in `trial.json` and the tables."""

Records = np.ndarray[Any, np.dtype[np.void]]


def close(recording: Recording, readings: Sequence[Reading], zero_ns: int, into: Path) -> None:
    """Writes the tables of a trial and its `trial.json`; removes the engine's files.

    Of an engine that did not end well no rows are kept: some of them may be missing.

    Args:
        recording: What happened.
        readings: Every reading of a resource.
        zero_ns: Zero of the trial by CLOCK_MONOTONIC.
        into: The trial's folder, where the engine's files lie.

    Raises:
        OSError: Something could not be written.
        EngineFailed: The engine's files are damaged.
    """
    for table in RECORDED if recording.driver else ():
        convert(table, into)
        (into / f"{table.name}.bin").unlink(missing_ok=True)
    for name in LEFTOVERS:
        (into / name).unlink(missing_ok=True)
    write_usage(readings, zero_ns, into / "usage.parquet")
    text = json.dumps(asdict(recording), indent=1, ensure_ascii=False)
    (into / "trial.json").write_text(text + "\n", "utf-8")


def convert(table: Table, into: Path) -> int:
    """Turns the engine's file of a table into Parquet, a chunk at a time.

    Args:
        table: The table.
        into: Folder of the file, and of the result.

    Returns:
        Its rows; 0, and no result, when there is no such file.

    Raises:
        EngineFailed: The file ends within a record, or holds an unknown outcome.
        OSError: It could not be read or written.
    """
    source = into / f"{table.name}.bin"
    if not source.exists():
        return 0
    rows = 0
    with _writer(table, into / f"{table.name}.parquet") as writer:
        for chunk in chunks(source, records.record_dtype(table.name)):
            writer.write_table(arrow(table, chunk))
            rows += len(chunk)
    return rows


def chunks(source: Path, dtype: np.dtype[np.void], rows: int = CHUNK_ROWS) -> Iterator[Records]:
    """The records of a file, some at a time.

    Args:
        source: The file.
        dtype: Type of one record.
        rows: Most records at a time.

    Raises:
        EngineFailed: The file ends within a record.
    """
    if source.stat().st_size % dtype.itemsize:
        raise EngineFailed(f"`{source.name}` ends within a record", "report it to Plimsoll")
    with source.open("rb") as file:
        while len(chunk := np.fromfile(file, dtype, rows)):
            yield chunk


def arrow(table: Table, chunk: Records) -> pa.Table:
    """Records of the engine as rows of a table; its marks for "none" become nulls.

    Raises:
        EngineFailed: A record holds an unknown outcome.
    """
    arrays = [_array(column, chunk) for column in table.columns]
    return pa.Table.from_arrays(arrays, schema=table.schema)


def write_usage(readings: Sequence[Reading], zero_ns: int, path: Path) -> None:
    """Writes the table `usage` by rising instant, counted from the zero of the trial.

    Args:
        readings: The readings, their instants by CLOCK_MONOTONIC.
        zero_ns: Zero of the trial by CLOCK_MONOTONIC.
        path: The file.
    """
    ordered = sorted(readings, key=lambda reading: reading.at_ns)
    columns: dict[str, list[Any]] = {
        "at_ns": [reading.at_ns - zero_ns for reading in ordered],
        "host": [HOST] * len(ordered),
        "scope": [reading.scope for reading in ordered],
        "quantity": [reading.quantity for reading in ordered],
        "value": [reading.value for reading in ordered],
    }
    table = pa.Table.from_pydict(columns, schema=tables.USAGE.schema)
    pq.write_table(table, path, compression="zstd")


def _array(column: tables.Column, chunk: Records) -> pa.Array:
    if column.name == "host":
        return _repeated(HOST, len(chunk))
    values = chunk[column.name]
    if column.name == "outcome":
        return _outcomes(values)
    mask = values == _none(column.name, values.dtype) if column.nullable else None
    return pa.array(values.astype(column.type.to_pandas_dtype()), column.type, mask=mask)


def _none(name: str, dtype: np.dtype[Any]) -> int:
    """The engine's mark for "none": the greatest value, but 0 for status and error number."""
    return 0 if name in ("status", "errno") else int(np.iinfo(dtype).max)


def _repeated(text: str, rows: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))


def _outcomes(codes: np.ndarray[Any, Any]) -> pa.Array:
    names = records.outcome_names()
    index_of = np.full(256, -1, np.int32)
    index_of[list(names)] = np.arange(len(names))
    indices = index_of[codes]
    if (indices < 0).any():
        unknown = int(codes[indices < 0][0])
        raise EngineFailed(f"the engine wrote an unknown outcome ({unknown})", "`make setup`")
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(list(names.values())))


def _writer(table: Table, path: Path) -> pq.ParquetWriter:
    instants = [column.name for column in table.columns if column.name.endswith("_ns")]
    others = [column.name for column in table.columns if column.name not in instants]
    return pq.ParquetWriter(
        path,
        table.schema,
        compression="zstd",
        use_dictionary=others,
        column_encoding=dict.fromkeys(instants, "DELTA_BINARY_PACKED"),
    )
