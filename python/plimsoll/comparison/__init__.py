"""Comparison: entries of one campaign, drivers and published figures, side by side."""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.comparison import further_blocks as further_blocks

__getattr__ = doors.of_modules(__name__, ["further_blocks"])
