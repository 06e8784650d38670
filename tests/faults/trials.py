"""A trial with a fault in it, really made: a server, a load, and what happens meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from command_line import Running, run, start
from own_networks import SERVED, own_network, ports
from small_disks import small_disk

TESTS = Path(__file__).parents[1]
JUDGED = (0, 1)
"""Exit codes of a load that was judged."""
DOUBTS = ("doubtful", "void")
BUSY_RATIO = 0.75
"""Trials that need a quiet host leave it half idle."""


@dataclass(frozen=True)
class Server:
    """A server to start: arguments of Python that begin with what says the address."""

    arguments: tuple[str, ...]
    files: int = 0
    """Files that it may open; 0 leaves the limit."""

    @contextmanager
    def serving(self) -> Generator[str]:
        """Its address; it is ended with the block."""
        limit = ("prlimit", f"--nofile={self.files}") if self.files else ()
        with subprocess.Popen(
            [*limit, sys.executable, *self.arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "HOST": "127.0.0.1"},
        ) as program:
            try:
                assert program.stdout is not None
                said = program.stdout.readline().strip()
                yield json.loads(said)["address"] if said.startswith("{") else said
            finally:
                program.kill()


def faulty(**options: object) -> Server:
    """`server.py` with options; those that are 0 or False are left out."""
    return Server((str(TESTS / "faults" / "server.py"), *_typed(options)))


def content(**options: object) -> Server:
    """`content_server.py` with options."""
    return Server((str(TESTS / "content_server.py"), *_typed(options)))


def reference(**options: object) -> Server:
    """The reference server with options."""
    return Server(("-m", "plimsoll.reference", "--port", "0", *_typed(options)))


def _typed(options: dict[str, object]) -> list[str]:
    typed: list[str] = []
    for name, value in options.items():
        if value:
            typed += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return typed


@dataclass(frozen=True)
class Stops:
    """The load generator stops once, or ten times a second for a second."""

    length_s: float
    times: int = 1

    def __call__(self, running: Running) -> None:
        time.sleep(1.0)
        engine = running.engine()
        for _ in range(self.times):
            os.kill(engine, signal.SIGSTOP)
            time.sleep(self.length_s)
            os.kill(engine, signal.SIGCONT)
            time.sleep(0.1)


def kills(running: Running) -> None:
    """The load generator is killed."""
    time.sleep(1.0)
    os.kill(running.engine(), signal.SIGKILL)


@dataclass(frozen=True)
class Trial:
    """What is started; equal trials need to be made once only.

    Attributes:
        server: The server; None for an address where nothing listens.
        load: What is typed behind the address.
        path: Path behind the address.
        meanwhile: Done as soon as the load generator drives.
        files: Files that the load generator may open; 0 leaves the limit.
        ports: Local ports that there are, in a network of its own; 0 leaves the network.
        disk_mebibytes: Size of the disk for the recording; 0 takes the disk of the folder.
    """

    server: Server | None
    load: tuple[str, ...]
    path: str = ""
    meanwhile: Callable[[Running], None] | None = None
    files: int = 0
    ports: int = 0
    disk_mebibytes: int = 0


@dataclass(frozen=True)
class Seen:
    """What the program made of a trial.

    Attributes:
        code: Exit code.
        verdicts: Check to its verdict; empty when the load was not judged.
        said: What it said on stderr.
        host_busy_ratio: Share of the time of all cores that this host was busy, by anyone.
    """

    code: int
    verdicts: dict[str, dict[str, Any]]
    said: str
    host_busy_ratio: float

    @property
    def is_disturbed(self) -> bool:
        """Whether other programs can hide a fault, or look like one."""
        return self.host_busy_ratio > BUSY_RATIO or self.doubts("undisturbed")

    def doubts(self, check: str) -> bool:
        """Whether a check doubts the trial."""
        return self.level(check) in DOUBTS

    def level(self, check: str) -> str:
        """Level of a check; empty when the load was not judged."""
        return self.verdicts.get(check, {}).get("level", "")

    def sentences(self, check: str) -> str:
        """What a check says of the trial."""
        told = self.verdicts.get(check, {}).get("sentences", [])
        return " ".join(one["text"] for one in told) or self.said


def seen(trial: Trial, folder: Path) -> Seen:
    """Makes a trial, and says what the program saw.

    Args:
        trial: The trial.
        folder: An empty folder, which keeps the recording.
    """
    if trial.disk_mebibytes:
        with small_disk(folder / "disk", trial.disk_mebibytes) as disk:
            return _served(trial, disk)
    return _served(trial, folder)


def _served(trial: Trial, folder: Path) -> Seen:
    if trial.ports:
        few = own_network(ports(40_000, 40_000 + trial.ports), served=True)
        return _loaded(trial, SERVED, folder, few)
    limit = ("prlimit", f"--nofile={trial.files}") if trial.files else ()
    if trial.server is None:
        return _loaded(trial, "127.0.0.1:9", folder, limit)
    with trial.server.serving() as address:
        return _loaded(trial, address, folder, limit)


def _loaded(trial: Trial, address: str, folder: Path, before: tuple[str, ...]) -> Seen:
    options = (*trial.load, "--record", "recording", "--json")
    busy, total = _cores_time()
    typed = ("load", f"{address}{trial.path}", *options)
    if trial.meanwhile:
        load = start(*typed, folder=folder, before=before)
        load.wait_until_it_drives()
        trial.meanwhile(load)
        ran = load.end()
    else:
        ran = run(*typed, folder=folder, before=before)
    judged = json.loads(ran.stdout) if ran.code in JUDGED else {"verdicts": []}
    verdicts = {verdict["check"]: verdict for verdict in judged["verdicts"]}
    now_busy, now_total = _cores_time()
    host_busy_ratio = (now_busy - busy) / max(now_total - total, 1)
    return Seen(ran.code, verdicts, ran.stderr, host_busy_ratio)


def _cores_time() -> tuple[int, int]:
    """Ticks that all cores were not idle, and all ticks: the first line of /proc/stat, proc(5)."""
    _, *times = Path("/proc/stat").read_text().splitlines()[0].split()
    ticks = [int(time) for time in times[:8]]
    return sum(ticks) - sum(ticks[3:5]), sum(ticks)
