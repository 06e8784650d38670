"""Failures of a trial: how requests ended without a correct response.

A request belongs to the second in which it ended; one that has no end (`not_sent`) to the second
in which it was due. `unfinished` and `cancelled` are no failures: the end of the load came first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import first_figures, query
from plimsoll.aggregate.counted import Failure
from plimsoll.aggregate.engine_records import EngineRecords
from plimsoll.aggregate.outcomes import error_name
from plimsoll.aggregate.shaping import shaped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plimsoll.aggregate.check_inputs import OutcomeCount
    from plimsoll.aggregate.counted import StatusTotal
    from plimsoll.aggregate.query import Rows
    from plimsoll.recording import RecordedStage, Recording

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
    return kinds(by_second(requests))


def kinds(failed: pa.Table, holds: Sequence[RecordedStage] = ()) -> tuple[Failure, ...]:
    """The kinds of failure of a trial, the most frequent first.

    Args:
        failed: Its failures as `by_second` gives them.
        holds: The stages of its measurement window; without them nobody counts what is of it.
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
            first_at_s=min(row["first_ns"] for row in rows) / 1e9,
            last_at_s=max(row["last_ns"] for row in rows) / 1e9,
            held=_held(rows, holds) if holds else None,
        )
        for (outcome, number, status), rows in grouped.items()
    ]
    return tuple(
        sorted(found, key=lambda one: (-one.count, one.outcome, one.errno or one.status or 0))
    )


def _held(rows: Sequence[Mapping[str, int]], holds: Sequence[RecordedStage]) -> int | None:
    """How many failures are of some holds; None where a second has some that are and some not."""
    windows: list[tuple[int, int]] = []
    for hold in holds:
        start_ns = (
            windows.pop()[0] if windows and windows[-1][1] == hold.start_ns else hold.start_ns
        )
        windows.append((start_ns, hold.end_ns))
    held = 0
    for row in rows:
        first_ns, last_ns = row["first_ns"], row["last_ns"]
        if any(start <= first_ns and last_ns < end for start, end in windows):
            held += row["count"]
        elif any(first_ns < end and last_ns >= start for start, end in windows):
            return None
    return held


def with_window(
    kinds: Sequence[Failure], counts: Sequence[OutcomeCount], statuses: Sequence[StatusTotal]
) -> tuple[Failure, ...]:
    """The same kinds, each with how many of its requests are of the measurement window.

    Args:
        kinds: How requests failed in the whole trial.
        counts: How requests ended, there and in the window.
        statuses: Complete responses by status code.
    """
    of_outcome = {(one.outcome, one.errno): one.held for one in counts}
    of_status = {one.status: one.held_wrong for one in statuses}
    return tuple(
        replace(
            one,
            held=of_outcome.get((one.outcome, one.errno), 0)
            if one.status is None
            else of_status.get(one.status, 0),
        )
        for one in kinds
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
    return shaped(found, BY_SECOND)
