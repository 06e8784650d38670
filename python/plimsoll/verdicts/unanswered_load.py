"""A load that ended before its first response came, which two checks see.

If the load was shorter than its timeout and every request was still in flight at its end, responses
may just take longer than that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.outcomes import UNENDED
from plimsoll.verdicts.finding import Remedy

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables


def length_s(tables: Tables) -> float | None:
    """How long a load was that no request of ended in, in seconds; None where it tells more.

    Args:
        tables: The tables of the trial.
    """
    recording, counts = tables.recording, tables.outcome_counts
    if not recording.stages or not counts or any(row.outcome not in UNENDED for row in counts):
        return None
    load_s = (recording.stages[-1].end_ns - recording.stages[0].start_ns) / 1e9
    timeout_s = recording.load.timeout_s
    return load_s if timeout_s is None or load_s < timeout_s else None


def remedy(tables: Tables) -> Remedy:
    """A load for longer than a response takes, by the option that gives its length.

    Args:
        tables: The tables of the trial.
    """
    load, end = tables.recording.load, "or find in the server's log why none came"
    each = f", {wording.amount(load.stages[-1].end)} for each second" if load.stages else ""
    return Remedy(
        "Hold the load for longer than a response takes, or find in `server.log` why none came",
        f"Load for longer than a response takes (`-d`), {end}",
        counted=f"Load for longer than a response takes (`-n`{each}), {end}",
    )
