"""Agents that the lab starts over SSH, against an OpenSSH server of the test's own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

from command_line import PROGRAM, Running, start
from small_servers import eventually
from workbench.database import free_port

pytestmark = pytest.mark.timeout(300)

UNFIT = 3
VOID = 1
PRIVILEGE_SEPARATION = Path("/run/sshd")


@dataclass(frozen=True)
class Lab:
    """A lab whose hosts are reached over SSH.

    Attributes:
        folder: Where everything lies.
        port: Where the lab listens.
        path: Folder of an `ssh` that knows the destination `there` and nothing of this user.
    """

    folder: Path
    port: int
    path: Path

    def write(self, program: Path | str = PROGRAM, ssh: str = "there") -> None:
        """Writes the file of hosts; it names no certificates."""
        hosts = [
            f'[[host]]\nname = "{name}"\naddress = "127.0.0.{place}"\nssh = "{ssh}"\n'
            f'plimsoll = "{program}"\n'
            for place, name in enumerate(("one", "two"), 2)
        ]
        lab = f'[lab]\naddress = "127.0.0.1"\nport = {self.port}\nwait = "120s"\n'
        self.file.write_text(lab + "".join(hosts), "utf-8")

    @property
    def file(self) -> Path:
        return self.folder / "hosts.toml"

    def command(self, *arguments: object) -> Running:
        """Starts a command of the lab."""
        path = {"PATH": f"{self.path}:{os.environ['PATH']}"}
        return start(*arguments, "--hosts", self.file, folder=self.folder, environment=path)

    def agents(self) -> list[int]:
        """Process ids of agents that serve this lab."""
        joined = f"tls://127.0.0.1:{self.port}".encode()
        return [
            int(process.name)
            for process in Path("/proc").glob("[0-9]*")
            if joined in _arguments(process) and b"serve" in _arguments(process)
        ]


def _arguments(process: Path) -> list[bytes]:
    try:
        return (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # it has ended
        return []


@pytest.fixture(scope="module")
def ssh(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path]:
    """A folder with an `ssh` that reaches an SSH server on loopback as `there`."""
    server = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if server is None or shutil.which("ssh") is None:
        pytest.skip("needs OpenSSH's server and client: `apt-get install openssh-server`")
    folder, port = tmp_path_factory.mktemp("ssh"), free_port()
    for key in ("host", "user"):
        made = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key)
        subprocess.run(made, check=True)
    shutil.copy(folder / "user.pub", folder / "authorized")
    (folder / "sshd").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
        "PermitRootLogin prohibit-password\nPasswordAuthentication no\n",
        "utf-8",
    )
    known = (folder / "host.pub").read_text("utf-8")
    (folder / "known").write_text(f"[127.0.0.1]:{port} {known}", "utf-8")
    (folder / "config").write_text(
        f"Host there stranger\n HostName 127.0.0.1\n Port {port}\n IdentitiesOnly yes\n"
        f" UserKnownHostsFile {folder}/known\n"
        f"Host there\n IdentityFile {folder}/user\nHost stranger\n IdentityFile {folder}/host\n",
        "utf-8",
    )
    client = folder / "bin" / "ssh"
    client.parent.mkdir()
    client.write_text(
        f'#!/bin/sh\nexec {shutil.which("ssh")} -F {shlex.quote(f"{folder}/config")} "$@"\n',
        "utf-8",
    )
    client.chmod(0o755)
    if os.geteuid() == 0:
        PRIVILEGE_SEPARATION.mkdir(exist_ok=True)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([server, "-D", "-e", "-f", folder / "sshd"], stderr=log)
        try:
            assert eventually(lambda: _listens(port) or process.poll() is not None)
            if process.poll() is not None:
                pytest.skip(f"sshd does not run here: {(folder / 'log').read_text('utf-8')}")
            yield client.parent
        finally:
            process.terminate()
            process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
def lab(tmp_path: Path, ssh: Path) -> Lab:
    made = Lab(tmp_path, free_port(), ssh)
    made.write()
    return made


def test_agents_are_started_checked_and_ended_without_certificates_of_the_user(lab: Lab) -> None:
    ran = lab.command("host", "check", "-c", "10").end()
    assert ran.code == 0, ran.said
    assert "one (driver, 127.0.0.2): Plimsoll" in ran.said
    assert "two (driver, 127.0.0.3): Plimsoll" in ran.said
    assert eventually(lambda: not lab.agents()), lab.agents()


def test_a_lab_that_is_killed_ends_the_agents_it_has_started(lab: Lab) -> None:
    running = lab.command("host", "check", "-c", "10")
    assert eventually(lambda: len(lab.agents()) > 0, 120), running.stderr
    os.kill(running.process.pid, signal.SIGKILL)
    running.process.wait()
    assert eventually(lambda: not lab.agents(), 60), lab.agents()


def test_a_host_that_refuses_the_key_is_named(lab: Lab) -> None:
    """Both refuse it; the one whose client ends first is named."""
    lab.write(ssh="stranger")
    ran = lab.command("host", "check").end()
    assert ran.code == UNFIT
    assert re.search("`(one|two)` cannot be reached over SSH:", ran.said)
    assert "Permission denied" in ran.said
    assert "make `ssh stranger true` work without a password" in ran.said


def test_a_host_without_plimsoll_is_named(lab: Lab) -> None:
    lab.write(program="/nowhere/plimsoll")
    ran = lab.command("host", "check").end()
    assert ran.code == UNFIT
    assert "`one` does not have `/nowhere/plimsoll`" in ran.said


@pytest.mark.thorough
def test_an_agent_that_is_lost_is_started_again_for_the_next_trial(lab: Lab) -> None:
    path = lab.folder / "small.toml"
    path.write_text(
        'name = "small"\nframeworks = ["reference"]\nendpoints = ["2048"]\nrepetitions = 2\n'
        'cool_down = "0s"\n[[load]]\nname = "steady"\n'
        'stages = [{ kind = "hold", duration = "2s", at = 4 }]\n',
        "utf-8",
    )
    running = lab.command("run", path, "--into", lab.folder / "results")
    running.wait_until_it_says("steady.1")
    assert eventually(lambda: len(lab.agents()) == 2, 120), running.stderr
    os.kill(max(lab.agents()), signal.SIGKILL)
    ran = running.end()
    assert ran.code in {VOID, UNFIT}, ran.said  # lost under load, or before it
    assert "[2/2] reference.2048.steady.2" in ran.said
    assert "steady.2: HostLost" not in ran.said
    trials = (lab.folder / "results" / "trials").glob("*.2/requests.parquet")
    assert len(list(trials)) == 1
    assert eventually(lambda: not lab.agents()), lab.agents()
