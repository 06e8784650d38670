"""DuckDB over the tables of one trial: relations, macros and the memory they may use."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from plimsoll import aggregate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    import duckdb
    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.aggregate.engine_records import EngineRecords
    from plimsoll.recording import RecordedStage

    Stored = pa.Table | ds.Dataset | None
    """Rows of one table of a trial, in memory or read when needed; None when there are none."""

    Rows = Stored | EngineRecords
    """The same of a table that the engine writes."""

Columns = dict[str, float | str | None]
"""The values of one row by their columns."""

SECOND_NS = 1_000_000_000
"""Nanoseconds in a second."""


def opened(
    holds: Sequence[RecordedStage] = (), **relations: Rows
) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
    """`database.opened`, behind a door: DuckDB is imported with the first query."""
    return aggregate.database.opened(holds, **relations)


def text(name: str) -> str:
    """The content of one of the `.sql` files beside this module.

    Args:
        name: Name of the file without its ending.
    """
    return resources.files("plimsoll.aggregate").joinpath(f"{name}.sql").read_text(encoding="utf-8")
