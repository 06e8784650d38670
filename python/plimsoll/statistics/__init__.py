"""Statistics: pure functions of numbers; they know nothing of trials, servers or units."""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.statistics import clustering as clustering
    from plimsoll.statistics import studentized_range as studentized_range

__getattr__ = doors.of_modules(__name__, ["clustering", "studentized_range"])
