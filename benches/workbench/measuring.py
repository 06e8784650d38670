"""One run of a client against a fresh reference server, measured on both sides."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench import host
from workbench.processes import Ended, Reference, run


@dataclass(frozen=True)
class Measured:
    """A run of a client and what the server saw of it.

    Attributes:
        client: The client's process.
        server_cpu_s: Processor time of the server meanwhile.
        accepted: Connections that the server accepted.
        answered: Requests that the server responded to.
        others_ratio: Share of all cores that neither client nor server used.
    """

    client: Ended
    server_cpu_s: float
    accepted: int
    answered: int
    others_ratio: float


def measured(
    command: Callable[[str], Sequence[str]],
    client_cores: tuple[int, ...],
    server_cores: tuple[int, ...],
    patience_s: float,
    certificate: Path | None = None,
) -> Measured:
    """Starts a server, runs a client against it, stops the server.

    Args:
        command: The client's command, given address and port of the server.
        client_cores: Where the client may run.
        server_cores: Cores of the server, one thread on each.
        patience_s: Seconds after which the client is killed.
        certificate: File of a certificate and its key; without it the server speaks plain HTTP.
    """
    with Reference(server_cores, certificate) as server:
        asked = command(server.address)
        server_s, busy_s, wall_s = server.cpu_s(), host.busy_s(), time.monotonic()
        client = run(asked, client_cores, patience_s)
        wall_s = time.monotonic() - wall_s
        server_s, busy_s = server.cpu_s() - server_s, host.busy_s() - busy_s
    others_s = max(0.0, busy_s - server_s - client.cpu_s)
    others_ratio = others_s / (wall_s * len(host.cores().all))
    return Measured(client, server_s, server.accepted, server.answered, others_ratio)
