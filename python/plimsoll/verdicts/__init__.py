"""Verdicts: how far a number may be believed.

The catalogue knows every check; it is imported when it is used, so that figures are told without.
"""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.verdicts import catalogue as catalogue

__getattr__ = doors.of_modules(__name__, ["catalogue"])
