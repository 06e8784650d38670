"""The schema of the database, and its migrations.

Each file of `schema/` is one migration: a database of version 3 has the first three. A released
migration is never changed; changes are new migrations.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from plimsoll.errors import StorageError

if TYPE_CHECKING:
    from plimsoll.storage.postgres.address import Address
    from plimsoll.storage.postgres.connection import Connection

_LOCK = 0x706C696D
"""Key of the advisory lock for migrations; other programs should not use it."""

_IS_THERE = """
SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'plimsoll' AND tablename = 'schema_version'
"""
"""Queries the catalogue itself, since `to_regclass` may return a cached result."""

_VERSION = """
CREATE TABLE plimsoll.schema_version (version integer NOT NULL);
INSERT INTO plimsoll.schema_version VALUES (0);
"""


@cache
def steps() -> tuple[str, ...]:
    """The migrations in order, as SQL."""
    files = resources.files("plimsoll.storage.postgres").joinpath("schema").iterdir()
    numbered = {int(file.name.partition("-")[0]): file for file in files}
    return tuple(numbered[number].read_text("utf-8") for number in sorted(numbered))


def version(connection: Connection) -> int:
    """The schema version of a database; 0 if it has no tables of Plimsoll."""
    if connection.execute(_IS_THERE).fetchone() is None:
        return 0
    found = connection.execute("SELECT max(version) FROM plimsoll.schema_version").fetchone()
    return 0 if found is None or found[0] is None else int(found[0])


def bring_up(connection: Connection, address: Address, *, make: bool) -> bool:
    """Migrates a database to the schema version of this Plimsoll.

    Args:
        connection: Outside any transaction.
        address: The database, for errors.
        make: Whether missing tables are created.

    Returns:
        Whether the tables exist now.

    Raises:
        StorageError: They have a newer version.
        psycopg.Error: They could not be read, created or changed; nothing was changed.
    """
    found = version(connection)
    if found < len(steps()) and (found or make):
        found = _migrate(connection)
    if found > len(steps()):
        message = (
            f"the results in `{address.shown}` have schema version {found}; this version"
            f" of Plimsoll supports up to {len(steps())}"
        )
        raise StorageError(message, "update Plimsoll")
    return found > 0


def _migrate(connection: Connection) -> int:
    """Applies all missing migrations, or none; returns the version afterwards."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        found = version(connection)  # another process may have been faster
        if not found:
            connection.execute("CREATE SCHEMA IF NOT EXISTS plimsoll")
            connection.execute(_VERSION)
        for step in steps()[found:]:
            connection.execute(step.encode())
        reached = max(found, len(steps()))
        connection.execute("UPDATE plimsoll.schema_version SET version = %s", [reached])
    return reached


def tend(connection: Connection) -> None:
    """Updates the server's statistics and indexes after new rows, so that queries are fast.

    The server does this itself after a while; only the owner of the tables may request it.

    Raises:
        psycopg.Error: The connection was lost.
    """
    from psycopg.errors import InsufficientPrivilege  # noqa: PLC0415 - an extra

    with suppress(InsufficientPrivilege):
        for table in ("requests", "connections", "usage"):
            connection.execute(f"SELECT brin_summarize_new_values('plimsoll.{table}_trial')")
            connection.execute(f"ANALYZE plimsoll.{table}")
