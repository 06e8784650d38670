"""A server may use every core while it warms up, and only its own when it is measured.

A runtime that compiles in the background is done in half of the time (decision 82). The last part
of the warm-up runs on the server's own cores, so that it is at its pace when the hold begins.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plimsoll import machine
from plimsoll.processes import affinity, process_table

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from plimsoll.conduct.trial_state import TrialState
    from plimsoll.sampling.scope import Scope

WIDE_RATIO = 0.8
"""Share of the warm-up in which every core may be used."""


@contextmanager
def widened(known: TrialState, scope: Scope | None) -> Generator[Callable[[int], None]]:
    """Has the server of a trial use every core until most of its warm-up is over.

    If it could use them longer than its warm-up lasted, the trial says so.

    Args:
        known: The trial.
        scope: The processes of its server; None where this host cannot confine them.

    Yields:
        What is to be told the zero of the load by CLOCK_MONOTONIC, in nanoseconds.
    """
    own, first = known.server_cores, known.trial.load.stages[0]
    if scope is None or scope.tree is None or not own or first.kind != "warm_up":
        yield idle_at_zero
        return
    root, length_ns = scope.tree.root, round(first.duration_s * 1e9)
    timers: list[threading.Timer] = []

    def processes() -> list[int]:
        return [process.pid for process in process_table.descendants(root)]

    def confine(measured_ns: int) -> None:
        affinity.confine(processes(), own)
        known.confined_late_s = max(0.0, (time.monotonic_ns() - measured_ns) / 1e9)

    def begun(zero_ns: int) -> None:
        left_ns = zero_ns + WIDE_RATIO * length_ns - time.monotonic_ns()
        timer = threading.Timer(max(0.0, left_ns / 1e9), confine, (zero_ns + length_ns,))
        timer.daemon = True
        timers.append(timer)
        timer.start()

    with affinity.widened(processes, own, machine.allowed_cores()):
        try:
            yield begun
        finally:
            for timer in timers:
                timer.cancel()
                timer.join()


def idle_at_zero(zero_ns: int) -> None:
    """Does nothing at the zero."""
