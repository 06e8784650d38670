"""History: the estimates of campaigns over time, by machine, and where they change."""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.history import adding, file, series

__all__ = ["adding", "file", "series"]

__getattr__ = doors.of_modules(__name__, __all__)
