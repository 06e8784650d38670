"""Installation: installs the requirements of frameworks and tools, and builds them."""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.install import outdated

__all__ = ["outdated"]

__getattr__ = doors.of_modules(__name__, __all__)
