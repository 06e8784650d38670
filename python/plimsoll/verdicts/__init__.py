"""Verdicts: how far a number can be trusted.

The catalogue knows every check; it is imported on first use, so that figures are judged without it.
"""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.verdicts import catalogue as catalogue

__getattr__ = doors.of_modules(__name__, ["catalogue"])
