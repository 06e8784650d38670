"""What an endpoint does with the database: rows for each response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@dataclass(frozen=True)
class DatabaseUse:
    """How an endpoint uses the database.

    Attributes:
        rows_read: Rows that a response under load needs read at least, by the database's count.
        rows_written: Rows that it needs written at least.
        written: The numbers that a response says it has written, by id; None if it writes none.
    """

    rows_read: int
    rows_written: int = 0
    written: Callable[[bytes], Mapping[int, int]] | None = None
