"""Power at the wall: a meter is asked while a trial runs, in a thread off the server's cores.

What it answers is recorded as it is, lies included; whether energy follows from it is decided later
(`aggregate.energy`). A meter that fails is asked again a second later: nothing that it does ends a
trial or holds it up.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll import machine
from plimsoll.errors import MeterFailed
from plimsoll.recording.readings import Reading
from plimsoll.sampling import meters

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from plimsoll.sampling.meters import Meter

LOADED, IDLE = "wall_power_w", "idle_wall_power_w"
"""Quantities: power while the trial runs, and power of the server without load."""

RETRY_S = 1.0
"""From a failed question to the next."""

PATIENCE_S = 2.0
"""How long the end of a trial waits for a meter that does not let go."""


@dataclass
class WallMeter:
    """A meter that is asked in a thread of its own.

    Attributes:
        meter: The meter.
        cores: Cores that the thread may use; empty for all.
        clock: CLOCK_MONOTONIC in nanoseconds.
        readings: What it answered.
        failed: Questions that it did not respond.
        problem: Why the first of them was not answered; empty for none.
    """

    meter: Meter
    cores: Sequence[int] = ()
    clock: Callable[[], int] = time.monotonic_ns
    readings: list[Reading] = field(default_factory=list[Reading])
    failed: int = 0
    problem: str = ""
    _quantity: str = LOADED
    _ended: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def idling(self) -> Generator[None]:
        """What is read within the block is power without load."""
        self._quantity = IDLE
        try:
            yield
        finally:
            self._quantity = LOADED

    def run(self) -> None:
        """Asks until `end` is called."""
        if self.cores:
            with suppress(OSError):
                os.sched_setaffinity(0, self.cores)
        pause_s = 0.0
        while not self._ended.wait(pause_s):
            began_ns = self.clock()
            pause_s = self._asked()
            pause_s = max(0.0, pause_s - (self.clock() - began_ns) / 1e9)

    def end(self) -> None:
        """Ends `run`."""
        self._ended.set()
        with suppress(Exception):  # as above
            self.meter.close()

    def _asked(self) -> float:
        """Asks once; seconds from this question to the next."""
        try:
            watts = self.meter.watts()
        except Exception as error:  # whatever a meter does, the load goes on
            if not self._ended.is_set():
                self.failed += 1
                message = error.message if isinstance(error, MeterFailed) else repr(error)
                self.problem = self.problem or message
            return RETRY_S
        self.readings.append(Reading(self.clock(), "machine", self._quantity, watts))
        return self.meter.interval_s


@contextmanager
def watched(address: str, server_cores: Sequence[int]) -> Generator[WallMeter | None]:
    """Asks a meter for as long as the block runs.

    Args:
        address: Its address; empty for none.
        server_cores: Cores of the server, which the thread leaves alone if there are others.

    Yields:
        What it answers; None without a meter.
    """
    if not address:
        yield None
        return
    others = tuple(core for core in machine.allowed_cores() if core not in server_cores)
    found = WallMeter(meters.opened(address), others)
    thread = threading.Thread(target=found.run, name="wall power", daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.end()
        thread.join(PATIENCE_S)
