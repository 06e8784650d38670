"""The idle host: what it needs while the server runs and has no load.

Energy of a load is what the host needs under it less what it needs without it. The latter is read
before and after a load, if that is requested. A ladder of rates reads the server itself as well,
for its idle cost. Where neither RAPL nor a meter can be read, and no server is, there is nothing to
wait for, and no time is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

from plimsoll.campaign.power import SETTLE_S
from plimsoll.recording.readings import Reading
from plimsoll.sampling.samplers import cpu, energy, memory
from plimsoll.sampling.scope import Scope
from plimsoll.sampling.wall import WallMeter

QUANTITY = "idle_energy_j"

OF_SERVER = ("cpu_user_s", "cpu_system_s", "rss_bytes")
"""Quantities of a server that are read without load, under names that begin with `idle_`."""

Energies = Callable[[], dict[str, float]]
"""Reads energy so far; see `samplers.energy`."""


def readings(
    length_s: float,
    meter: WallMeter | None = None,
    energies: Energies = energy.of_host,
    clock: Callable[[], int] = time.monotonic_ns,
    sleep: Callable[[float], None] = time.sleep,
    server: Scope | None = None,
) -> list[Reading]:
    """Energy of the host, and what a server needs, read once a second while no load is on.

    Args:
        length_s: For how long, in seconds; 0 for not at all.
        meter: Keeps what it reads meanwhile apart; None for none.
        energies: Reads the energy so far.
        clock: CLOCK_MONOTONIC in nanoseconds.
        sleep: Waits for some seconds.
        server: A server that is read as well; None for none.

    Returns:
        One reading more of each quantity than there are whole seconds; none of energy where RAPL
        cannot be read.
    """
    if length_s <= 0 or (meter is None and server is None and not energies()):
        return []
    sleep(SETTLE_S)
    with nullcontext() if meter is None else meter.idling():
        found = [*_reading(energies, clock, server)]
        for _ in range(int(length_s)):
            sleep(1.0)
            found += _reading(energies, clock, server)
    return found


def passed(length_s: float, meter: WallMeter | None) -> None:
    """Lets the time of `readings` pass while another host reads; only the meter is read here.

    Args:
        length_s: For how long, in seconds.
        meter: Keeps what it reads meanwhile apart; None for none.
    """
    time.sleep(SETTLE_S)
    with nullcontext() if meter is None else meter.idling():
        time.sleep(length_s)


def _reading(energies: Energies, clock: Callable[[], int], server: Scope | None) -> list[Reading]:
    """What RAPL has counted, if it can be read, and what a server has used."""
    at_ns = clock()
    found = [Reading(at_ns, "machine", QUANTITY, value) for value in energies().values()]
    return found if server is None else [*found, *_of_server(server, clock())]


def _of_server(server: Scope, at_ns: int) -> list[Reading]:
    """What a server has used so far, and holds now; nothing of one whose processes are gone."""
    if server.tree is None:
        return []
    server.tree.refresh()
    if not server.tree.stats:
        return []
    values = {**cpu.read(server), **memory.read(replace(server, thorough=False))}
    return [
        Reading(at_ns, server.name, f"idle_{name}", values[name])
        for name in OF_SERVER
        if name in values
    ]
