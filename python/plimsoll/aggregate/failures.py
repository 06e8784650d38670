"""Failures of a trial: how requests ended without a correct response.

A request belongs to the second in which it ended; one that has no end (`not_sent`) to the second
in which it was due. `unfinished` and `cancelled` are no failures: the end of the load came first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import query
from plimsoll.aggregate.outcomes import error_name

if TYPE_CHECKING:
    from plimsoll.aggregate.query import Rows

BY_SECOND = tables.FAILURES_BY_SECOND.schema
"""Schema of `by_second`."""


@dataclass(frozen=True)
class Failure:
    """One kind of failure in one trial.

    Attributes:
        outcome: How the requests ended.
        errno: Error number of the system; None when there was none.
        errno_name: Its name, `ECONNRESET`; None when there was none.
        count: How many requests, in the whole trial.
        first_at_s: When the first of them ended, in seconds since the trial's zero.
        last_at_s: When the last of them ended.
        status: The status code that came instead of the right one; None for other outcomes.
    """

    outcome: str
    errno: int | None
    errno_name: str | None
    count: int
    first_at_s: float
    last_at_s: float
    status: int | None = None


def kinds(failed: pa.Table) -> tuple[Failure, ...]:
    """The kinds of failure of a trial, the most frequent first.

    Args:
        failed: Its failures as `by_second` gives them.
    """
    grouped = failed.group_by(["outcome", "errno", "status"]).aggregate(
        [("count", "sum"), ("first_ns", "min"), ("last_ns", "max")]
    )
    found = [
        Failure(
            outcome=row["outcome"],
            errno=row["errno"],
            errno_name=error_name(row["outcome"], row["errno"]),
            status=row["status"],
            count=row["count_sum"],
            first_at_s=row["first_ns_min"] / 1e9,
            last_at_s=row["last_ns_max"] / 1e9,
        )
        for row in grouped.to_pylist()
    ]
    return tuple(
        sorted(found, key=lambda one: (-one.count, one.outcome, one.errno or one.status or 0))
    )


def by_second(requests: Rows) -> pa.Table:
    """Failures by second and kind; a second without any is absent.

    Args:
        requests: The table `requests` of a trial.

    Returns:
        Rows of `BY_SECOND`, in order of second, then kind.
    """
    with query.opened(requests=requests) as database:
        found = database.sql(query.text("failure_seconds")).to_arrow_table()
    return found.cast(BY_SECOND)
