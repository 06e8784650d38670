"""The control: a fixed piece of work whose processor time shows how fast the machine is.

It has three parts, since a machine slows in three ways:

- *compute* (SHA-256 of a block that fits the first cache) by its frequency;
- *memory* (a walk of dependent steps through 8 MiB) by neighbours on caches and memory;
- *loopback* (echoes over a TCP connection to itself) by what a system call costs.

It runs on the server's cores, between turns or before and after a load, and never during one. So
it takes nothing from a server, and no server can move it: whoever rests uses no processor time, and
processor time of others is not in that of the control. What the server before it left in the caches
is replaced first, untimed: each part does some of its work before its clock starts.

It costs 15 to 50 ms. What it leaves in the caches is what any other server would, and rounds are
shuffled, so each server is as often the first one after it.

Source: control measurements, D. C. Montgomery, Design and Analysis of Experiments; the control
workload of the Green Metrics Tool; CLOCK_THREAD_CPUTIME_ID, clock_getres(2).
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from plimsoll.recording.readings import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

EVERY_NS = 1_000_000_000
"""Between turns it runs about so often."""

TIMES = 3
"""How often it runs before, and after, a load in one piece."""

_BLOCK = bytes(range(256)) * 64
_BLOCKS = 512
_CACHE_LINE = 64
_TABLE_BYTES = 1 << 23
_STEPS = 40_000
_ECHOES = 500
_REQUEST = bytes(128)
_RESPONSE = bytes(1024)


@dataclass
class Control:
    """A control that is ready to run.

    Attributes:
        cores: Cores that it runs on; empty for any.
    """

    cores: Sequence[int]
    _ends: tuple[socket.socket, socket.socket] | None = None
    _table: bytes = field(default=b"\x01" * _TABLE_BYTES, repr=False)

    def run(self) -> dict[str, float]:
        """Runs it once.

        Returns:
            Quantity of `usage` to the processor time of that part, in seconds; without `loopback`
            where this host has no network.
        """
        parts = {"control_compute_s": _compute, "control_memory_s": self._walk}
        if self._ends is not None:
            parts["control_loopback_s"] = self._echo
        with _pinned(self.cores):
            return {quantity: _timed_s(work) for quantity, work in parts.items()}

    def _walk(self, part: float) -> None:
        """Walks through memory; which step is next is known only when the last one was read."""
        table, at = self._table, 1
        if part < 1:
            table[::_CACHE_LINE].count(0)
        for _ in range(round(part * _STEPS)):
            at = (at * 1_103_515_245 + 12_344 + table[at]) & (_TABLE_BYTES - 1)

    def _echo(self, part: float) -> None:
        """Sends small requests to itself, and somewhat larger responses back."""
        if self._ends is None:
            return
        client, server = self._ends
        for _ in range(round(part * _ECHOES)):
            client.sendall(_REQUEST)
            _receive(server, len(_REQUEST))
            server.sendall(_RESPONSE)
            _receive(client, len(_RESPONSE))


@contextmanager
def ready(cores: Sequence[int]) -> Generator[Control]:
    """A control for as long as the block runs.

    Args:
        cores: Cores that it runs on; empty for any.
    """
    with ExitStack() as held:
        yield Control(cores, _connected(held))


def readings(took: Mapping[str, float], at_ns: int) -> list[Reading]:
    """What a run took as readings.

    Args:
        took: What `Control.run` returned.
        at_ns: Their instant by CLOCK_MONOTONIC.
    """
    return [Reading(at_ns, "machine", quantity, value) for quantity, value in took.items()]


def _compute(part: float) -> None:
    for _ in range(round(part * _BLOCKS)):
        sha256(_BLOCK).digest()


_WARM_UP = 0.125
"""Share of the work of a part that is done before its clock starts."""


def _timed_s(work: Callable[[float], None]) -> float:
    """Processor time of a piece of work, in seconds."""
    work(_WARM_UP)
    began_ns = time.thread_time_ns()
    work(1.0)
    return (time.thread_time_ns() - began_ns) / 1e9


def _connected(held: ExitStack) -> tuple[socket.socket, socket.socket] | None:
    """Both ends of a connection over loopback; None where this host has none."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            client = held.enter_context(socket.create_connection(listener.getsockname(), 1.0))
            server = held.enter_context(listener.accept()[0])
        for end in (client, server):
            end.settimeout(1.0)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        return None
    return client, server


def _receive(end: socket.socket, length: int) -> None:
    while length > 0:
        received = end.recv(length)
        if not received:
            return
        length -= len(received)


@contextmanager
def _pinned(cores: Sequence[int]) -> Generator[None]:
    """Runs this thread on some cores for as long as the block runs, where that is allowed."""
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, cores or before)
    except OSError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
