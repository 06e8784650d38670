"""Connections to the database, with errors that name the cause and a remedy."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from plimsoll import texts
from plimsoll.errors import StorageError

if TYPE_CHECKING:
    import psycopg

    from plimsoll.storage.postgres.address import Address

    Connection = psycopg.Connection[tuple[Any, ...]]
    """A connection whose rows are tuples."""

OLDEST = 13
"""The oldest supported major version of the server."""

DEFAULTS = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
    "fallback_application_name": "plimsoll",
}
"""Default parameters of a connection, which detect an unreachable server.

Source:
    PostgreSQL documentation, libpq, parameter key words; seconds, `tcp_user_timeout` milliseconds.
"""

_SESSION = (
    "SELECT set_config('client_encoding', 'UTF8', false), set_config('extra_float_digits', '1',"
    " false), set_config('datestyle', 'ISO', false), set_config('statement_timeout', '0', false),"
    " set_config('idle_in_transaction_session_timeout', '0', false)"
)
_GO_ON = "run the same command again to resume"

_STATES = {
    "28P01": ("rejects the password", "set it in ~/.pgpass or PGPASSWORD"),
    "28000": ("does not allow this user to connect", "check pg_hba.conf on the server"),
    "3D000": ("does not exist", "create it with `createdb`, or use another one"),
    "42501": ("denies a permission", "ask the owner to grant it; see docs/postgres.md"),
    "25006": ("is read-only", "connect to the primary server, not to a replica"),
    "53100": ("has no disk space left", f"free disk space there; {_GO_ON}"),
    "53200": ("is out of memory", f"give the server more memory; {_GO_ON}"),
    "53300": ("has too many connections", f"wait, or raise max_connections; {_GO_ON}"),
    "55P03": ("is locked by another session", f"wait until it has finished; {_GO_ON}"),
    "57014": ("cancelled a statement", "check the limits of this user and the server's log"),
}
"""Errors of the server by SQLSTATE: what is wrong, and a hint.

Source:
    PostgreSQL documentation, appendix A.
"""

_LOST = ("closed the connection", f"check that the server is running; {_GO_ON}")
_LOST_CLASSES = ("08", "57P")

_UNREACHED = (
    ("password authentication failed|no password supplied", _STATES["28P01"]),
    ("pg_hba.conf|authentication failed", _STATES["28000"]),
    ('database ".*" does not exist', _STATES["3D000"]),
    ('role ".*" does not exist', ("has no such user", "create it with `createuser`")),
    ("permission denied for database", _STATES["42501"]),
    ("too many clients|remaining connection slots", _STATES["53300"]),
    ("starting up|shutting down|recovery mode", ("is not ready", f"wait; {_GO_ON}")),
    ("invalid|missing key", ("has an invalid URL", "correct the URL")),
)
"""Errors of failed connection attempts, for which libpq gives no SQLSTATE."""

_NOT_THERE = ("is unreachable", "check host and port, and that the server is running")


def _mistake(address: Address) -> str:
    """The first parameter that libpq does not know, as a clause; empty if it knows all."""
    known = {option.keyword.decode() for option in _driver().pq.Conninfo.get_defaults()}
    unknown = [name for name in address.parameters if name not in known]
    return f": `{unknown[0]}` is not a parameter" if unknown else ""


def connect(address: Address) -> Connection:
    """A connection in autocommit mode.

    Args:
        address: The database. libpq takes missing parameters from its environment and `~/.pgpass`.

    Raises:
        StorageError: It failed, the server is too old, or the library is missing.
    """
    driver = _driver()
    try:
        reported = driver.conninfo.conninfo_to_dict(address.url)
    except driver.Error:  # its message quotes the address, and so the password
        message = f"the database `{address.shown}` has an invalid URL{_mistake(address)}"
        raise StorageError(message, "correct the parameters after its name") from None
    try:
        connection: Connection = driver.connect(**{**DEFAULTS, **reported}, autocommit=True)
    except driver.Error as error:
        raise _error(address, error, _unreached(error)) from None
    connection.adapters.register_dumper(str, _text_dumper())
    try:
        _require_new_enough(connection, address)
        with speaking(address):
            connection.execute(_SESSION)
    except BaseException:
        connection.close()
        raise
    return connection


def is_alive(connection: Connection) -> bool:
    """Whether the server still responds."""
    try:
        connection.execute("SELECT 1")
    except _driver().Error:
        return False
    return True


@contextmanager
def speaking(address: Address) -> Generator[None]:
    """Turns errors of the database in the block into errors with a hint.

    The original exception is not chained, since it may contain the password.

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
        message = "results in PostgreSQL need the Python package `psycopg`"
        raise StorageError(message, "`pip install 'plimsoll-bench[postgres]'`") from error
    return psycopg


def _text_dumper() -> Any:
    """The dumper for texts, which replaces what the database cannot store."""
    from psycopg.types.string import StrDumper  # noqa: PLC0415 - an extra

    class Stored(StrDumper):
        def dump(self, obj: str) -> Any:
            return super().dump(texts.stored(obj))

    return Stored


def _require_new_enough(connection: Connection, address: Address) -> None:
    version = connection.info.server_version // 10_000
    if version < OLDEST:
        message = f"the database `{address.shown}` runs PostgreSQL {version}, which is too old"
        raise StorageError(message, f"use PostgreSQL {OLDEST} or newer")


def _error(address: Address, error: psycopg.Error, reported: tuple[str, str]) -> StorageError:
    words, hint = reported
    return StorageError(f"the database `{address.shown}` {words}: {_detail(error)}", hint)


def _words(state: str | None) -> tuple[str, str]:
    """The error of an open connection, by SQLSTATE; libpq gives none for a lost connection."""
    if state is None or state.startswith(_LOST_CLASSES):
        return _LOST
    return _STATES.get(state, ("refused", f"see the server's log for {state}"))


def _unreached(error: psycopg.Error) -> tuple[str, str]:
    """Why a connection attempt failed."""
    text = str(error)
    return next((reported for sign, reported in _UNREACHED if re.search(sign, text)), _NOT_THERE)


def _detail(error: psycopg.Error) -> str:
    """The first line of the message, without repetitions of the address.

    It does not contain the password, which is passed separately and never quoted by libpq.
    """
    primary = error.diag.message_primary
    text = primary or (str(error).strip().splitlines() or [""])[0]
    return text.rpartition("FATAL:")[2].strip() if "FATAL:" in text else text
