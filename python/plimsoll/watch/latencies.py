"""Latencies of the trial under load: percentiles of each second, from the rows written so far.

The engine writes rows in blocks of 256 KiB, so those of a slow load come some seconds late; the
seconds that they belong to are filled in then.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.drivers import records

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

FILE = "requests.bin"

MOST_ROWS = 100_000
"""Rows that are read at a time; of more, every second, third … one is taken."""

ABOVE = 10
"""Responses that must lie above a percentile."""

GROWTH = 1.01
"""Upper end of a bucket / its lower end: a percentile is right within one percent."""

_SMALLEST_NS = 1_000
_BUCKETS = int(np.ceil(np.log(1e12 / _SMALLEST_NS) / np.log(GROWTH)))


@dataclass(frozen=True)
class LatencySecond:
    """Response times of one second of a load.

    Attributes:
        second: The second, from the zero of the trial.
        p50_ns: Median; None where fewer than ten responses lie above.
        p99_ns: The 99th percentile; None likewise.
    """

    second: int
    p50_ns: float | None
    p99_ns: float | None

    @property
    def completeness(self) -> int:
        """How many of both are known."""
        return (self.p50_ns is not None) + (self.p99_ns is not None)


@dataclass
class RowReader:
    """Reads the rows of one trial while the engine writes them.

    Attributes:
        folder: Folder in which the trial is being recorded.
    """

    folder: Path
    _read: int = 0
    _counts: dict[int, NDArray[np.float64]] = field(
        default_factory=dict[int, "NDArray[np.float64]"]
    )

    def seconds(self) -> list[LatencySecond]:
        """Every second with a complete response so far, in order."""
        self._take()
        return [
            LatencySecond(second, _percentile(counts, 0.5), _percentile(counts, 0.99))
            for second, counts in sorted(self._counts.items())
        ]

    def _take(self) -> None:
        """Takes in the rows that were written since the last time."""
        kind = records.record_dtype("requests")
        path = self.folder / FILE
        try:
            there = path.stat().st_size // kind.itemsize
            if there <= self._read:
                return
            rows = np.memmap(path, kind, mode="r", shape=(there,))
        except (OSError, ValueError):  # the trial has not begun, or is over
            return
        apart = max(1, (there - self._read) // MOST_ROWS)
        for second, buckets in _by_second(rows[self._read :: apart]):
            counts = self._counts.setdefault(second, np.zeros(_BUCKETS + 1))
            counts += apart * np.bincount(buckets, minlength=_BUCKETS + 1)
        self._read = there


def _by_second(rows: NDArray[np.void]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Each second with the buckets of its complete responses."""
    names = records.outcome_names()
    complete = [code for code, name in names.items() if name in records.complete_outcomes()]
    kept = rows[np.isin(rows["outcome"], complete)]
    times_ns = np.maximum(kept["done_ns"].astype(np.int64) - kept["due_ns"].astype(np.int64), 1)
    places = np.log(times_ns / _SMALLEST_NS) / np.log(GROWTH)
    buckets = np.clip(places, 0, _BUCKETS).astype(np.int64)
    seconds = (kept["done_ns"] // 1_000_000_000).astype(np.int64)
    for second in np.unique(seconds):
        yield int(second), buckets[seconds == second]


def _percentile(counts: NDArray[np.float64], share: float) -> float | None:
    total = float(counts.sum())
    if total * (1 - share) < ABOVE:
        return None
    place = int(np.searchsorted(np.cumsum(counts), share * total))
    return _SMALLEST_NS * GROWTH ** (place + 0.5)
