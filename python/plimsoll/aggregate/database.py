"""The database of `query`; apart from it, so that figures without one do not load DuckDB."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import duckdb
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from plimsoll import machine, tables
from plimsoll.aggregate.engine_records import as_stored
from plimsoll.aggregate.outcomes import COMPLETED, NOT_FAILED, RIGHT, UNENDED
from plimsoll.errors import HostError, QueryFailed, StorageError
from plimsoll.storage import scratch

if TYPE_CHECKING:
    import pyarrow as pa

    from plimsoll.aggregate.query import Rows
    from plimsoll.errors import PlimsollError
    from plimsoll.recording import RecordedStage

MEMORY = "2GB"
"""The most memory a query holds; what does not fit is kept in a temporary folder."""


_LIMITS = (
    "cpu.max",
    "cpu.cfs_quota_us",
    "cpu.cfs_period_us",
    "memory.max",
    "memory.limit_in_bytes",
)
"""Files of a control group that DuckDB opens."""

_STREAM = "reading the stream registered as "
"""What DuckDB says of a table whose rows come from Arrow, and do not come."""

_OF_DAMAGE = (duckdb.Error, duckdb.InvalidInputException, duckdb.IOException)
"""Errors of DuckDB on a damaged file; the first is that of a head of a page that is none."""


_shared: ContextVar[duckdb.DuckDBPyConnection | None] = ContextVar("shared", default=None)


@contextmanager
def shared() -> Generator[duckdb.DuckDBPyConnection]:
    """Has all databases of the block share one instance: to start one takes longer than a query.

    Yields:
        The instance.

    Raises:
        HostError: This host has control groups whose limits cannot be read.
    """
    known = _shared.get()
    if known is not None:
        yield known
        return
    with _interruptible(), _instance() as instance:
        before = _shared.set(instance)
        try:
            yield instance
        finally:
            _shared.reset(before)


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

    Raises:
        HostError: This host has control groups whose limits cannot be read, or too little memory.
        StorageError: The rows turned out to be damaged, or a query found no room on disk.
        QueryFailed: A query is wrong.
    """
    with _interruptible(), shared() as instance, instance.cursor() as database:
        if holds:
            database.execute(f"CREATE TEMP MACRO in_hold(t) AS {_inside(holds)}")
        for name, rows in relations.items():
            _relate(database, name, rows)
        with _told():
            yield database


@contextmanager
def _instance() -> Generator[duckdb.DuckDBPyConnection]:
    """A database with the macros that all need, and nothing else in it."""
    _require_readable_limits()
    with scratch.folder() as spill:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": str(spill),
            "memory_limit": MEMORY,
            "preserve_insertion_order": False,
        }
        with duckdb.connect(config=settings) as instance:
            for statement in _MACROS:
                instance.execute(statement)
            yield instance


@cache
def _require_readable_limits() -> None:
    """Does nothing where DuckDB can read the limits of this process, or there are none.

    DuckDB 2.0 aborts the process where such a file is there and cannot be opened.

    Raises:
        HostError: One cannot.
    """
    groups = {*machine.control_groups("cpu"), *machine.control_groups("memory")}
    limits = (group / name for group in sorted(groups) for name in _LIMITS)
    for path in (Path("/proc/self/cgroup"), *limits):
        if not path.exists():
            continue
        try:
            path.open("rb").close()
        except OSError as error:
            message = f"`{path}` cannot be read ({error.strerror}), and DuckDB needs it"
            raise HostError(
                message, "let this process read the limits of its control group"
            ) from error


@contextmanager
def _interruptible() -> Generator[None]:
    """Ctrl-C within a query is what it is elsewhere; DuckDB makes an error of its own of it."""
    try:
        yield
    except (RuntimeError, duckdb.InterruptException) as error:
        if "interrupted" not in str(error).lower():
            raise
        raise KeyboardInterrupt from error


@contextmanager
def _told() -> Generator[None]:
    """Has every error of DuckDB be one of Plimsoll.

    Raises:
        HostError: A query found too little memory.
        StorageError: The rows turned out to be damaged while they were read, or what a query keeps
            on disk could not be written.
        QueryFailed: A query is wrong.
    """
    try:
        yield
    except duckdb.InterruptException:
        raise  # `_interruptible` knows it
    except duckdb.Error as error:
        raise _of_plimsoll(error) from error


def _of_plimsoll(error: duckdb.Error) -> PlimsollError:
    reason = (str(error).rpartition(_STREAM)[2].splitlines() or [""])[0]
    if isinstance(error, duckdb.OutOfMemoryException):
        message = f"a query of recorded rows needs more memory, or room on disk: {reason}"
        return HostError(message, f"free memory, and disk space in `{tempfile.gettempdir()}`")
    if is_of_writing(error):
        message = f"what a query keeps on disk cannot be written: {reason}"
        return StorageError(message, f"free disk space in `{tempfile.gettempdir()}`")
    if type(error) in _OF_DAMAGE:
        hint = "restore the trial from a copy, or delete its folder and run the campaign again"
        return StorageError(f"recorded rows cannot be read: {reason}", hint)
    kind = type(error).__name__
    message = f"internal error in Plimsoll: a query of recorded rows is wrong: {kind}: {reason}"
    return QueryFailed(message, "please report it with its traceback")


def is_of_writing(error: duckdb.Error) -> bool:
    """Whether DuckDB could not write a file."""
    return isinstance(error, duckdb.IOException) and "write" in str(error)


def _relate(database: duckdb.DuckDBPyConnection, name: str, rows: Rows) -> None:
    """Makes rows known to the database by a name; a table without rows where there are none.

    A Parquet file that has the columns of its table is read by DuckDB itself. That takes less than
    half as long as handing it the rows by Arrow.
    """
    known = as_stored(rows)
    if (file := _file_of(known)) is not None:
        database.execute(f"CREATE TEMP VIEW {name} AS FROM {_of_file(file)}")
    elif known is not None:
        database.register(name, known)
    else:
        table = next(table for table in tables.TABLES if table.name == name)
        database.register(name, table.schema.empty_table())


def _file_of(rows: pa.Table | ds.Dataset | None) -> str | None:
    """The one file that rows are, if it has every column as this version writes it."""
    if not isinstance(rows, ds.FileSystemDataset):
        return None
    dataset = cast("Any", rows)
    files: list[str] = dataset.files
    is_current = len(files) == 1 and pq.read_schema(files[0]).equals(dataset.schema)
    return files[0] if is_current else None


def _of_file(file: str) -> str:
    """The rows of one file in SQL, whatever its path looks like.

    DuckDB takes a path as a pattern, and a folder named `status=500` as the value of a column.
    """
    quoted = glob.escape(file).replace("'", "''")
    return f"read_parquet('{quoted}', hive_partitioning = false)"


def _inside(holds: Sequence[RecordedStage]) -> str:
    """The condition that an instant `t` is in one of some stretches of time."""
    return " OR ".join(f"(t >= {hold.start_ns} AND t < {hold.end_ns})" for hold in holds)


def _listed(names: Sequence[str]) -> str:
    return "(" + ", ".join(f"'{name}'" for name in names) + ")"


_MACROS = (
    f"CREATE MACRO is_right(name) AS name IN {_listed(RIGHT)}",
    f"CREATE MACRO is_completed(name) AS name IN {_listed(COMPLETED)}",
    f"CREATE MACRO is_failed(name) AS name NOT IN {_listed(NOT_FAILED)}",
    f"CREATE MACRO is_unended(name) AS name IN {_listed(UNENDED)}",
    "CREATE MACRO in_hold(t) AS false",
)
"""The macros, for a database of which no stretch of time is known; to create one takes 0.3 ms."""
