"""PostgreSQL beside the servers: found, started, filled with rows, and asked what it counted.

What needs the package `psycopg`, which is an extra, is imported when it is used.
"""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.databases import running, served

__all__ = ["running", "served"]

__getattr__ = doors.of_modules(__name__, __all__)
