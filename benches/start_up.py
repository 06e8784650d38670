"""How long a person waits: for help, for the first request of a load, and for a short load to end.

The last table is the processor time, of a command and all it starts, that verbs take with little to
do: what they cost before, between and after what they are for.

`make bench` runs it. The first request is timed from the start of the command to the first byte
that reaches a server of its own; wrk, ab, hey and oha are timed beside it where they are installed.
Every number is the least and the median of some runs: a busy machine can only make them longer.
"""

from __future__ import annotations

import argparse
import os
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from plimsoll.cli import VERBS

PROGRAM = Path(sys.executable).with_name("plimsoll")
"""The installed command."""

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok"
"""To every request; ab speaks HTTP/1.0, so the header must keep the connection open."""

TOOLS = {
    "plimsoll": (str(PROGRAM), "load", "{url}", "-q", "-c", "1", "-n", "{n}"),
    "wrk": ("wrk", "-t1", "-c1", "-d1s", "{url}"),
    "ab": ("ab", "-q", "-k", "-c", "1", "-n", "{n}", "{url}"),
    "hey": ("hey", "-c", "1", "-n", "{n}", "{url}"),
    "oha": ("oha", "--no-tui", "-c", "1", "-n", "{n}", "{url}"),
}
"""Each tool, and its options for `{n}` requests of `{url}`; wrk goes by time alone."""


CAMPAIGN = """
name = "little"
frameworks = ["reference"]
endpoints = ["2048"]
cool_down = "0s"

[[load]]
name = "little"
model = "open"
connections = 4
stages = [{ kind = "hold", duration = "1s", at = 50 }]
"""
"""One trial of few requests, by which a campaign costs little but itself."""

LOG = "\n".join(
    ("elapsed,label,responseCode,success,timeStamp", *["5,a,200,true,1700000000000"] * 50)
)
"""The request log of a JMeter test."""

UNUSED = "127.0.0.1:9"
"""The port of `discard`, which nothing serves any more."""

LITTLE = {
    "line, refused": ("line", UNUSED, "--p99", "20ms"),
    "load, refused": ("load", UNUSED),
    "load, 1 s": ("load", "{url}", "-c", "1", "-R", "20", "-d", "1s"),
    "install": ("install", "reference"),
    "plan": ("plan", "{folder}/little.toml"),
    "run --no-report": (
        "run", "{folder}/little.toml", "--into", "{folder}/bare{turn}", "--no-report",
    ),
    "run": ("run", "{folder}/little.toml", "--into", "{folder}/run{turn}"),
    "judge": ("judge", "{folder}/run{turn}"),
    "report": ("report", "{folder}/run{turn}"),
    "export": ("export", "{folder}/run{turn}", "--to", "{folder}/exported{turn}"),
    "import": ("import", "{folder}/log.csv", "--into", "{folder}/imported{turn}"),
    "check": ("check", "reference"),
    "list": ("list",),
    "machine": ("machine",),
}  # fmt: skip
"""What verbs do in the last table, in this order; `{turn}` is the number of the run."""


@dataclass
class Listener:
    """A server that responds to everything and knows when the first byte came.

    Attributes:
        first_s: Instant of the first byte by the monotonic clock; None before it.
    """

    first_s: float | None = None
    _socket: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/"

    def start(self) -> None:
        """Serves in a thread of its own."""
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(self._socket, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    if key.fileobj is self._socket:
                        ready.register(self._socket.accept()[0], selectors.EVENT_READ)
                    elif isinstance(key.fileobj, socket.socket):
                        self._answer(key.fileobj, ready)

    def _answer(self, connection: socket.socket, ready: selectors.BaseSelector) -> None:
        with suppress(OSError):
            if heard := connection.recv(1 << 16):
                self.first_s = self.first_s or time.monotonic()
                connection.sendall(ANSWER * heard.count(b"\r\n\r\n"))
                return
        ready.unregister(connection)
        connection.close()


def told(times_s: Sequence[float]) -> str:
    """The least and the median of some times, in milliseconds."""
    return f"{min(times_s) * 1e3:6.0f} {median(times_s) * 1e3:6.0f}"


def duration_s(command: Sequence[str]) -> float:
    """How long a command takes."""
    began_s = time.monotonic()
    subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return time.monotonic() - began_s


def processor_s(command: Sequence[str]) -> float:
    """Processor time of a command and of what it waited for."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def processor_times(runs: int, url: str) -> None:
    """Prints what verbs take with little to do."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "little.toml").write_text(CAMPAIGN, encoding="utf-8")
        Path(folder, "log.csv").write_text(LOG, encoding="utf-8")
        turns = {name: iter(range(runs)) for name in LITTLE}

        def measured(name: str, typed: tuple[str, ...]) -> float:
            turn = next(turns[name])
            words = [word.format(url=url, folder=folder, turn=turn) for word in typed]
            return processor_s([str(PROGRAM), *words])

        rows = {
            f"plimsoll {name}": lambda n=name, t=typed: measured(n, t)
            for name, typed in LITTLE.items()
        }
        table("processor time", runs, rows)


def first_request_s(command: Sequence[str], listener: Listener) -> float:
    """From the start of a command to the first byte that its server gets."""
    listener.first_s = None
    began_s = time.monotonic()
    subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    if listener.first_s is None:
        message = f"`{command[0]}` sent nothing"
        raise SystemExit(message)
    return listener.first_s - began_s


def installed() -> dict[str, tuple[str, ...]]:
    """The tools that are here."""
    return {name: command for name, command in TOOLS.items() if shutil.which(command[0])}


def filled(command: Sequence[str], url: str, requests: int) -> list[str]:
    """The command of a tool for some requests of a URL."""
    return [word.format(url=url, n=requests) for word in command]


def table(heading: str, runs: int, rows: dict[str, Callable[[], float]]) -> None:
    """Prints a table; every run goes through all rows, so that a busy moment hits all of them."""
    times_s: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(runs):
        for name, measured in rows.items():
            times_s[name].append(measured())
    print(f"\n{heading:<40}  least median")
    for name, values in times_s.items():
        print(f"{name:<40} {told(values)}")


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=7)
    runs = parser.parse_args().runs
    listener = Listener()
    listener.start()
    helps = {"": (str(PROGRAM), "--help")}
    helps |= {verb: (str(PROGRAM), verb, "--help") for verb in VERBS}
    print("milliseconds")
    table(
        "help",
        runs,
        {f"plimsoll {verb} --help": lambda c=c: duration_s(c) for verb, c in helps.items()},
    )
    ones = {name: filled(command, listener.url, 1) for name, command in installed().items()}
    table(
        "first request",
        runs,
        {name: lambda c=c: first_request_s(c, listener) for name, c in ones.items()},
    )
    many = {name: filled(command, listener.url, 1000) for name, command in installed().items()}
    many.pop("wrk", None)
    table(
        "1,000 requests, all in all", runs, {n: lambda c=c: duration_s(c) for n, c in many.items()}
    )
    processor_times(runs, listener.url)


if __name__ == "__main__":
    main()
