"""The list of drivers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.drivers.tools import ab, h2load, jmeter, plimsoll, wrk

if TYPE_CHECKING:
    from plimsoll.drivers.job import DriverModule

DRIVERS: tuple[DriverModule, ...] = (plimsoll, wrk, ab, h2load, jmeter)
"""Every driver."""
