"""A PostgreSQL server for a campaign: its own in a temporary folder, or the one that a user names.

It keeps nothing that must survive a crash, so it waits for no disk: `fsync` and what depends on it
are off. A template is filled once; the database of each server is a copy of it. The server is a
supervised process, so it ends with the lab, also when that is killed.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import psycopg

from plimsoll.campaign import stored_rows
from plimsoll.databases import installed
from plimsoll.databases.speaking import connected, execute
from plimsoll.errors import DatabaseFailed, NotInstalled
from plimsoll.processes import ports
from plimsoll.processes.logs import quoted
from plimsoll.processes.supervised import SupervisedProcess
from plimsoll.recording import HOST
from plimsoll.storage import scratch

USER = "plimsoll"

SETTINGS = {
    "listen_addresses": ports.LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "1000",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "random_page_cost": "1.1",
}
"""Settings that are not PostgreSQL's own. All rows fit into its memory, so any page costs alike."""

_START_S = 60.0
_MAKE_S = 120.0
_LOOK_S = 0.05
_NO_DATABASE = "postgres"
_ASK_VERSION = "SELECT current_setting('server_version')"


@dataclass(frozen=True)
class RunningDatabase:
    """A server that runs.

    Attributes:
        url: Its address, with user and password and without a database.
        version: Its version: `15.14`.
        template: The database that others are copied from.
        cores: Its cores; empty if it may use all, or was not started by Plimsoll.
        supervisor_pid: The process that all of its processes are below; None if it was not started
            by Plimsoll.
        host: Name of the host it runs on.
    """

    url: str = field(repr=False)
    version: str
    template: str
    cores: tuple[int, ...] = ()
    supervisor_pid: int | None = None
    host: str = HOST

    def url_of(self, database: str) -> str:
        """The address of one of its databases."""
        return urlsplit(self.url)._replace(path=f"/{database}").geturl()

    def execute(self, statement: str) -> list[tuple[Any, ...]]:
        """Runs a statement that belongs to no database of a trial.

        Raises:
            DatabaseFailed: It failed.
        """
        return execute(self.url_of(_NO_DATABASE), statement)


@contextmanager
def started(cores: Sequence[int] = (), address: str = ports.LOOPBACK) -> Generator[RunningDatabase]:
    """A server with filled tables for as long as the block runs.

    Args:
        cores: Cores it may use; empty for all. A server that the user named is where it is.
        address: Where it listens; another one than loopback lets other hosts in, by password.

    Yields:
        The server.

    Raises:
        NotInstalled: None can be had here, or it is too old.
        DatabaseFailed: It does not start, or rejects a statement.
    """
    if (error := installed.missing()) is not None:
        raise error
    with ExitStack() as closing:
        named = installed.named()
        url, pid = (named, None) if named else closing.enter_context(_own(cores, address))
        template = f"plimsoll_{secrets.token_hex(6)}"
        version = _version(url)
        found = RunningDatabase(url, version, template, () if named else tuple(cores), pid)
        found.execute(f"CREATE DATABASE {template}")
        closing.callback(_drop, found)
        for statement in stored_rows.filling():
            execute(found.url_of(template), statement)
        yield found


def _drop(server: RunningDatabase) -> None:
    """Removes the template from a server of the user; an own one goes with its folder."""
    if server.supervisor_pid is None:
        server.execute(f"DROP DATABASE {server.template} WITH (FORCE)")


def _version(url: str) -> str:
    """The version of a server.

    Raises:
        NotInstalled: It is too old.
        DatabaseFailed: It cannot be reached.
    """
    ((version,),) = execute(urlsplit(url)._replace(path=f"/{_NO_DATABASE}").geturl(), _ASK_VERSION)
    stated = str(version).split()[0]
    if int(stated.partition(".")[0]) < installed.OLDEST:
        message = f"PostgreSQL {stated} is too old: {installed.NEEDED} is needed"
        raise NotInstalled(message, installed.HINT)
    return stated


@contextmanager
def _own(cores: Sequence[int], address: str) -> Generator[tuple[str, int]]:
    """Address and supervisor of a server in a temporary folder, which is removed in the end."""
    programs, user = installed.programs(), installed.other_user()
    if programs is None:
        raise NotInstalled(f"{installed.NEEDED} is not installed", installed.HINT)
    begin = installed.as_user(user)
    with scratch.folder() as outer:
        outer.chmod(0o711)  # another user must pass through it
        folder = outer / "postgres"
        folder.mkdir(mode=0o700)
        password = _made(programs, begin, user, folder)
        port = ports.free_port(address)
        if address != ports.LOOPBACK:
            _let_in(folder / "data" / "pg_hba.conf")
        given = {**SETTINGS, "listen_addresses": address}
        settings = [word for key, value in given.items() for word in ("-c", f"{key}={value}")]
        command = [str(programs / "postgres"), "-D", str(folder / "data"), "-p", str(port)]
        try:
            process = SupervisedProcess(
                (*begin, *command, *settings),
                folder=Path("/"),
                environment=_environment(),
                log=outer / "log",
                cores=cores,
                stop_signal="INT",
            )
        except OSError as error:
            raise DatabaseFailed(f"PostgreSQL cannot start: {error}") from error
        with process:
            place = f"[{address}]" if ":" in address else address
            url = f"postgresql://{USER}:{quote(password)}@{place}:{port}/"
            _wait(process, url, outer / "log")
            yield url, process.supervisor_pid


def _let_in(rules: Path) -> None:
    """Lets clients on other hosts in, if they have the password."""
    with rules.open("a", encoding="ascii") as file:
        file.write("host all all all scram-sha-256\n")


def _made(programs: Path, begin: Sequence[str], user: str | None, folder: Path) -> str:
    """Makes the folder of the data; returns the password of its owner."""
    password, file = secrets.token_hex(16), folder / "password"
    file.touch(mode=0o600)
    file.write_text(password, encoding="ascii")
    if user is not None:
        for path in (folder, file):
            shutil.chown(path, user)
    options = ["-A", "scram-sha-256", f"--pwfile={file}", "-E", "UTF8", "--locale=C", "--no-sync"]
    command = [*begin, str(programs / "initdb"), "-D", str(folder / "data"), "-U", USER, *options]
    try:
        made = subprocess.run(
            command,
            cwd="/",
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_MAKE_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise DatabaseFailed(f"`initdb` failed: {error}") from error
    if made.returncode:
        last = (made.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise DatabaseFailed(
            f"`initdb` failed: {last}", "check that `/tmp` is writable and not full"
        )
    return password


def _environment() -> dict[str, str]:
    """The lab's environment without the variables of PostgreSQL and with messages in English."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "LC_ALL": "C"}


def _wait(process: SupervisedProcess, url: str, log: Path) -> None:
    """Waits until the server accepts a connection."""
    end_s = time.monotonic() + _START_S
    while not process.wait(_LOOK_S):
        try:
            connected(f"{url}{_NO_DATABASE}").close()
        except psycopg.OperationalError:
            if time.monotonic() > end_s:
                break
        else:
            return
    raise DatabaseFailed(f"PostgreSQL did not start; {quoted(log)}")
