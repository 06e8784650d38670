"""Writing recorded tables: as Parquet where they are kept.

Tables of a load that is not kept are written as they lie in memory (Arrow's file format), and are
read from there without being copied: to pack rows costs more than all that is asked of them once.

Timestamps are stored as differences (DELTA_BINARY_PACKED): for rows of 100 and of 9,000 connections
they need a fifth less space than zstd over plain values, and half the time to write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from plimsoll import tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    import pyarrow.parquet as pq

    from plimsoll.recording.readings import Reading
    from plimsoll.tables import Table


PARQUET = ".parquet"
"""Ending of the file of a table that is kept."""

ARROW = ".arrow"
"""Ending of the file of a table that is not."""


def repeated(text: str, rows: int, texts: Sequence[str] = ()) -> pa.Array:
    """A column with the same text in all rows.

    Args:
        text: The text.
        rows: How many rows.
        texts: Every text that the file will have, where it is not the only one: Arrow's files have
            one dictionary for each column.
    """
    known = list(texts) or [text]
    indices = np.full(rows, known.index(text), np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(known))


def opened(table: Table, path: Path) -> pq.ParquetWriter | pa.ipc.RecordBatchFileWriter:
    """A file of a recorded table, opened for writing.

    Args:
        table: The table.
        path: The file; its ending is its format.

    Raises:
        OSError: It cannot be written.
    """
    return pa.ipc.new_file(path, table.schema) if path.suffix == ARROW else parquet(table, path)


def parquet(table: Table, path: Path, *, coarse: bool = False) -> pq.ParquetWriter:
    """A Parquet file of a recorded table, opened for writing.

    Args:
        table: The table.
        path: The file.
        coarse: Whether timestamps are whole milliseconds or microseconds with many repetitions, as
            those of other tools: dictionaries then need less space than differences. Queries filter
            only by timestamps, so other columns have no minimum and maximum.

    Raises:
        OSError: It cannot be written.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - what is not kept does without

    instants = [column.name for column in table.columns if column.name.endswith("_ns")]
    if coarse:
        return pq.ParquetWriter(path, table.schema, compression="zstd", write_statistics=instants)
    others = [column.name for column in table.columns if column.name not in instants]
    return pq.ParquetWriter(
        path,
        table.schema,
        compression="zstd",
        use_dictionary=others,
        column_encoding=dict.fromkeys(instants, "DELTA_BINARY_PACKED"),
    )


def mapped(path: Path, name: str) -> pa.Table:
    """The rows of a file in Arrow's format, which are not copied; none if there is no file.

    Args:
        path: The file; it must not change as long as the rows are used.
        name: Name of the table.

    Raises:
        OSError: It cannot be read.
    """
    if path.exists():
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    return next(table.schema for table in tables.TABLES if table.name == name).empty_table()


def write_usage(readings: Iterable[Reading], path: Path, zero_ns: int = 0) -> None:
    """Writes the table `usage` in order of time, relative to the zero of the trial.

    Args:
        readings: The readings.
        path: The file; its ending is its format.
        zero_ns: Zero of the trial by the clock of the readings.

    Raises:
        OSError: It could not be written.
    """
    ordered = sorted(readings, key=lambda reading: reading.at_ns)
    columns = {
        "at_ns": [reading.at_ns - zero_ns for reading in ordered],
        "host": [reading.host for reading in ordered],
        "scope": [reading.scope for reading in ordered],
        "quantity": [reading.quantity for reading in ordered],
        "value": [reading.value for reading in ordered],
    }
    rows = pa.Table.from_pydict(columns, schema=tables.USAGE.schema)
    with opened(tables.USAGE, path) as writer:
        writer.write_table(rows)
