"""Separates the runs in one import, by long gaps between requests.

JMeter appends to an existing results file, so one file may contain two tests. Only the ends and the
number of requests of each run are kept, so memory does not grow with time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from plimsoll import wording
from plimsoll.errors import InputError, Problem
from plimsoll.intake import limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

    Numbers = np.ndarray[Any, np.dtype[np.int64]]

ALL = 0
"""Instead of the number of a run: all of them as one."""

_NAMED = 3
"""Runs listed in a message; further ones are only counted."""

_UNITS = ((86_400, "days"), (3_600, "h"), (60, "min"))


@dataclass(frozen=True)
class ImportedRun:
    """One run.

    Attributes:
        begin_ns: Its first timestamp.
        end_ns: Its last timestamp.
        requests: Number of its requests.
    """

    begin_ns: int
    end_ns: int
    requests: int


class Runs:
    """The runs of an import, found while its rows are read in any order.

    Args:
        file: Name of the imported files, for messages.
    """

    def __init__(self, file: str) -> None:
        """No rows have been read yet."""
        self._file = file
        self._begins, self._ends, self._counts = (np.zeros(0, np.int64) for _ in range(3))

    def add(self, batch: pa.RecordBatch) -> None:
        """Takes rows of the schema `ROWS`.

        Raises:
            InputError: There are too many runs.
        """
        if not len(batch):
            return
        begins: Any = pc.coalesce(batch.column("sent_ns"), batch.column("due_ns"))
        ends: Any = pc.max_element_wise(begins, batch.column("done_ns"))
        first, last = pc.min(begins).as_py(), pc.max(ends).as_py()
        if last - first <= limits.SILENCE_NS.most:
            added = (np.array([one]) for one in (first, last, len(batch)))
        else:
            added = (begins.to_numpy(False), ends.to_numpy(False), np.ones(len(batch), np.int64))
        joined = (
            np.concatenate(pair)
            for pair in zip((self._begins, self._ends, self._counts), added, strict=True)
        )
        self._begins, self._ends, self._counts = _merged(*joined)
        if len(self._begins) > limits.RUNS.most:
            raise limits.RUNS.refused(self._file)

    @property
    def found(self) -> tuple[ImportedRun, ...]:
        """The runs, in order."""
        columns = (self._begins.tolist(), self._ends.tolist(), self._counts.tolist())
        return tuple(ImportedRun(*values) for values in zip(*columns, strict=True))

    def numbered(self, number: int) -> ImportedRun:
        """A run by its number, from 1.

        Raises:
            InputError: There are fewer runs.
        """
        found = self.found
        if not 1 <= number <= len(found):
            is_one = len(found) == 1
            message = f"there {'is 1 run' if is_one else f'are {wording.count(len(found))} runs'}"
            hint = "leave out `run=`" if is_one else f"give a number from 1 to {len(found)}"
            raise InputError([Problem("run", f"{message} in `{self._file}`", hint)])
        return found[number - 1]

    def require_one(self) -> None:
        """Requires a single run.

        Raises:
            InputError: There are several.
        """
        found = self.found
        if len(found) < 2:  # noqa: PLR2004
            return
        hint = limits.SILENCE_NS.hint
        if self._are_too_long:
            hint = f"take one run, from `run=1` to `run={len(found)}`"
        message = f"contains {wording.count(len(found))} runs: {_listed(found)}"
        raise InputError([Problem(self._file, message, hint)])

    def require_short(self) -> None:
        """Requires that the import is not too long.

        Raises:
            InputError: It is too long.
        """
        if self._are_too_long:
            raise limits.RUN_NS.refused(self._file)

    @property
    def _are_too_long(self) -> bool:
        """Whether all runs together exceed the maximum length of one."""
        found = self.found
        return bool(found) and found[-1].end_ns - found[0].begin_ns > limits.RUN_NS.most


def of(sources: Iterable[Iterable[pa.RecordBatch]], file: str) -> Runs:
    """The runs in the rows of several engines.

    Raises:
        InputError: The rows cannot be read, or there are too many runs.
    """
    runs = Runs(file)
    for batches in sources:
        for batch in batches:
            runs.add(batch)
    return runs


def within(batch: pa.RecordBatch, run: ImportedRun) -> pa.RecordBatch:
    """The rows of a batch that belong to a run."""
    begins: Any = pc.coalesce(batch.column("sent_ns"), batch.column("due_ns"))
    belongs = pc.and_(pc.greater_equal(begins, run.begin_ns), pc.less_equal(begins, run.end_ns))
    return batch.filter(belongs)


def _merged(begins: Numbers, ends: Numbers, counts: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Runs in order, merged unless there is a gap between them."""
    order = np.argsort(begins, kind="stable")
    begins, latest = begins[order], np.maximum.accumulate(ends[order])
    is_first = np.ones(len(begins), bool)
    is_first[1:] = begins[1:] - latest[:-1] > limits.SILENCE_NS.most
    firsts = np.flatnonzero(is_first)
    lasts = np.append(firsts[1:], len(begins)) - 1
    return begins[firsts], latest[lasts], np.add.reduceat(counts[order], firsts)


def _listed(found: tuple[ImportedRun, ...]) -> str:
    """The first runs and the gaps between them, in words."""
    parts = [f"{_counted(found[0])} from {_instant(found[0].begin_ns)}"]
    for before, run in pairwise(found[:_NAMED]):
        silence = _length((run.begin_ns - before.end_ns) // limits.SECOND_NS)
        parts.append(f"{_counted(run)} starting {silence} later, at {_instant(run.begin_ns)}")
    rest = len(found) - _NAMED
    return ", then ".join(parts) + (f", and {wording.count(rest)} more" if rest > 0 else "")


def _counted(run: ImportedRun) -> str:
    return f"{wording.count(run.requests)} request{'s' if run.requests > 1 else ''}"


def _length(seconds: int) -> str:
    """A duration in its largest fitting unit."""
    size, name = next(one for one in _UNITS if seconds >= one[0])
    return f"{wording.count(seconds / size)} {name}"


def _instant(at_ns: int) -> str:
    """A timestamp as a date; in seconds if it is not since 1970."""
    if at_ns < limits.EARLIEST_NS:
        return f"{wording.count(at_ns / limits.SECOND_NS)} s"
    return f"{datetime.fromtimestamp(at_ns // limits.SECOND_NS, UTC):%Y-%m-%d %H:%M:%S} UTC"
