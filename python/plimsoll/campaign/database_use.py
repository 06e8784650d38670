"""What an endpoint does with the database: rows for each response, and changes that must show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from plimsoll.campaign.requests import Exchange


@dataclass(frozen=True)
class RowChange:
    """A change of rows between two requests, which the response to the second one must show.

    Attributes:
        before: The exchange before the change.
        statement: The change, in SQL.
        after: The exchange after it.
        undo: What takes the change back, in SQL.
    """

    before: Exchange
    statement: str
    after: Exchange
    undo: str


@dataclass(frozen=True)
class DatabaseUse:
    """How an endpoint uses the database.

    Attributes:
        rows_read: Rows that a response under load needs read at least, by the database's count.
        rows_written: Rows that it needs written at least.
        changes: Draws changes that responses must show; None for an endpoint that shows no rows
            which the check knows.
        written: The numbers that a response says it has written, by id; None if it writes none.
    """

    rows_read: int
    rows_written: int = 0
    changes: Callable[[Random], tuple[RowChange, ...]] | None = None
    written: Callable[[bytes], Mapping[int, int]] | None = None
