"""How long a person waits: for help, for the first request of a load, and for a short load to end.

`make bench` runs it. The first request is timed from the start of the command to the first byte
that reaches a server of its own; wrk, ab, hey and oha are timed beside it where they are installed.
Every number is the least and the median of some runs: a busy machine can only make them longer.
"""

from __future__ import annotations

import argparse
import selectors
import shutil
import socket
import subprocess
import sys
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


if __name__ == "__main__":
    main()
