"""Status codes of a trial: how many complete responses had which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate.counted import StatusTotal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.aggregate.check_inputs import StatusCount

BY_REQUEST = tables.STATUSES.schema
"""Complete responses by request type and status code, as in `evidence.StatusCount`."""


def by_request(counts: Iterable[StatusCount]) -> pa.Table:
    """Counts as rows of `BY_REQUEST`."""
    rows = [{name: getattr(count, name) for name in BY_REQUEST.names} for count in counts]
    return pa.Table.from_pylist(rows, schema=BY_REQUEST)


def totals(counted: pa.Table) -> tuple[StatusTotal, ...]:
    """Responses by status code, the most frequent first.

    Args:
        counted: Rows of `BY_REQUEST`.
    """
    grouped: dict[int | None, list[dict[str, int]]] = {}
    for row in counted.to_pylist():
        grouped.setdefault(row["status"], []).append(row)
    names = ("responses", "held", "held_wrong")
    found = [
        StatusTotal(status, *(sum(row[name] for row in rows) for name in names))
        for status, rows in grouped.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.responses, one.status or 0)))
