"""Readings of resources, the rows of the table `usage`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from plimsoll.recording import HOST

ScopeName = Literal["server", "driver", "database", "upstream", "machine"]


@dataclass(frozen=True, slots=True)
class Reading:
    """One value of one quantity; a row of the table `usage`.

    Attributes:
        at_ns: Its time in nanoseconds: by CLOCK_MONOTONIC if Plimsoll sampled it, since the trial's
            zero if it was imported.
        scope: Owner of the resource.
        quantity: Name in `tables.QUANTITIES`.
        value: The value, in the unit of the name.
        host: The sampled host.
    """

    at_ns: int
    scope: ScopeName
    quantity: str
    value: float
    host: str = HOST
