"""Status codes of a trial: how many complete responses had which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.aggregate.check_inputs import StatusCount

BY_REQUEST = tables.STATUSES.schema
"""Complete responses by request type and status code, as in `evidence.StatusCount`."""


@dataclass(frozen=True)
class StatusTotal:
    """Complete responses with one status code, of all request types.

    Attributes:
        status: The code; None if unknown.
        responses: How many, in the whole trial.
        held: How many of them within the holds.
        held_wrong: How many of these have a status that was not expected.
    """

    status: int | None
    responses: int
    held: int
    held_wrong: int = 0


def by_request(counts: Iterable[StatusCount]) -> pa.Table:
    """Counts as rows of `BY_REQUEST`."""
    rows = [{name: getattr(count, name) for name in BY_REQUEST.names} for count in counts]
    return pa.Table.from_pylist(rows, schema=BY_REQUEST)


def totals(counted: pa.Table) -> tuple[StatusTotal, ...]:
    """Responses by status code, the most frequent first.

    Args:
        counted: Rows of `BY_REQUEST`.
    """
    counts = [(name, "sum") for name in ("responses", "held", "held_wrong")]
    grouped = counted.group_by("status").aggregate(counts)
    found = [
        StatusTotal(row["status"], *(row[f"{name}_sum"] for name, _ in counts))
        for row in grouped.to_pylist()
    ]
    return tuple(sorted(found, key=lambda one: (-one.responses, one.status or 0)))
