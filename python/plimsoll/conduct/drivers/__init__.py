"""Programs that put on a load, one module each.

Each has what `drive.DriverModule` says: `NAME`, `needs()`, `version()`, `refuses(load, exchanges)`
and `drive(drive, watch)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.conduct.drivers import ab, h2load, jmeter, plimsoll, wrk

if TYPE_CHECKING:
    from plimsoll.conduct.drive import DriverModule

DRIVERS: tuple[DriverModule, ...] = (plimsoll, wrk, ab, h2load, jmeter)
"""Every driver."""
