"""Scopes, whose resources are read, and readings of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.conduct.tree import ProcessTree

ScopeName = Literal["server", "driver", "machine"]


@dataclass(frozen=True)
class Scope:
    """Whose resources are read.

    Attributes:
        name: `server` and `driver` are process trees, `machine` is the whole host.
        tree: The processes; None for the machine.
        port: The port whose listening sockets are read too; None for no port.
        thorough: Whether this reading includes what disturbs the processes or takes long to read.
        peer: Address and port of the server that the processes connect to; empty for none.
    """

    name: ScopeName
    tree: ProcessTree | None = None
    port: int | None = None
    thorough: bool = True
    peer: str = ""


@dataclass(frozen=True)
class Reading:
    """One value of one quantity; a row of the table `usage`.

    Attributes:
        at_ns: Its instant by CLOCK_MONOTONIC, in nanoseconds.
        scope: Whose resource it is.
        quantity: Name in `tables.QUANTITIES`.
        value: The value, in the unit that the name says.
    """

    at_ns: int
    scope: ScopeName
    quantity: str
    value: float
