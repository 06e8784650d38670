"""Levels: what each level of connections of a closed load amounted to, for a load that rises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    import pyarrow as pa

LOAD = ("ramp", "hold")
"""Stages whose levels count; a warm-up is no level."""

COLUMNS = (
    *("second", "stage", "requested_level"),
    *("completed", "in_flight", "server_busy_cores"),
)
"""Columns of `seconds` that are looked at."""

WHOLE = 0.99
"""Share of a second that a load must last for its counts to be those of a second."""

OPENING = 1
"""Seconds at the beginning of a level in which its connections are opened."""


@dataclass(frozen=True)
class Level:
    """One level of connections.

    Attributes:
        connections: Requested connections.
        lasted: Whole seconds that it lasted.
        counted: Seconds that the numbers are of: all but the first, where there are others.
        completed_per_s: Complete responses per second.
        in_flight: Mean requests in flight by the driver's clock; None when it did not say.
        server_busy_cores: Mean cores that the server kept busy; None when unknown.
    """

    connections: float
    lasted: int
    counted: int
    completed_per_s: float
    in_flight: float | None
    server_busy_cores: float | None


class _Second(TypedDict):
    """The columns of `COLUMNS`, of a second with a count."""

    second: int
    stage: str
    requested_level: float
    completed: int
    in_flight: float | None
    server_busy_cores: float | None


def rising(seconds: pa.Table, end_s: float, fewest: int = 1) -> tuple[Level, ...]:
    """Levels of connections in order, those left out that are no higher than the one before.

    Args:
        seconds: The seconds of a trial with a closed load.
        end_s: When the load ended; the second in which it did counts only as a whole one.
        fewest: Levels of fewer connections are left out.
    """
    rows = [
        row
        for row in seconds.select(COLUMNS).to_pylist()
        if row["stage"] in LOAD
        and (row["requested_level"] or 0) >= fewest
        and row["second"] + WHOLE <= end_s
    ]
    rows = [row for row in rows if row["completed"] is not None]
    levels = [
        _level(requested, list(part))
        for requested, part in groupby(rows, lambda row: row["requested_level"])
    ]
    return tuple(
        later
        for earlier, later in zip([None, *levels], levels, strict=False)
        if earlier is None or later.connections > earlier.connections
    )


def _level(requested: float, rows: Sequence[_Second]) -> Level:
    settled = rows[OPENING:] or rows
    return Level(
        connections=requested,
        lasted=len(rows),
        counted=len(settled),
        completed_per_s=sum(row["completed"] for row in settled) / len(settled),
        in_flight=_mean([row["in_flight"] for row in settled]),
        server_busy_cores=_mean([row["server_busy_cores"] for row in settled]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
