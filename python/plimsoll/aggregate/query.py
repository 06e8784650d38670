"""DuckDB over the tables of one trial: relations, macros and the memory they may use."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import resources
from typing import TYPE_CHECKING, Any

import duckdb

from plimsoll import tables
from plimsoll.aggregate.outcomes import COMPLETED, NOT_FAILED, RIGHT

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.recording import RecordedStage

    Rows = pa.Table | ds.Dataset | None
    """Rows of one table of a trial, in memory or read when needed; None when there are none."""

SECOND_NS = 1_000_000_000
"""Nanoseconds in a second."""

MEMORY = "2GB"
"""The most memory a query holds; what does not fit is kept in a temporary folder."""


@contextmanager
def opened(
    holds: Sequence[RecordedStage] = (), **relations: Rows
) -> Generator[duckdb.DuckDBPyConnection]:
    """A database over some tables of a trial, gone after the block.

    Queries may use `is_completed`, `is_right` and `is_failed` of an outcome, and `in_hold` of an
    instant.

    Args:
        holds: The stretches of time for which `in_hold` is true.
        relations: Rows by the name of their table.
    """
    with tempfile.TemporaryDirectory(prefix="plimsoll-") as spill:
        settings: dict[str, Any] = {
            "temp_directory": spill,
            "memory_limit": MEMORY,
            "preserve_insertion_order": False,
        }
        with duckdb.connect(config=settings) as database:
            for statement in _macros(holds):
                database.execute(statement)
            for name, rows in relations.items():
                database.register(name, _empty(name) if rows is None else rows)
            with _interruptible():
                yield database


@contextmanager
def _interruptible() -> Generator[None]:
    """Ctrl-C within a query is what it is elsewhere; DuckDB makes an error of its own of it."""
    try:
        yield
    except (RuntimeError, duckdb.InterruptException) as error:
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from error


def text(name: str) -> str:
    """The content of one of the `.sql` files beside this module.

    Args:
        name: Name of the file without its ending.
    """
    return resources.files("plimsoll.aggregate").joinpath(f"{name}.sql").read_text(encoding="utf-8")


def _empty(name: str) -> pa.Table:
    table = next(table for table in tables.TABLES if table.name == name)
    return table.schema.empty_table()


def _macros(holds: Sequence[RecordedStage]) -> tuple[str, ...]:
    inside = " OR ".join(f"(t >= {hold.start_ns} AND t < {hold.end_ns})" for hold in holds)
    return (
        f"CREATE MACRO is_right(name) AS name IN {_listed(RIGHT)}",
        f"CREATE MACRO is_completed(name) AS name IN {_listed(COMPLETED)}",
        f"CREATE MACRO is_failed(name) AS name NOT IN {_listed(NOT_FAILED)}",
        f"CREATE MACRO in_hold(t) AS {inside or 'false'}",
    )


def _listed(names: Sequence[str]) -> str:
    return "(" + ", ".join(f"'{name}'" for name in names) + ")"
