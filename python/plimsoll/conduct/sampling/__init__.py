"""Resources that are read once a second, one module each: `read(scope)` gives quantity to value."""

from plimsoll.conduct.sampling import cpu, energy, memory, network, power, processes, sockets

SAMPLERS = (cpu, memory, processes, sockets, network, power, energy)
"""Every resource; processor time first, since its instant matters most."""
