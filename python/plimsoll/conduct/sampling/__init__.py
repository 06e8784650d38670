"""Resources that are read once a second, one module each: `read(scope)` gives quantity to value."""

from plimsoll.conduct.sampling import cpu, memory, network, processes, sockets

SAMPLERS = (cpu, memory, processes, sockets, network)
"""Every resource; processor time first, since its instant matters most."""
