"""The idle host: what it needs when nothing is measured on it.

Energy of a server is what the host needs with it less what it needs without it, so the latter is
read before and after a trial, if the campaign requests it. Where the energy of a host cannot be
read there is nothing to wait for, and no time is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from plimsoll.recording.readings import Reading
from plimsoll.sampling.samplers import energy

QUANTITY = "idle_energy_j"

Energies = Callable[[], dict[str, float]]
"""Reads energy so far; see `sampling.energy`."""


def readings(
    length_s: float,
    energies: Energies = energy.of_host,
    clock: Callable[[], int] = time.monotonic_ns,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Reading]:
    """Energy of the host, read once a second while nothing runs.

    Args:
        length_s: For how long, in seconds; 0 for not at all.
        energies: Reads the energy so far.
        clock: CLOCK_MONOTONIC in nanoseconds.
        sleep: Waits for some seconds.

    Returns:
        One reading more than there are whole seconds; none where energy cannot be read.
    """
    if length_s <= 0 or not energies():
        return []
    found = [_reading(energies, clock)]
    for _ in range(int(length_s)):
        sleep(1.0)
        found.append(_reading(energies, clock))
    return found


def _reading(energies: Energies, clock: Callable[[], int]) -> Reading:
    at_ns = clock()
    return Reading(at_ns, "machine", QUANTITY, energies().get("energy_j", 0.0))
