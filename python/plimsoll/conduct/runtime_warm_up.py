"""A runtime that compiles while it runs warms up in pulses of load, with rests between them.

Under load, the threads of the compiler share the server's cores with every thread that serves. At
rest they have all of them, so a runtime is at its pace after a tenth of the time (decision 109).
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import machine
from plimsoll.drivers import records, turning
from plimsoll.processes import affinity
from plimsoll.serving.resting import RestingServer
from plimsoll.storage import scratch

if TYPE_CHECKING:
    from pathlib import Path

    from plimsoll.conduct.trial_state import TrialState
    from plimsoll.drivers.job import DriverJob, DriverResult
    from plimsoll.drivers.turning import EngineTurn, Turning, TurningLoad
    from plimsoll.processes.tree import ProcessTree

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


def pulse(load: TurningLoad, length_s: float) -> tuple[EngineTurn, DriverResult]:
    """All of a load in one turn.

    Args:
        load: The load, which rests.
        length_s: Its length, in seconds.

    Raises:
        DriverError: The load generator failed.
        HostLost: Another host is gone.
    """
    return load.turn(round(length_s * 1e9)), load.finish()


@contextmanager
def unrecorded(
    job_in: JobIn, length_s: float, started: Turning = turning.started
) -> Generator[TurningLoad]:
    """A load that rests, of which nothing is kept; it is stopped at the end of the block.

    Args:
        job_in: The load that it begins as.
        length_s: For how long it works in all its turns together, in seconds.
        started: Has a load rest, on this host or on others.

    Raises:
        DriverError: The load generator failed.
        HostLost: Another host is gone.
    """
    with scratch.folder() as folder:
        job = job_in(folder)
        with started(replace(job, load=job.load.warming(length_s))) as load:
            yield load


def of_one(known: TrialState, tree: ProcessTree, job_in: JobIn) -> None:
    """Warms up a server that no other trial shares, for as long as its runtime needs.

    Args:
        known: The trial; notes how long that took, and what its server counted meanwhile.
        tree: Processes of its server.
        job_in: Its load.

    Raises:
        DriverError: The load generator failed.
    """
    length_s, rest = known.trial.start_warm_up_s, RestingServer(tree.pids)
    began_s, loads = time.monotonic(), list["DriverResult"]()
    with affinity.widened(tree.pids, known.server_cores, machine.allowed_cores()):
        for pulse_s in pulses_s(length_s, 1):
            with unrecorded(job_in, pulse_s) as load:
                _, driven = pulse(load, pulse_s)
            loads.append(driven)
            rest.wait_until_idle()
    known.warming_s = time.monotonic() - began_s
    if known.server is not None:
        known.server = replace(known.server, counted_elsewhere=counted(loads))


def counted(loads: Iterable[DriverResult]) -> dict[str, int]:
    """What load generators count, by the names of a server's own counters, and right responses."""
    found = Counter[str]()
    for driven in loads:
        driver = driven.driver
        received = [one.value for one in driven.readings if one.quantity == "received_bytes"]
        complete = (driver.outcomes.get(name, 0) for name in records.complete_outcomes())
        found["requests_received"] += driver.sent or 0
        found["responses_sent"] += sum(complete)
        found["sent_bytes"] += int(received[-1]) if received else 0
        found["right_responses"] += driver.outcomes.get("ok", 0)
    return dict(found)
