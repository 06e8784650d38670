"""Load generators, one module each.

Each has the members of `job.DriverModule`: `NAME`, `KEEPS_ROWS`, `needs()`, `version()`,
`refuses(load, exchanges)` and `drive(drive, watch)`. The engine alone is imported without those of
other tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.drivers.every import DRIVERS as DRIVERS

__getattr__ = doors.of_names(__name__, {"DRIVERS": ("plimsoll.drivers.every", "DRIVERS")})
