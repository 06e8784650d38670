"""Tables in Parquet files: recorded rows, read when a query needs them, and derived tables."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow.dataset as ds
import pyarrow.parquet as pq

from plimsoll import tables

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

    import pyarrow as pa


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
    with _naming_damage():
        pq.read_schema(path)  # else the reader of the rows would meet the damage
        return ds.dataset(path, schema=schema, format=_unbuffered())


def write(table: pa.Table, into: Path | BinaryIO) -> None:
    """Writes a derived table.

    Raises:
        OSError: It could not be written.
    """
    pq.write_table(table, into, compression="zstd")


def read(source: Path | BinaryIO) -> pa.Table:
    """A derived table as a whole. It is small: threads of Arrow would cost more than they save.

    Raises:
        OSError: The file is damaged.
        ValueError: It is not a Parquet file.
    """
    with _naming_damage(), pq.ParquetFile(source) as file:
        return file.read(use_threads=False)


@contextmanager
def _naming_damage() -> Generator[None]:
    """Has Arrow raise one kind of error, whatever it does not understand of a damaged file.

    Raises:
        ValueError: The block raised an error of Arrow that is none.
    """
    try:
        yield
    except (KeyError, MemoryError, NotImplementedError, TypeError) as error:
        raise ValueError(str(error)) from error


def _unbuffered() -> ds.ParquetFileFormat:
    """Parquet read row group by row group; by default Arrow keeps whole columns of a file."""
    options = ds.ParquetFragmentScanOptions(pre_buffer=False)
    return ds.ParquetFileFormat(default_fragment_scan_options=options)
