"""One campaign's line to its database: opened when it is needed, and again when it was lost."""

from __future__ import annotations

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

ELSEWHERE = "name another campaign with `--into`: the last part of the folder is its name"

_LOCK = 0x506C696D
"""First half of the keys of locks on campaigns; the second is a hash of the name."""


class Session:
    """The connection of one campaign, and the lock that it may hold; to be closed.

    A campaign goes on for hours while the database has nothing to do with it, so the connection may
    be gone whenever it is used. The lock goes with it and is then taken again.

    Args:
        address: Where the database is.
        campaign: Name of the campaign.
    """

    def __init__(self, address: Address, campaign: str) -> None:
        """Connect to nothing yet."""
        self.place = f"{address.shown}, campaign {campaign}"
        self._address = address
        self._campaign = campaign
        self._connection: Connection | None = None
        self._is_there = False
        self._is_locked = False

    def close(self) -> None:
        """Ends the connection, and with it the lock."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def ask(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of a query; none where the database holds nothing of Plimsoll.

        Args:
            query: Its first parameter is the name of the campaign.
            values: Its further parameters.

        Raises:
            StorageError: It could not be answered.
        """
        with self.speaking() as connection:
            if not self._is_there:
                return []
            return connection.execute(query.encode(), [self._campaign, *values]).fetchall()

    @contextmanager
    def writing(self) -> Generator[tuple[Connection, int]]:
        """A transaction in which the campaign is there and nobody else writes to it; its id.

        Raises:
            StorageError: Something was refused; nothing has changed then.
        """
        with self.speaking(make=True) as connection, connection.transaction():
            yield connection, _campaign_id(connection, self._campaign)

    @contextmanager
    def seeing_one_state(self) -> Generator[Connection]:
        """A transaction that sees the database as it is now, whatever others change meanwhile.

        Raises:
            StorageError: Something was refused.
        """
        with self.speaking() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield connection

    @contextmanager
    def speaking(self, *, make: bool = False) -> Generator[Connection]:
        """The connection; what is refused becomes an error with a remedy.

        Args:
            make: Whether tables are made where there are none.

        Raises:
            StorageError: Something was refused.
        """
        connection = self._connected()
        with speaking(self._address):
            if not self._is_there:
                self._is_there = schema.bring_up(connection, self._address, make=make)
            yield connection

    @contextmanager
    def alone(self) -> Generator[None]:
        """Keeps other runs out of the campaign for as long as the block runs.

        Raises:
            StorageError: Another run is at work in it.
        """
        with self.speaking(make=True) as connection:
            self._take(connection)
        self._is_locked = True
        try:
            yield
        finally:
            self._is_locked = False
            self._release()

    def _connected(self) -> Connection:
        if self._connection is not None and not connections.answers(self._connection):
            self.close()
        if self._connection is None:
            self._connection = connections.connect(self._address)
            if self._is_locked:
                with speaking(self._address):
                    self._take(self._connection)
        return self._connection

    def _take(self, connection: Connection) -> None:
        query = "SELECT pg_try_advisory_lock(%s, hashtext(%s))"
        if connection.execute(query, [_LOCK, self._campaign]).fetchone() != (True,):
            message = f"another run is at work in `{self.place}`"
            raise StorageError(message, f"wait until it has ended, or {ELSEWHERE}")

    def _release(self) -> None:
        """Gives the lock back; a connection that is gone has done so."""
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
