"""Rows of a recorded table in a Parquet file, read when a query needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import pyarrow.parquet as pq

from plimsoll import tables

if TYPE_CHECKING:
    from pathlib import Path


def dataset(path: Path, name: str) -> ds.Dataset:
    """The rows of a file; none if the file does not exist.

    Args:
        path: The file.
        name: Name of the table: `requests`, `connections` or `usage`.

    Raises:
        OSError: The file is damaged.
        ValueError: It is not a Parquet file.
    """
    schema = next(table.schema for table in tables.TABLES if table.name == name)
    if not path.exists():
        return ds.dataset(schema.empty_table())
    pq.read_schema(path)  # else the reader of the rows would meet the damage
    return ds.dataset(path, schema=schema, format=_unbuffered())


def _unbuffered() -> ds.ParquetFileFormat:
    """Parquet read row group by row group; by default Arrow keeps whole columns of a file."""
    options = ds.ParquetFragmentScanOptions(pre_buffer=False)
    return ds.ParquetFileFormat(default_fragment_scan_options=options)
