"""The tables of the database, and how those of an older Plimsoll become those of this one.

Each file of `schema/` is one step: a database of version 3 has been through the first three. A step
that was released is never changed; what changes is a further step.
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
"""Key of the lock under which the tables are made and changed; no other program should have it."""

_IS_THERE = """
SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = 'plimsoll' AND tablename = 'schema_version'
"""
"""Asked of the catalogue itself: `to_regclass` may answer from what it knew a moment ago."""

_VERSION = """
CREATE TABLE plimsoll.schema_version (version integer NOT NULL);
INSERT INTO plimsoll.schema_version VALUES (0);
"""


@cache
def steps() -> tuple[str, ...]:
    """The steps in order, as SQL."""
    files = resources.files("plimsoll.storage.postgres").joinpath("schema").iterdir()
    numbered = {int(file.name.partition("-")[0]): file for file in files}
    return tuple(numbered[number].read_text("utf-8") for number in sorted(numbered))


def version(connection: Connection) -> int:
    """How many steps a database has been through; 0 when it holds nothing of Plimsoll."""
    if connection.execute(_IS_THERE).fetchone() is None:
        return 0
    found = connection.execute("SELECT max(version) FROM plimsoll.schema_version").fetchone()
    return 0 if found is None or found[0] is None else int(found[0])


def bring_up(connection: Connection, address: Address, *, make: bool) -> bool:
    """Brings the tables of a database to the version of this Plimsoll.

    Args:
        connection: Outside any transaction.
        address: Where it leads, for errors.
        make: Whether tables are made where there are none.

    Returns:
        Whether the tables are there now.

    Raises:
        StorageError: They are of a newer version.
        psycopg.Error: They could not be read, made or changed; nothing was changed then.
    """
    found = version(connection)
    if found < len(steps()) and (found or make):
        found = _migrate(connection)
    if found > len(steps()):
        message = (
            f"the results in `{address.shown}` have schema version {found}, this Plimsoll knows up"
            f" to {len(steps())}"
        )
        raise StorageError(message, "update Plimsoll")
    return found > 0


def _migrate(connection: Connection) -> int:
    """Goes through the steps that are missing, all or none of them; gives the version after it."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        found = version(connection)  # somebody else may have been faster
        if not found:
            connection.execute("CREATE SCHEMA IF NOT EXISTS plimsoll")
            connection.execute(_VERSION)
        for step in steps()[found:]:
            connection.execute(step.encode())
        reached = max(found, len(steps()))
        connection.execute("UPDATE plimsoll.schema_version SET version = %s", [reached])
    return reached


def tend(connection: Connection) -> None:
    """Tells the server of rows that are new, so that the next query finds them soon.

    The server does the same by itself after a while, and only the owner of the tables may ask.

    Raises:
        psycopg.Error: The connection was lost.
    """
    from psycopg.errors import InsufficientPrivilege  # noqa: PLC0415 - an extra

    with suppress(InsufficientPrivilege):
        for table in ("requests", "connections", "usage"):
            connection.execute(f"SELECT brin_summarize_new_values('plimsoll.{table}_trial')")
            connection.execute(f"ANALYZE plimsoll.{table}")
