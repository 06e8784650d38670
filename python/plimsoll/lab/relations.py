"""Relations of DuckDB over recorded rows, in whichever thread a program asks for them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

reading = threading.Lock()
"""Held while rows are found: of a database those of one trial are here at a time."""

_own = threading.local()


def of_rows(rows: ds.Dataset | pa.Table) -> duckdb.DuckDBPyRelation:
    """A relation over rows, of the connection of this thread.

    Args:
        rows: The rows; those of a data set are read when a query needs them.
    """
    return _connection().from_arrow(rows)


def _connection() -> duckdb.DuckDBPyConnection:
    """In the main thread the default one, where `duckdb.sql` works as well; else a cursor of it.

    DuckDB refuses two queries of one connection at the same time, and joins no relations of two.
    """
    if threading.current_thread() is threading.main_thread():
        return duckdb.default_connection()
    if not hasattr(_own, "cursor"):
        _own.cursor = duckdb.default_connection().cursor()
    return _own.cursor
