"""A runtime that compiles while it runs warms up in pulses of load, with rests between them.

Under load, the threads of the compiler share the server's cores with every thread that serves. At
rest they have all of them, so a runtime is at its pace after a tenth of the time (decision 109).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.drivers import turning
from plimsoll.processes import scratch

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.drivers.job import DriverJob, DriverResult
    from plimsoll.drivers.turning import EngineTurn, Turning

    JobIn = Callable[[Path], DriverJob]
    """What a load generator is to do, with its records in a folder."""

PULSE_S = 1.0
"""The longest that a server is loaded before it may rest, in seconds."""


def pulses_s(length_s: float, trials: int) -> list[float]:
    """Lengths of the pulses of a warm-up, in seconds.

    Args:
        length_s: Length of the load, without rests.
        trials: By how many loads it is; each has as many pulses as the others.
    """
    count = trials * max(1, math.ceil(length_s / trials / PULSE_S))
    return [length_s / count] * count


def pulse(
    job_in: JobIn, length_s: float, started: Turning = turning.started
) -> tuple[EngineTurn, DriverResult]:
    """Loads a server as its load begins; nothing of it is kept.

    Args:
        job_in: Its load.
        length_s: For how long, in seconds.
        started: Has a load rest, on this host or on others.

    Raises:
        DriverError: The load generator failed.
        HostLost: Another host is gone.
    """
    with scratch.folder() as folder:
        job = job_in(folder)
        with started(replace(job, load=job.load.warming(length_s))) as warming:
            turn = warming.turn(round(length_s * 1e9))
            return turn, warming.finish()
