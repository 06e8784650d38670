"""Programs that put on a load, one module each: `NAME`, and `drive(drive, watch)`."""

from plimsoll.conduct.drivers import plimsoll

DRIVERS = (plimsoll,)
"""Every driver."""
