"""Drivers by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.drivers import tools
from plimsoll.drivers.tools import plimsoll as engine
from plimsoll.errors import DriverMissing

if TYPE_CHECKING:
    from plimsoll.drivers.job import DriverModule


def named(name: str) -> DriverModule:
    """The driver of a name.

    Raises:
        DriverMissing: There is none.
    """
    if name == engine.NAME:
        return engine
    for driver in tools.DRIVERS:  # imported now, because no load of ours waits for them
        if driver.NAME == name:
            return driver
    known = ", ".join(f"`{driver.NAME}`" for driver in tools.DRIVERS)
    raise DriverMissing(f"unknown driver `{name}`", f"choose one of {known}")
