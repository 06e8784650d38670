"""Agents that the lab starts over SSH, for as long as its command runs.

The OpenSSH client connects, so what a user has in `~/.ssh/config` holds. Certificate and key of an
agent go through the standard input of the session: nothing is copied to the host, and an
agent ends when that input does, also when the lab is killed.
"""

from __future__ import annotations

import math
import os
import shlex
import time
from typing import TYPE_CHECKING, Self

from plimsoll.errors import HostError
from plimsoll.hosts import certificates, network
from plimsoll.processes import logs
from plimsoll.processes.supervised import SupervisedProcess

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from plimsoll.hosts.host import Host, Hosts

OPTIONS = (
    "-T",
    # Nobody is there to type a password, and a host that does not respond must not hold up a lab.
    *("-o", "BatchMode=yes", "-o", f"ConnectTimeout={round(network.LOST_S)}"),
)
"""Options of the OpenSSH client, beside those of its signs of life."""

SIGN_S = 5
"""From one sign of life of the OpenSSH client to the next, in seconds."""

RETRY_S = 2.0
"""From one start of an agent that had served to the next, in seconds."""

_SSH_FAILED = 255
_NOT_FOUND = 127


class RemoteAgents:
    """The agents of those hosts that have a destination for SSH.

    Args:
        hosts: The lab and its hosts.
        folder: Certificates of the lab and of every host.
        logs: Where what the agents say is written.
    """

    def __init__(self, hosts: Hosts, folder: Path, logs: Path) -> None:
        """Has started none."""
        self._hosts = {host.name: host for host in hosts.hosts if host.ssh is not None}
        self._options = (*OPTIONS, *_signs(hosts.wait_s))
        self._join = network.address(hosts.address, hosts.port)
        self._certificates = folder
        self._logs = logs
        self._running: dict[str, SupervisedProcess] = {}
        self._started_s: dict[str, float] = {}
        self._served: set[str] = set()

    def __enter__(self) -> Self:
        """These agents; they end with the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends all of them."""
        for process in self._running.values():
            process.stop()

    def tend(self, missing: Iterable[str]) -> None:
        """Starts the agents of hosts that have not joined; again, if they had and have ended.

        Args:
            missing: Names of hosts that are awaited.

        Raises:
            HostError: One cannot be started, or ended before its host has joined.
        """
        for host in (self._hosts[name] for name in missing if name in self._hosts):
            process = self._running.get(host.name)
            if process is not None:
                if process.alive() or self._is_recent(host):
                    continue
                if host.name not in self._served:
                    raise self._ended(host, process)
                process.stop()
            self._running[host.name] = self._started(host)
            self._started_s[host.name] = time.monotonic()

    def joined(self, names: Iterable[str]) -> None:
        """Notes that hosts have joined: whoever of them ends from now on is started again."""
        self._served |= set(names)

    def _is_recent(self, host: Host) -> bool:
        """Whether the agent was started so short ago that it is not started again yet."""
        is_again = host.name in self._served
        return is_again and time.monotonic() - self._started_s[host.name] < RETRY_S

    def _started(self, host: Host) -> SupervisedProcess:
        """An agent that has its certificate."""
        command = ("host", "serve", "--join", self._join)
        own = ("--name", host.name, "--address", str(host.address), "--credentials-stdin")
        remote = f"exec {_quoted(host.program)} {shlex.join((*command, *own))}"
        try:
            process = SupervisedProcess(
                ("ssh", *self._options, "--", host.ssh or "", remote),
                folder=self._logs,
                environment=os.environ,
                log=self._log(host),
                piped="both",
            )
        except OSError as error:
            hint = "install the OpenSSH client, or start the agents by hand"
            raise HostError(f"`ssh` cannot be started: {error.strerror or error}", hint) from error
        try:
            if process.input is not None:
                process.input.write(
                    certificates.identity(self._certificates, host.name).credentials()
                )
        except BrokenPipeError:
            pass  # it has ended; `tend` says why
        return process

    def _ended(self, host: Host, process: SupervisedProcess) -> HostError:
        said = " ".join(logs.last_lines(self._log(host), 2)) or "it printed nothing"
        if process.exit_code == _SSH_FAILED:
            message = f"`{host.name}` cannot be reached over SSH: {said}"
            return HostError(message, f"make `ssh {host.ssh} true` work without a password")
        if process.exit_code == _NOT_FOUND:
            hint = 'install it there, or name it in the file of hosts: `plimsoll = "/its/path"`'
            return HostError(f"`{host.name}` does not have `{host.program}`", hint)
        message = f"the agent of `{host.name}` ended with exit code {process.exit_code}: {said}"
        return HostError(message, "see docs/hosts.md")

    def _log(self, host: Host) -> Path:
        return self._logs / f"{host.name}.log"


def _quoted(program: str) -> str:
    """A program for the shell of a host, which puts its own home folder in place of `~`."""
    in_home = program.removeprefix("~/")
    return shlex.quote(program) if in_home == program else f"~/{shlex.quote(in_home)}"


def _signs(wait_s: float) -> tuple[str, ...]:
    """Options by which a session outlives a cut as long as the lab waits for its host.

    If it ended before, another agent, which has no rows, could join in place of the one that does.
    """
    missed = max(2, math.ceil(wait_s / SIGN_S))
    return "-o", f"ServerAliveInterval={SIGN_S}", "-o", f"ServerAliveCountMax={missed}"
