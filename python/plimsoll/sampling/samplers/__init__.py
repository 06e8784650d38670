"""Resources that are read once a second, one module each: `read(scope)` gives quantity to value."""

from plimsoll.sampling.samplers import (
    cpu,
    energy,
    memory,
    network,
    power,
    processes,
    run_delay,
    sockets,
)

SAMPLERS = (cpu, run_delay, memory, processes, sockets, network, power, energy)
"""Every resource; processor time first, since its instant matters most."""
