"""Statements to PostgreSQL, with errors that name the cause."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import pq
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from plimsoll.errors import DatabaseFailed

if TYPE_CHECKING:
    from collections.abc import Generator

CONNECT_S = 10
"""How long a connection is waited for, in seconds."""

_LOST = "check that PostgreSQL runs, and that its address and password are correct"


@contextmanager
def speaking() -> Generator[None]:
    """Turns errors of PostgreSQL in the block into errors with a hint.

    Raises:
        DatabaseFailed: The block raised an error of PostgreSQL.
    """
    try:
        yield
    except psycopg.Error as error:
        text = error.diag.message_primary or (str(error).strip().splitlines() or ["no reason"])[0]
        hint = _LOST if error.sqlstate is None else ""
        raise DatabaseFailed(f"PostgreSQL failed: {text}", hint) from None


def connected(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection in autocommit mode by an address alone.

    What the address does not say is libpq's default, and not what the user's shell has for others:
    `PGHOSTADDR` leads elsewhere, and `PGSSLMODE` may ask for what the server does not have.

    Args:
        url: Address of a database.

    Raises:
        psycopg.Error: It failed.
    """
    options = pq.Conninfo.get_defaults()
    defaults = {one.keyword.decode(): one.compiled.decode() for one in options if one.compiled}
    unset = {"hostaddr": "", "client_encoding": "", "options": ""}
    conninfo = make_conninfo("", **{**defaults, **unset, **conninfo_to_dict(url)})
    return psycopg.connect(conninfo, autocommit=True, connect_timeout=CONNECT_S)


def execute(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Runs a statement on a connection of its own, and commits it.

    Args:
        url: Address of a database.
        statement: The statement.

    Returns:
        Its rows; empty if it has none.

    Raises:
        DatabaseFailed: It failed.
    """
    with speaking(), connected(url) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []
