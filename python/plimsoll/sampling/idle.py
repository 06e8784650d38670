"""The idle host: what it needs while the server runs and has no load.

Energy of a load is what the host needs under it less what it needs without it, so the latter is
read before and after a load, if that is requested. Where neither RAPL nor a meter can be read there
is nothing to wait for, and no time is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext

from plimsoll.recording.readings import Reading
from plimsoll.sampling.samplers import energy
from plimsoll.sampling.wall import WallMeter

QUANTITY = "idle_energy_j"

SETTLE_S = 2.0
"""Pause before the host is read: meters report the mean of about a second, servers tidy up."""

Energies = Callable[[], dict[str, float]]
"""Reads energy so far; see `samplers.energy`."""


def readings(
    length_s: float,
    meter: WallMeter | None = None,
    energies: Energies = energy.of_host,
    clock: Callable[[], int] = time.monotonic_ns,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Reading]:
    """Energy of the host, read once a second while nothing runs.

    Args:
        length_s: For how long, in seconds; 0 for not at all.
        meter: Keeps what it reads meanwhile apart; None for none.
        energies: Reads the energy so far.
        clock: CLOCK_MONOTONIC in nanoseconds.
        sleep: Waits for some seconds.

    Returns:
        One reading more than there are whole seconds; none where RAPL cannot be read.
    """
    if length_s <= 0 or (meter is None and not energies()):
        return []
    sleep(SETTLE_S)
    with nullcontext() if meter is None else meter.idling():
        found = [*_reading(energies, clock)]
        for _ in range(int(length_s)):
            sleep(1.0)
            found += _reading(energies, clock)
    return found


def _reading(energies: Energies, clock: Callable[[], int]) -> list[Reading]:
    """What RAPL has counted; nothing where it cannot be read."""
    at_ns = clock()
    return [Reading(at_ns, "machine", QUANTITY, value) for value in energies().values()]
