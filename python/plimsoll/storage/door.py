"""What a load starts without: `rows`, which imports Parquet with the first table."""

from typing import TYPE_CHECKING

from plimsoll import doors

if TYPE_CHECKING:
    from plimsoll.storage import rows

__all__ = ["rows"]

__getattr__ = doors.of_names(__name__, {"rows": ("plimsoll.storage.rows", "")})
