"""A PostgreSQL server for tests; where none can be started they are skipped, and say so."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from itertools import count

import pytest

from workbench import database
from workbench.database import PASSWORD, USER, Server, free_port, ids

__all__ = ["PASSWORD", "USER", "Server", "free_port", "ids", "new_database", "served"]

_NUMBERS = count()


@contextmanager
def served() -> Generator[Server]:
    """A server that runs for as long as the block."""
    try:
        with database.served(database.NOT_DURABLE) as server:
            yield server
    except database.NoServerError as error:
        pytest.skip(f"{error}: results in a database are not tried")


def new_database(server: Server) -> str:
    """Address of a new database, with the password in it."""
    name = f"results_{next(_NUMBERS)}"
    server.execute(f"CREATE DATABASE {name}")
    return server.url(name)
