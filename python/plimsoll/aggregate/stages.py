"""Stages: when each of a trial began and ended, and the stage of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables

if TYPE_CHECKING:
    from plimsoll.recording import Recording

AFTER = "after"
"""The stage of a request that ended after the last one."""

_ENDED = "coalesce(done_ns, due_ns, sent_ns)"


def stages(recording: Recording) -> pa.Table:
    """The stages of a trial by the schema of `tables.STAGES`."""
    rows = [
        {
            "trial": recording.trial,
            "number": number,
            "stage": stage.kind,
            "start_ns": stage.start_ns,
            "end_ns": stage.end_ns,
            "requested_from": stage.start,
            "requested_to": stage.end,
        }
        for number, stage in enumerate(recording.stages, 1)
    ]
    return pa.Table.from_pylist(rows, schema=tables.STAGES.schema)


def expression(recording: Recording) -> str:
    """The stage in which a request ended, as SQL on columns of `requests`.

    One that never ended belongs to the stage in which it was due.
    """
    cases = "".join(
        f" WHEN {_ENDED} < {stage.end_ns} THEN '{stage.kind}'" for stage in recording.stages
    )
    return f"CASE{cases} ELSE '{AFTER}' END" if cases else f"'{AFTER}'"
