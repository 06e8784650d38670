"""Sampling: the resources of server, driver and machine, read once a second.

What one option of one verb needs is imported when it is used.
"""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.sampling import watching

__all__ = ["watching"]

__getattr__ = doors.of_modules(__name__, __all__)
