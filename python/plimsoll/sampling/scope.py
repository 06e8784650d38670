"""Scopes: whose resources are read."""

from __future__ import annotations

from dataclasses import dataclass

from plimsoll.processes.tree import ProcessTree
from plimsoll.recording.readings import ScopeName


@dataclass(frozen=True)
class Scope:
    """Whose resources are read.

    Attributes:
        name: `machine` is the whole host, all others are process trees.
        tree: The processes; None for the machine.
        port: The port whose listening sockets are read too; None for no port.
        host: The address of this port that clients connect to, in numbers; empty for any.
        thorough: Whether this reading includes what disturbs the processes or takes long to read.
        peer: Address and port of the server that the processes connect to over TCP; empty
            for none.
    """

    name: ScopeName
    tree: ProcessTree | None = None
    port: int | None = None
    thorough: bool = True
    peer: str = ""
    host: str = ""
