"""Compared tables: what entries have in common that are compared with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from plimsoll.plan import ComparedTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from plimsoll.recording import Recording

T = TypeVar("T")


def table_of(recording: Recording) -> ComparedTable:
    """The table that a recorded trial belongs to."""
    return ComparedTable(recording.endpoint, recording.load.name, recording.driver_name)


def by_table(
    found: Iterable[T], table: Callable[[T], ComparedTable]
) -> dict[ComparedTable, list[T]]:
    """What belongs to each table, in its order; the table of the first one first.

    Args:
        found: What belongs to tables.
        table: The table of one of them.
    """
    grouped: dict[ComparedTable, list[T]] = {}
    for one in found:
        grouped.setdefault(table(one), []).append(one)
    return grouped
