"""Where PostgreSQL is on this host, and who may run it."""

from __future__ import annotations

import os
import pwd
import shutil
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from plimsoll.errors import InputError, NotInstalled, Problem

VARIABLE = "PLIMSOLL_POSTGRES"
"""Variable with the address of a server of one's own, on which databases are created."""

OLDEST = 15
"""The oldest supported major version: from it on, counts are complete when connections have ended.

Source:
    PostgreSQL 15, release notes: statistics are in shared memory, without a collector process.
"""

DEBIAN = Path("/usr/lib/postgresql")
"""Debian's folder of servers, one subfolder for each major version; not on the PATH."""

NEEDED = f"PostgreSQL {OLDEST} or newer"

_ADDRESS = (
    f"`{VARIABLE}=postgresql://USER:PASSWORD@HOST/`, a server on which USER may create databases"
)

HINT = f"`apt-get install postgresql`, or set {_ADDRESS}"

_WANTING = "endpoints that use a database need"
_OWN_USER = "postgres"
_WITHOUT_RIGHTS = 65_534
"""Number of the user who owns nothing: the kernel's overflow id."""


def missing() -> NotInstalled | None:
    """The error with why no database can be started here; None if one can.

    Raises:
        InputError: The user names a server by something that is no address.
    """
    if (error := client_missing()) is not None or named() or programs() is not None:
        return error
    return NotInstalled(f"{_WANTING} {NEEDED}, which is not installed", HINT)


def client_missing() -> NotInstalled | None:
    """The error with why no database can be spoken to from here; None if one can."""
    if find_spec("psycopg") is not None:
        return None
    message = f"{_WANTING} the Python package `psycopg`"
    return NotInstalled(message, "`pip install 'plimsoll-bench[postgres]'`")


def named() -> str:
    """The address of the user's own server; empty if none is named.

    Raises:
        InputError: The variable is no address.
    """
    given = os.environ.get(VARIABLE, "")
    try:
        is_address = urlsplit(given).scheme in ("postgres", "postgresql")
    except ValueError:
        is_address = False
    if given and not is_address:
        raise InputError([Problem(VARIABLE, "not the address of a server", f"set {_ADDRESS}")])
    return given


def programs(folder: Path = DEBIAN) -> Path | None:
    """The folder of a server's programs: that on the PATH, else the newest of Debian's.

    Args:
        folder: Debian's folder.
    """
    found = shutil.which("postgres")
    installed = [Path(found)] if found else []
    installed += sorted(folder.glob("*/bin/postgres"), key=_version, reverse=True)
    resolved = (path.resolve().parent for path in installed)
    return next((path for path in resolved if (path / "initdb").exists()), None)


def other_user() -> str | None:
    """Who runs the server instead of root, as whom it refuses to run; None if this is not root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_uid: entry.pw_name for entry in pwd.getpwall()}
    return _OWN_USER if _OWN_USER in names.values() else names.get(_WITHOUT_RIGHTS)


def as_user(name: str | None) -> tuple[str, ...]:
    """The beginning of a command that another user runs; empty for the current one.

    Source:
        setpriv(1) of util-linux.
    """
    if name is None:
        return ()
    found = pwd.getpwnam(name)
    ids = (f"--reuid={found.pw_uid}", f"--regid={found.pw_gid}")
    return ("setpriv", *ids, "--clear-groups", "--")


def _version(program: Path) -> int:
    name = program.parts[-3]
    return int(name) if name.isdigit() else 0
