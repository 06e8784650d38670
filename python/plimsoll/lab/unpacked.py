"""Rows of a recorded table that lie in a file as they do in memory, and are not copied from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables

if TYPE_CHECKING:
    from pathlib import Path


def table(path: Path, name: str) -> pa.Table:
    """The rows of a file in Arrow's format; none if the file does not exist.

    Args:
        path: The file; it must not change as long as the rows are used.
        name: Name of the table: `requests`, `connections` or `usage`.

    Raises:
        OSError: It cannot be read.
    """
    if path.exists():
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    schema = next(table.schema for table in tables.TABLES if table.name == name)
    return schema.empty_table()
