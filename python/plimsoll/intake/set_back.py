"""Finds in the order of a log that its clock was set back while it was written.

A log has its rows in the order in which requests ended, or in which they were sent. From the moment
in which its clock is set back on, every row is earlier than those before it, until the clock has
caught up. A row that was written late is alone. Buffers of several writers, joined logs and sorted
ones go back again and again, over the whole log, or to its beginning. So what is looked for is a
step back between medians of neighbouring rows, which beginnings and ends both make. It is rare in
the log, and does not lead to its beginning.

Where a clock was set forward, rows of before and after are mixed, as long as requests from before
are in flight. So a median may go forth and back again. Such a step comes just after one forward of
its size, and the log does not stay behind.

Of a long log every second, fourth, … row is looked at, so memory does not depend on its length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from plimsoll.intake.limits import SECOND_NS
from plimsoll.recording import ClockSetBack

if TYPE_CHECKING:
    Instants = np.ndarray[Any, np.dtype[np.int64]]

MOST_ROWS = 1 << 17
"""Rows of a log that are looked at."""

WINDOW_ROWS = 8
"""Fewest neighbouring rows of which a median is taken: a few rows late or early do not move it."""

MOST_WINDOWS = 4_096
"""Windows of a long log."""

FEWEST_WINDOWS = 12
"""A log with fewer windows has too few rows to show its order."""

LEAST_NS = SECOND_NS // 2
"""A shorter step back is left out: it moves rows by less than a second of the charts."""

STEPS = 3
"""A step must be so many times as long as that to which the tool rounds its timestamps."""

RARE = 1 / 3
"""A greater share of the log that goes back is its order, or two logs that were joined."""

STAYS = 0.25
"""After a clock was set back, the log is behind for so much of the step, or for longer."""

NEAR = 0.2
"""Rows that go back to the beginning of a log, within so much of the way, are of another writer."""


class LogOrder:
    """The beginnings and ends of the rows of a log, in its order.

    Attributes:
        begins: Beginnings of the rows that are looked at, in nanoseconds by the tool's clock.
        ends: Their ends.
        stride: Every so many rows of the log one is looked at.
    """

    def __init__(self) -> None:
        """No rows have been read yet."""
        self.begins, self.ends = (np.zeros(0, np.int64) for _ in range(2))
        self.stride = 1
        self._rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Takes rows of the schema `ROWS`."""
        begins: Any = pc.coalesce(batch.column("sent_ns"), batch.column("due_ns"))
        ends: Any = pc.coalesce(batch.column("done_ns"), begins)
        chosen = slice(-self._rows % self.stride, None, self.stride)
        self.begins = np.append(self.begins, begins.to_numpy(False)[chosen])
        self.ends = np.append(self.ends, ends.to_numpy(False)[chosen])
        self._rows += len(batch)
        while len(self.begins) > MOST_ROWS:
            self.begins, self.ends = self.begins[::2], self.ends[::2]
            self.stride *= 2

    def set_back(self, zero_ns: int, step_s: float) -> ClockSetBack | None:
        """By how much the clock was set back, at the greatest step; None if it was not.

        Args:
            zero_ns: Zero of the trial by the tool's clock.
            step_s: Step to which the tool rounds its timestamps.
        """
        rows = max(WINDOW_ROWS, -(-len(self.begins) // MOST_WINDOWS))
        begins, ends = medians(self.begins, rows), medians(self.ends, rows)
        if len(begins) < FEWEST_WINDOWS:
            return None
        back = _unless_forward(np.minimum(_back_ns(begins), _back_ns(ends)), begins)
        place = int(back.argmax())
        least_ns = max(LEAST_NS, STEPS * step_s * SECOND_NS)
        if back[place] < least_ns or (back > back[place] / 2).mean() > RARE:
            return None
        if begins[place + 1 :].min() - begins.min() < NEAR * back[place]:
            return None
        usual_ns = float(np.median(np.diff(begins)))
        return ClockSetBack(
            by_ns=round(back[place] + max(usual_ns, 0.0)),
            after_rows=(place + 1) * rows * self.stride,
            at_ns=round(ends[: place + 1].max()) - zero_ns,
        )


def medians(instants: Instants, rows: int) -> Instants:
    """The lower median of every so many rows, which one of them has; the rest is left out."""
    whole, middle = len(instants) // rows * rows, (rows - 1) // 2
    return np.partition(instants[:whole].reshape(-1, rows), middle, axis=1)[:, middle]


def _back_ns(medians: Instants) -> Instants:
    """Behind each window but the last: how far a later one lies before what was reached."""
    reached = np.maximum.accumulate(medians)[:-1]
    least_after = np.minimum.accumulate(medians[::-1])[::-1][1:]
    return np.clip(reached - least_after, 0, None)


def _unless_forward(back: Instants, medians: Instants) -> Instants:
    """The steps back without those between rows of before and after a step forward."""
    back, reached = back.copy(), np.maximum.accumulate(medians)
    usual = int(np.median(np.diff(reached)))
    while (step := int(back.max())) > 0:
        place = int(back.argmax())
        middle = int(reached[place]) - step // 2
        first = int((reached > middle).argmax())
        begin = place + int((medians[place:] <= middle).argmax())
        end = begin + int(np.append(medians[begin:] > middle, True).argmax())
        is_forward = first > 0 and reached[first] - reached[first - 1] - usual >= step // 2
        if not is_forward or np.ptp(medians[begin:end]) >= STAYS * step:
            return back
        back[first:end] = 0
    return back
