"""Connections to the database, and what it refuses in words of a person."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from plimsoll.errors import StorageError

if TYPE_CHECKING:
    import psycopg

    from plimsoll.storage.postgres.address import Address

    Connection = psycopg.Connection[tuple[Any, ...]]
    """A connection whose rows are tuples."""

OLDEST = 13
"""The oldest major version of the server that will do."""

DEFAULTS = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
    "fallback_application_name": "plimsoll",
}
"""Parameters of a connection where the address names none: a server that is gone is noticed.

Source:
    PostgreSQL documentation, libpq, parameter key words; seconds, `tcp_user_timeout` milliseconds.
"""

_SESSION = (
    "SELECT set_config('client_encoding', 'UTF8', false), set_config('extra_float_digits', '1',"
    " false), set_config('datestyle', 'ISO', false), set_config('statement_timeout', '0', false),"
    " set_config('idle_in_transaction_session_timeout', '0', false)"
)
_GO_ON = "the same command goes on where it stopped"

_STATES = {
    "28P01": ("refuses the password", "put the right one into ~/.pgpass or PGPASSWORD"),
    "28000": ("does not let this user in", "look into pg_hba.conf of the server"),
    "3D000": ("has no such database", "make it with `createdb`, or name another one"),
    "42501": ("denies a right", "let the owner grant it; docs/postgres.md names those needed"),
    "25006": ("may not be written to", "name the primary server, not a copy of it"),
    "53100": ("has no space left", f"free some space there; {_GO_ON}"),
    "53200": ("has no memory left", f"give the server more memory; {_GO_ON}"),
    "53300": ("has too many connections", f"wait, or raise max_connections; {_GO_ON}"),
    "55P03": ("is locked by somebody else", f"wait until they have ended; {_GO_ON}"),
    "57014": ("ended a statement early", "look into the limits of this user, and the server's log"),
}
"""What the server says by SQLSTATE: in words, and what to do.

Source:
    PostgreSQL documentation, appendix A.
"""

_LOST = ("is gone: the connection was lost", f"look whether the server runs; {_GO_ON}")
_LOST_CLASSES = ("08", "57P")

_UNREACHED = (
    ("password authentication failed|no password supplied", _STATES["28P01"]),
    ("pg_hba.conf|authentication failed", _STATES["28000"]),
    ('database ".*" does not exist', _STATES["3D000"]),
    ('role ".*" does not exist', ("does not know this user", "make it with `createuser`")),
    ("permission denied for database", _STATES["42501"]),
    ("too many clients|remaining connection slots", _STATES["53300"]),
    ("starting up|shutting down|recovery mode", ("is not ready", f"wait; {_GO_ON}")),
    ("invalid|missing key", ("has an address with a mistake", "mend the address")),
)
"""What is said of a connection that did not come about: libpq gives no SQLSTATE for it."""

_NOT_THERE = ("cannot be reached", "look at host and port, and whether the server runs")


def connect(address: Address) -> Connection:
    """A connection on which every statement counts at once, unless within a transaction.

    Args:
        address: Where to. What it does not say, libpq takes from its environment and `~/.pgpass`.

    Raises:
        StorageError: It did not come about, the server is too old, or the library is missing.
    """
    driver = _driver()
    try:
        told = driver.conninfo.conninfo_to_dict(address.url)
        given = {key: value for key, value in DEFAULTS.items() if key not in told}
        connection: Connection = driver.connect(address.url, autocommit=True, **given)
    except driver.Error as error:
        raise _error(address, error, _unreached(error)) from None
    try:
        _require_new_enough(connection, address)
        with speaking(address):
            connection.execute(_SESSION)
    except BaseException:
        connection.close()
        raise
    return connection


def answers(connection: Connection) -> bool:
    """Whether there is still somebody at the other end."""
    try:
        connection.execute("SELECT 1")
    except _driver().Error:
        return False
    return True


@contextmanager
def speaking(address: Address) -> Generator[None]:
    """Turns what the database refuses within the block into an error with a remedy.

    What it came from is not kept with the error, for it may hold the address.

    Raises:
        StorageError: The block raised an error of the database.
    """
    driver = _driver()
    try:
        yield
    except driver.Error as error:
        raise _error(address, error, _words(error.sqlstate)) from None


def _driver() -> Any:
    try:
        import psycopg  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = "to keep results in PostgreSQL the library `psycopg` is needed"
        raise StorageError(message, "`pip install 'plimsoll-bench[postgres]'`") from error
    return psycopg


def _require_new_enough(connection: Connection, address: Address) -> None:
    version = connection.info.server_version // 10_000
    if version < OLDEST:
        message = f"the database `{address.shown}` is PostgreSQL {version}, which is too old"
        raise StorageError(message, f"name one of PostgreSQL {OLDEST} or newer")


def _error(address: Address, error: psycopg.Error, told: tuple[str, str]) -> StorageError:
    words, hint = told
    message = f"the database `{address.shown}` {words}: {_detail(error)}"
    return StorageError(address.masked(message), hint)


def _words(state: str | None) -> tuple[str, str]:
    """What an open connection refused, by SQLSTATE; libpq itself gives none when it is lost."""
    if state is None or state.startswith(_LOST_CLASSES):
        return _LOST
    return _STATES.get(state, ("refused", f"look into the server's log for {state}"))


def _unreached(error: psycopg.Error) -> tuple[str, str]:
    """Why a connection did not come about."""
    text = str(error)
    return next((told for sign, told in _UNREACHED if re.search(sign, text)), _NOT_THERE)


def _detail(error: psycopg.Error) -> str:
    """The first line of what was said, without what only repeats the address."""
    primary = error.diag.message_primary
    text = primary or (str(error).strip().splitlines() or [""])[0]
    return text.rpartition("FATAL:")[2].strip() if "FATAL:" in text else text
