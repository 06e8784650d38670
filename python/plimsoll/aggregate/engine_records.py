"""Rows of a load that are still the engine's own records: counted in Rust, not queried.

What judges a load that is not kept is counted here, number for number what SQL makes of the tables
(`crates/figures`, decision 69): Arrow, the tables and a database take longer to set up than the
counting does. Any other query gets the rows as a table, which is made when one first needs it.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from plimsoll import _engine, tables
from plimsoll.aggregate.outcomes import COMPLETED
from plimsoll.aggregate.sent import held_bytes
from plimsoll.recording import writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from plimsoll._engine import CountGroup, LoadCounts
    from plimsoll.aggregate.query import Rows, Stored
    from plimsoll.aggregate.usage import Window
    from plimsoll.recording import Recording

Row = tuple[Any, ...]

_converting = threading.Lock()
"""Held while a table is made, so that no other thread reads half of its file."""

_BODY_SUMS = ("expected", "compared", "held_expected", "held_compared")


@dataclass(frozen=True)
class EngineRecords:
    """A file of the engine's records.

    Attributes:
        folder: Its folder, which has those of the other table too.
        recording: What happened.
        name: `requests` or `connections`.
    """

    folder: Path
    recording: Recording
    name: str

    @cached_property
    def table(self) -> pa.Table:
        """The rows as a table; see `table`."""
        return table(self.folder, self.name)

    @cached_property
    def _holds(self) -> list[Window]:
        return [(hold.start_ns, hold.end_ns) for hold in self.recording.holds]

    @cached_property
    def _counted(self) -> LoadCounts:
        return _engine.load_counts(self.folder, self._holds)

    def outcome_counts(self) -> list[Row]:
        """Rows of `outcome_counts.sql`."""
        has_first_bytes = any(one["responded"] for one in self._counted["groups"])

        def counts(group: CountGroup) -> Row:
            impossible = group["impossible"] + has_first_bytes * group["no_first_byte"]
            return group["requests"], group["held"], group["sent"], impossible

        found = self._grouped(lambda one: (one["outcome"], one["errno"] or None), counts)
        return sorted(found, key=lambda row: (-row[2], row[0], row[1] is None, row[1] or 0))

    def kind_counts(self) -> list[Row]:
        """Rows of `kind_counts.sql`."""
        names = ("held_sent", "sent", "responded", "received_bytes")
        found = self._grouped(lambda one: (one["request"],), _values(names))
        return sorted(row for row in found if row[2])

    def status_counts(self) -> list[Row]:
        """Rows of `status_counts.sql`."""
        complete = [one for one in self._counted["groups"] if _is_complete(one)]

        def counts(group: CountGroup) -> Row:
            wrong = group["held_done"] if group["outcome"] == "wrong_status" else 0
            return group["requests"], group["held_done"], wrong

        found = _sums(complete, lambda one: (one["request"], one["status"] or None), counts)
        return sorted(found, key=lambda row: (-row[2], row[0], row[1] is None, row[1] or 0))

    def body_counts(self) -> list[Row]:
        """Rows of `body_counts.sql`."""

        def counts(group: CountGroup) -> Row:
            is_wrong = group["outcome"] == "wrong_body"
            expected, compared, held, held_compared = _values(_BODY_SUMS)(group)
            wrong = (compared, held_compared) if is_wrong else (0, 0)
            return expected, compared, wrong[0], held, held_compared, wrong[1]

        found = self._grouped(lambda one: (one["request"],), counts)
        return sorted(row for row in found if row[1])

    def body_lengths(self) -> list[Row]:
        """Rows of `lengths.sql`, of bodies."""
        grouped: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for request, status, length, responses in self._counted["lengths"]:
            grouped[request, status].append((length, responses))
        found = [
            (request, status or None, *_usual(lengths))
            for (request, status), lengths in grouped.items()
        ]
        return sorted(found, key=lambda row: (row[0], row[1] is None, row[1] or 0))

    def sent_bytes(self) -> int | None:
        """Bytes of the requests that were sent in the holds; see `kinds.sent_bytes`."""
        if not self.recording.request_bytes:
            return None
        groups = self._counted["groups"]
        sent = ((one["request"], one["held_sent"], one["sent"]) for one in groups)
        return held_bytes(self.recording, sent)

    def some_of_ok_are_wrong(self) -> bool:
        """Whether some compared bodies of the holds were wrong, and others were not compared."""
        bodies = self.body_counts()
        is_wrong = any(row[6] for row in bodies)
        return is_wrong and any(row[4] > row[5] for row in bodies)

    def seconds(self) -> list[Row]:
        """Rows of `seconds.sql`."""
        return [
            (second, due, completed, ok, failed, received_bytes if ended else 0)
            for second, due, ended, completed, ok, failed, received_bytes in (
                self._counted["seconds"]
            )
        ]

    def gone(self) -> tuple[int | None, bool]:
        """The last complete response, and whether attempts to connect were refused after it."""
        at_ns, refused_ns = self._counted["last_response_ns"], self._counted["last_refused_ns"]
        return at_ns, at_ns is not None and refused_ns is not None and refused_ns >= at_ns

    def slower_than(self, least_ns: int) -> int:
        """The result of `slower_than.sql`."""
        return _engine.slower_than(self.folder, self._holds, least_ns)

    def still_waiting(self, end_ns: int, least_ns: int) -> tuple[int, int, int]:
        """The row of `still_waiting.sql`."""
        return _engine.still_waiting(self.folder, end_ns, least_ns)

    def times_without(self, stalls: Sequence[Window]) -> _engine.Times:
        """Response times of the holds, less what of them was in flight in these stalls."""
        return _engine.times_without(self.folder, self._holds, stalls)

    def late_ends(self, late: Window) -> tuple[int, int, int, int, int]:
        """The row of `late_ends.sql`."""
        return _engine.late_ends(self.folder, self._holds, late)

    def in_flight(self, windows: Sequence[Window]) -> list[tuple[int, int, int]]:
        """Rows of `in_flight.sql`."""
        return _engine.in_flight(self.folder, windows)

    def shares(self, least_ns: int) -> Row:
        """The row of `shares.sql`."""
        return _engine.response_shares(self.folder, self._holds, least_ns)

    def pace(self, window: Window, parts: int) -> list[int]:
        """Complete responses in each part of a window."""
        return _engine.response_pace(self.folder, window, parts)

    def median_times(self, window: Window, parts: int) -> list[tuple[int, float]]:
        """Complete responses and their median service time in each part that has any."""
        found = _engine.median_times(self.folder, window, parts)
        return [(count, float(median_ns)) for count, median_ns in found]

    def stalls(self, window: Window, least_ns: int) -> list[Window]:
        """Rows of `stalls.sql`."""
        return _engine.stalls(self.folder, window, least_ns)

    def connection_stalls(self, least_ns: int, times: float, most: int) -> list[Window]:
        """Rows of `connection_stalls.sql`."""
        return _engine.connection_stalls(self.folder, self._holds, least_ns, times, most)

    def connection_ends(self) -> list[Row]:
        """Rows of `connection_ends.sql`."""
        found = self._lives(0, 0)["ends"]
        return sorted(found, key=lambda row: (-row[1], row[0]))

    def open_ns(self, opening_ns: int, requested: int) -> float | None:
        """The result of `open_time.sql` where no hold requests fewer connections than opened.

        None where more opened: then the order tells which of them replaced another.
        """
        lives = self._lives(opening_ns, 0)
        opened = sum(row[1] for row in lives["ends"])
        return float(lives["open_ns"]) if opened <= requested else None

    def without_response(self, least_ns: int, least_requests: int) -> int:
        """Connections that lived for so long and never got a byte of a response."""
        return self._lives(0, least_ns, least_requests)["without_response"]

    def _lives(
        self, opening_ns: int, least_ns: int, least_requests: int = 0
    ) -> _engine.ConnectionLives:
        end_ns = self.recording.stages[-1].end_ns if self.recording.stages else 0
        return _engine.connection_lives(
            self.folder, self._holds, opening_ns, end_ns, least_ns, least_requests
        )

    def _grouped(
        self, key: Callable[[CountGroup], Row], counts: Callable[[CountGroup], Row]
    ) -> list[Row]:
        return _sums(self._counted["groups"], key, counts)


def as_stored(rows: Rows) -> Stored:
    """Rows as a table or a file of tables, where they are still the engine's records as well."""
    return rows.table if isinstance(rows, EngineRecords) else rows


def table(folder: Path, name: str) -> pa.Table:
    """Records of the engine as a table, which lies beside them as it does in memory.

    Args:
        folder: Folder of the records.
        name: `requests` or `connections`.

    Raises:
        OSError: They cannot be read, or the table not be written.
        EngineFailed: They are damaged.
    """
    from plimsoll.conduct import recording as conducted  # noqa: PLC0415 - few ask for it

    path = folder / f"{name}{writing.ARROW}"
    with _converting:
        if not path.exists():
            described = next(one for one in tables.TABLES if one.name == name)
            conducted.convert(described, folder, writing.ARROW)
    return writing.mapped(path, name)


def _sums(
    groups: Iterable[CountGroup],
    key: Callable[[CountGroup], Row],
    counts: Callable[[CountGroup], Row],
) -> list[Row]:
    """Keys with the sums of the counts of the groups that have them."""
    summed: dict[Row, Row] = {}
    for group in groups:
        more = counts(group)
        known = summed.get(key(group), (0,) * len(more))
        summed[key(group)] = tuple(map(sum, zip(known, more, strict=True)))
    return [(*known, *sums) for known, sums in summed.items()]


def _values(names: Sequence[str]) -> Callable[[CountGroup], Row]:
    return lambda group: tuple(cast("Mapping[str, int]", group)[name] for name in names)


def _is_complete(group: CountGroup) -> bool:
    return group["outcome"] in COMPLETED


def _usual(lengths: Sequence[tuple[int, int]]) -> Row:
    """The most frequent length, the shortest of several; how many have it; and the others."""
    usual_bytes, usual = min(lengths, key=lambda one: (-one[1], one[0]))
    others = [one for one in lengths if one[0] != usual_bytes]
    bytes_of_others = [length for length, _ in others]
    return (
        usual_bytes,
        usual,
        sum(count for _, count in others),
        min(bytes_of_others, default=None),
        max(bytes_of_others, default=None),
    )
