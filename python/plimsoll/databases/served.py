"""The database of one server: a copy of the filled template, given to it by its environment.

PostgreSQL counts the rows that each table gives and gets. When all connections have ended, the
counts are complete: they are a witness of what the server did for its responses.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from plimsoll.databases.speaking import execute
from plimsoll.errors import DatabaseFailed

if TYPE_CHECKING:
    from plimsoll.databases.running import RunningDatabase

PORT = 5432

_ENDED_S = 10.0
_LOOK_S = 0.05

_CONNECTED = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
    " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
)
_COUNTED = (
    "SELECT sum(seq_tup_read + idx_tup_fetch)::bigint, sum(n_tup_upd)::bigint,"
    " (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database())"
    " FROM pg_stat_user_tables"
)


@dataclass(frozen=True)
class RowCounts:
    """What PostgreSQL counted in the life of a database.

    Attributes:
        rows_read: Rows that scans of tables and lookups by an index gave.
        rows_written: Rows that were updated.
        commits: Transactions that were committed.
    """

    rows_read: int
    rows_written: int
    commits: int


@dataclass(frozen=True)
class ServedDatabase:
    """The database of one server.

    Attributes:
        server: Where it is.
        name: Its name.
    """

    server: RunningDatabase
    name: str

    @property
    def url(self) -> str:
        """Its address, with everything in it."""
        return self.server.url_of(self.name)

    @property
    def environment(self) -> dict[str, str]:
        """What the server is given: the address, and its parts as libpq names them."""
        parts = urlsplit(self.url)
        return {
            "DATABASE_URL": self.url,
            "PGHOST": parts.hostname or "",
            "PGPORT": str(parts.port or PORT),
            "PGUSER": unquote(parts.username or ""),
            "PGPASSWORD": unquote(parts.password or ""),
            "PGDATABASE": self.name,
        }

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Runs a statement in it.

        Raises:
            DatabaseFailed: It failed.
        """
        return execute(self.url, statement)

    def counted(self) -> RowCounts | None:
        """What was counted; None if a connection is still open, so that counts are incomplete."""
        end_s = time.monotonic() + _ENDED_S
        while self.execute(_CONNECTED) != [(0,)]:
            if time.monotonic() > end_s:
                return None
            time.sleep(_LOOK_S)
        ((read, written, commits),) = self.execute(_COUNTED)
        return RowCounts(read, written, commits)


@contextmanager
def made(server: RunningDatabase) -> Generator[ServedDatabase]:
    """A database with fresh rows for as long as the block runs.

    Args:
        server: Where it is made.

    Raises:
        DatabaseFailed: It cannot be made.
    """
    found = ServedDatabase(server, f"{server.template}_{secrets.token_hex(4)}")
    server.execute(f"CREATE DATABASE {found.name} TEMPLATE {server.template}")
    try:
        yield found
    finally:
        with suppress(DatabaseFailed):
            server.execute(f"DROP DATABASE {found.name} WITH (FORCE)")
