"""Watch: a live page of a run, served on this host.

It reads what the run announces (`plimsoll.live`), what was recorded, and what was derived when each
trial ended. It conducts nothing, derives nothing and writes nothing.
"""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.watch import looking, priority, server

__all__ = ["looking", "priority", "server"]

__getattr__ = doors.of_modules(__name__, __all__)
