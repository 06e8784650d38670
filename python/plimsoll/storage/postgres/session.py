"""The connection of one campaign to its database: opened on demand, and again after a loss."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from plimsoll.errors import StorageError
from plimsoll.storage.postgres import connection as connections
from plimsoll.storage.postgres import schema
from plimsoll.storage.postgres.connection import speaking

if TYPE_CHECKING:
    from plimsoll.storage.postgres.address import Address
    from plimsoll.storage.postgres.connection import Connection

ELSEWHERE = "choose another campaign with `into=`: the last part of the folder is its name"

_LOCK = 0x506C696D
"""First half of the keys of locks on campaigns; the second is a hash of the name."""

RELEASED_S = 3.0
"""The database may need so long to see that a connection was lost, which had the lock."""

_PAUSE_S = 0.1


class Session:
    """The connection of one campaign, and its lock; must be closed.

    A campaign may run for hours without using the database, so the connection may be lost in the
    meantime. The lock is lost with it, and acquired again.

    Args:
        address: The database.
        campaign: Name of the campaign.
    """

    def __init__(self, address: Address, campaign: str) -> None:
        """Does not connect yet."""
        self.place = f"{address.shown}, campaign {campaign}"
        self._address = address
        self._campaign = campaign
        self._connection: Connection | None = None
        self._is_there = False
        self._is_locked = False
        self._option: str | None = "into"

    def close(self) -> None:
        """Closes the connection, which releases the lock."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of a query; none if the database has no tables of Plimsoll.

        Args:
            query: Its first parameter is the name of the campaign.
            values: Its further parameters.

        Raises:
            StorageError: The query failed.
        """
        with self.speaking() as connection:
            if not self._is_there:
                return []
            return connection.execute(query.encode(), [self._campaign, *values]).fetchall()

    @contextmanager
    def writing(self) -> Generator[tuple[Connection, int]]:
        """A transaction with the campaign locked for writing; yields its id.

        Raises:
            StorageError: A statement failed; nothing has changed.
        """
        with self.speaking(make=True) as connection, connection.transaction():
            yield connection, _campaign_id(connection, self._campaign)

    @contextmanager
    def seeing_one_state(self) -> Generator[Connection]:
        """A transaction with a snapshot of the database, unaffected by concurrent changes.

        Raises:
            StorageError: A statement failed.
        """
        with self.speaking() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield connection

    @contextmanager
    def speaking(self, *, make: bool = False) -> Generator[Connection]:
        """The connection; errors of the database become errors with a hint.

        Args:
            make: Whether missing tables are created.

        Raises:
            StorageError: A statement failed.
        """
        connection = self._connected()
        with speaking(self._address):
            if not self._is_there:
                self._is_there = schema.bring_up(connection, self._address, make=make)
            yield connection

    @contextmanager
    def alone(self, option: str | None = "into") -> Generator[None]:
        """Excludes other runs from the campaign during the block.

        Args:
            option: The argument that selects another one, for hints; None where none does.

        Raises:
            StorageError: Another run is using it.
        """
        self._option = option
        with self.speaking(make=True) as connection:
            self._take(connection)
        self._is_locked = True
        try:
            yield
        finally:
            self._is_locked = False
            self._release()

    def _connected(self) -> Connection:
        if self._connection is not None and not connections.is_alive(self._connection):
            self.close()
        if self._connection is None:
            self._connection = connections.connect(self._address)
            if self._is_locked:
                with speaking(self._address):
                    self._take(self._connection)
        return self._connection

    def _take(self, connection: Connection) -> None:
        query = "SELECT pg_try_advisory_lock(%s, hashtext(%s))"
        until_s = time.monotonic() + RELEASED_S
        while connection.execute(query, [_LOCK, self._campaign]).fetchone() != (True,):
            if time.monotonic() >= until_s:
                message = f"another run is using `{self.place}`"
                elsewhere = f", or {ELSEWHERE}" if self._option else ""
                raise StorageError(message, f"wait until it has finished{elsewhere}")
            time.sleep(_PAUSE_S)

    def _release(self) -> None:
        """Releases the lock; a lost connection has released it already."""
        with suppress(StorageError), self.speaking() as connection:
            query = "SELECT pg_advisory_unlock(%s, hashtext(%s))"
            connection.execute(query, [_LOCK, self._campaign])


def _campaign_id(connection: Connection, name: str) -> int:
    query = "SELECT id FROM plimsoll.campaigns WHERE name = %s FOR UPDATE"
    found = connection.execute(query, [name]).fetchone()
    if found is None:
        insert = "INSERT INTO plimsoll.campaigns (name) VALUES (%s) ON CONFLICT DO NOTHING"
        connection.execute(insert, [name])
        found = connection.execute(query, [name]).fetchone()
    return int((found or (0,))[0])
