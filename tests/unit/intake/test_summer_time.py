"""An hour that summer time skips or repeats is found in dates without a zone, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from plimsoll.intake import summer_time
from plimsoll.intake.set_back import LogOrder

if TYPE_CHECKING:
    from collections.abc import Sequence

SPRING, AUTUMN = datetime(2025, 3, 30, 1, tzinfo=UTC), datetime(2025, 10, 26, 1, tzinfo=UTC)
"""When the clocks of Europe change."""
BERLIN = "Europe/Berlin"
S = 1_000_000_000

Log = list[tuple[int, int]]
"""Beginnings and ends of rows by a clock of local time, read as UTC."""


def log(
    begin: datetime, minutes: float, zone: str = BERLIN, every_s: float = 0.05, takes_s: float = 0.2
) -> Log:
    """A log in the order of the ends, whose responses take up to twice as long as others."""
    rows: list[tuple[float, int, int]] = []
    for place in range(round(minutes * 60 / every_s)):
        at_s = place * every_s
        took_s = takes_s * (1 + place * 37 % 90 / 90)
        local = (begin + timedelta(seconds=at_s)).astimezone(ZoneInfo(zone))
        at_ns = round(local.replace(tzinfo=UTC).timestamp() * 1000) * 1_000_000
        rows.append((at_s + took_s, at_ns, at_ns + round(took_s * S)))
    return [(at_ns, end_ns) for _, at_ns, end_ns in sorted(rows)]


def judged(rows: Sequence[tuple[int, int]]) -> tuple[str, bool] | None:
    order = LogOrder()
    sent, done = (pa.array(column, pa.int64()) for column in zip(*rows, strict=True))
    order.add(
        pa.RecordBatch.from_arrays([sent, sent, done], names=["due_ns", "sent_ns", "done_ns"])
    )
    found = summer_time.change(order)
    return (found.hour, found.is_skipped) if found else None


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (log(SPRING - timedelta(minutes=5), 10), ("2025-03-30 02:00", True)),
        (log(AUTUMN - timedelta(minutes=5), 10), ("2025-10-26 02:00", False)),
        (log(AUTUMN - timedelta(hours=2), 240, every_s=1), ("2025-10-26 02:00", False)),
        (log(SPRING - timedelta(minutes=5), 10, takes_s=6), ("2025-03-30 02:00", True)),
        (log(AUTUMN - timedelta(minutes=5), 10, takes_s=6), ("2025-10-26 02:00", False)),
        (
            log(datetime(2025, 11, 2, 5, 55, tzinfo=UTC), 10, "America/New_York"),
            ("2025-11-02 01:00", False),
        ),
    ],
    ids=["begins", "ends", "ends in a long log", "slow begins", "slow ends", "elsewhere"],
)
def test_the_hour_that_summer_time_skips_or_repeats_is_found(
    rows: Log, found: tuple[str, bool]
) -> None:
    assert judged(rows) == found


def moved(rows: Log, by_s: int) -> Log:
    return [(begin + by_s * S, end + by_s * S) for begin, end in rows]


@pytest.mark.parametrize(
    "rows",
    [
        log(AUTUMN - timedelta(minutes=5), 10, "UTC"),
        log(SPRING - timedelta(days=7, minutes=5), 10),
        moved(log(SPRING - timedelta(minutes=5), 10), 86_400),
        moved(log(AUTUMN - timedelta(minutes=5), 10), 86_400),
        [*log(AUTUMN, 60, every_s=1), *log(AUTUMN, 60, every_s=1)],
        [*log(SPRING - timedelta(minutes=9), 4), *log(SPRING + timedelta(minutes=1), 4)],
        log(SPRING - timedelta(seconds=0.1), 0.003),
    ],
    ids=[
        "another zone", "another day", "pause of another day",
        "set back on another day", "joined", "a pause around it", "few rows",
    ],
)  # fmt: skip
def test_nothing_else_is_a_change_of_the_clock(rows: Log) -> None:
    assert judged(rows) is None
