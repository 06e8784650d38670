"""Failures of a trial: how requests ended without a correct response.

A request belongs to the second in which it ended; one that has no end (`not_sent`) to the second
in which it was due. `unfinished` and `cancelled` are no failures: the end of the load came first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import first_figures, query
from plimsoll.aggregate.counted import Failure
from plimsoll.aggregate.engine_records import EngineRecords
from plimsoll.aggregate.outcomes import error_name
from plimsoll.aggregate.shaping import shaped

if TYPE_CHECKING:
    from plimsoll.aggregate.query import Rows
    from plimsoll.recording import Recording

BY_SECOND = tables.FAILURES_BY_SECOND.schema
"""Schema of `by_second`."""


def of_trial(recording: Recording, requests: Rows) -> tuple[Failure, ...]:
    """The kinds of failure of a trial, the most frequent first.

    Args:
        recording: What happened.
        requests: Its table `requests`, or the engine's records.
    """
    if isinstance(requests, EngineRecords):
        return first_figures.of_records(recording, requests.folder).failures
    return kinds(by_second(recording, requests))


def kinds(failed: pa.Table) -> tuple[Failure, ...]:
    """The kinds of failure of a trial, the most frequent first.

    Args:
        failed: Its failures as `by_second` gives them.
    """
    grouped: dict[tuple[str, int | None, int | None], list[dict[str, int]]] = {}
    for row in failed.to_pylist():
        grouped.setdefault((row["outcome"], row["errno"], row["status"]), []).append(row)
    found = [
        Failure(
            outcome=outcome,
            errno=number,
            errno_name=error_name(outcome, number),
            status=status,
            count=sum(row["count"] for row in rows),
            held=sum(row["held"] for row in rows),
            first_at_s=min(row["first_ns"] for row in rows) / 1e9,
            last_at_s=max(row["last_ns"] for row in rows) / 1e9,
        )
        for (outcome, number, status), rows in grouped.items()
    ]
    return tuple(
        sorted(found, key=lambda one: (-one.count, one.outcome, one.errno or one.status or 0))
    )


def by_second(recording: Recording, requests: Rows) -> pa.Table:
    """Failures by second and kind; a second without any is absent.

    Args:
        recording: What happened in a trial.
        requests: Its table `requests`.

    Returns:
        Rows of `BY_SECOND`, in order of second, then kind.
    """
    with query.opened(recording.holds, requests=requests) as database:
        found = database.sql(query.text("failure_seconds")).to_arrow_table()
    return shaped(found, BY_SECOND)
