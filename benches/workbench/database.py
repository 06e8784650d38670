"""A PostgreSQL server of its own in a temporary folder, ended by the id of its process.

The server refuses to run as root, so root starts it as another user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from plimsoll.databases import installed
from plimsoll.storage import scratch

USER = "lab"
PASSWORD = "s3cr:t/w@rd"

_PATIENCE_S = 60.0
_ENDED_WITH_US = ("setpriv", "--pdeathsig", "INT") if shutil.which("setpriv") else ()
"""What has the kernel end a server whose starter was killed; setpriv(1) of util-linux."""

NOT_DURABLE = {"fsync": "off", "full_page_writes": "off", "max_connections": "100"}
"""Settings of a server whose data is not needed after a crash of the host."""


class NoServerError(Exception):
    """No server can be started here."""


def free_port() -> int:
    """A free port of this host."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return found.getsockname()[1]


def ids(user: str) -> tuple[int, int]:
    """Numbers of a user and of its group."""
    found = pwd.getpwnam(user)
    return found.pw_uid, found.pw_gid


@dataclass
class Server:
    """A server in a folder.

    Attributes:
        binaries: Folder of its programs.
        folder: Where its data lies.
        user: Who runs it; None for the current user.
        settings: Its settings.
        port: Port on loopback.
        process: Its first process; None when it does not run.
    """

    binaries: Path
    folder: Path
    user: str | None
    settings: Mapping[str, str]
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[Any] | None = None

    @property
    def log(self) -> str:
        """Its output so far."""
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def url(self, database: str = "postgres", user: str = USER, password: str = PASSWORD) -> str:
        """An address with everything in it."""
        quoted = "".join(f"%{ord(sign):02X}" if sign in ":/@" else sign for sign in password)
        return f"postgresql://{user}:{quoted}@127.0.0.1:{self.port}/{database}"

    def make(self) -> None:
        """Makes its folder of data.

        Raises:
            NoServerError: That cannot be done here.
        """
        password = self.folder / "password"
        password.write_text(PASSWORD, encoding="utf-8")
        if self.user is not None:
            for path in (self.folder, password):
                shutil.chown(path, self.user)
        command = [self.binaries / "initdb", "-D", self.folder / "data", "-U", USER, "--no-sync"]
        options = ["-A", "scram-sha-256", f"--pwfile={password}", "-E", "UTF8", "--locale=C"]
        made = self._run([*command, *options])
        if made.returncode:
            raise NoServerError(f"no PostgreSQL server can be made here: {made.stderr.strip()}")

    def start(self) -> None:
        """Starts it and waits until it responds."""
        command = [self.binaries / "postgres", "-D", self.folder / "data", "-k", self.folder]
        options = ["-p", str(self.port), "-c", "listen_addresses=127.0.0.1"]
        given = self.settings.items()
        settings = [word for key, value in given for word in ("-c", f"{key}={value}")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*_ENDED_WITH_US, *command, *options, *settings],
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._as_user(),
            )
        self._wait(self.process)

    def kill(self) -> None:
        """Ends every process of it as a power cut would."""
        if self.process is None:
            return
        tasks = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        children = [int(pid) for pid in tasks.read_text(encoding="ascii").split()]
        for pid in (self.process.pid, *children):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.process.wait(_PATIENCE_S)

    def stop(self) -> None:
        """Ends it at once; connections are cut."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.kill()
        self.process = None

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Runs a statement as its owner; gives the rows."""
        try:
            with psycopg.connect(self.url(database), autocommit=True) as connection:
                cursor = connection.execute(statement.encode())
                return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            error.add_note(f"The end of the server's log:\n{self.log[-4096:]}")
            raise

    def _run(self, command: list[Any]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            **self._as_user(),
        )

    def _as_user(self) -> dict[str, Any]:
        if self.user is None:
            return {}
        return {"user": self.user, "group": ids(self.user)[1], "extra_groups": []}

    def _wait(self, process: subprocess.Popen[Any]) -> None:
        end_s = time.monotonic() + _PATIENCE_S
        while time.monotonic() < end_s and process.poll() is None:
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
            except psycopg.OperationalError:
                time.sleep(0.05)
            else:
                return
        raise NoServerError(f"the PostgreSQL server did not start: {self.log}")


@contextmanager
def served(settings: Mapping[str, str]) -> Generator[Server]:
    """A server that runs for as long as the block.

    Args:
        settings: Its settings, where they are not those that it comes with.

    Raises:
        NoServerError: None can be started here.
    """
    binaries, user = installed.programs(), installed.other_user()
    if binaries is None:
        raise NoServerError("no PostgreSQL server is installed")
    with scratch.folder() as outer:
        outer.chmod(0o711)  # another user must pass through it
        folder = outer / "postgres"
        folder.mkdir(mode=0o700)
        server = Server(binaries, folder, user, settings)
        try:
            server.make()
            server.start()
            yield server
        finally:
            server.stop()
