"""The interface of readers: schema of rows, options, and row counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

import pyarrow as pa

from plimsoll.errors import InputError, Problem
from plimsoll.intake import limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.recording import UsersBound

_TEXT = pa.dictionary(pa.int32(), pa.string())

ROWS = pa.schema(
    [
        pa.field("due_ns", pa.int64()),
        pa.field("sent_ns", pa.int64()),
        pa.field("first_byte_ns", pa.int64()),
        pa.field("done_ns", pa.int64()),
        pa.field("received_bytes", pa.uint32()),
        pa.field("sent_bytes", pa.uint32()),
        pa.field("body_bytes", pa.uint32()),
        pa.field("kind", _TEXT),
        pa.field("status", pa.uint16()),
        pa.field("outcome", _TEXT),
        pa.field("errno", pa.uint8()),
        pa.field("connect_ns", pa.int64()),
        pa.field("threads", pa.int32()),
        pa.field("engine", _TEXT),
    ]
)
"""Schema of the rows of a reader, one per request.

Timestamps are nanoseconds since 1970 by the tool's clock, or since its own zero if it has no wall
clock. `outcome` contains names of Plimsoll's outcomes. `connect_ns` is the time to connect: 0 for a
reused connection, null if unknown. `threads` are the active threads, or users, of the tool, or of
one `engine` of it where a file is of several. What a tool does not log is null.
"""

_OF_LAYOUT = (
    "give the pattern of its timestamps with `timestamp_format=`, its separator with `separator=`, "
    "or the tool's per-request log"
)

NAMED_LINES = 20
"""Broken lines that are listed with number and reason; further ones are only counted."""


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file.

    Attributes:
        columns: Names of the columns of a file without a header; empty if it has one.
        separator: Separator of columns; empty to recognise it.
        timestamp_format: Pattern of formatted timestamps, in the letters of the tool; empty to
            recognise it.
        time_zone: Zone of formatted timestamps without one: `UTC`, `Europe/Berlin`.
        timestamp_is_end: Whether the tool's timestamp is the end of a request, not its start.
        strict: Whether a broken line is an error.
    """

    columns: tuple[str, ...] = ()
    separator: str = ""
    timestamp_format: str = ""
    time_zone: str = "UTC"
    timestamp_is_end: bool = False
    strict: bool = False

    @property
    def given(self) -> dict[str, str]:
        """Arguments whose values are not those that apply without them, and what each is for."""
        default = ReadOptions()
        return {
            argument: purpose
            for argument, (name, purpose) in _PURPOSES.items()
            if getattr(self, name) != getattr(default, name)
        }


_PURPOSES = {
    "columns": ("columns", "it is for CSV of JMeter without a header"),
    "separator": ("separator", "it is for CSV of JMeter"),
    "timestamp_format": ("timestamp_format", "it is for CSV of JMeter"),
    "time_zone": ("time_zone", "it is for timestamps of JMeter that are formatted without a zone"),
    "end_stamps": ("timestamp_is_end", "it is for logs of JMeter"),
}
"""Argument to the attribute of `ReadOptions` that it becomes, and to what it is for."""


@dataclass(frozen=True)
class BrokenLine:
    """A line that could not be read.

    Attributes:
        line: Its number in the file, from 1.
        reason: The mistake in words.
    """

    line: int
    reason: str


@dataclass
class ImportStats:
    """Row counts of one file: every row is kept, left out for a reason, or broken.

    Attributes:
        file: Name of the file, for messages.
        kept: Kept rows.
        left_out: Number of rows left out, by reason.
        broken: Number of broken lines.
        broken_lines: The first of them.
        remarks: Notes on this file for readers of the results.
        has_outcomes: Whether the file shows which requests succeeded.
        has_failures: Whether the file contains requests without a response.
        instants_step_s: Step to which the tool rounds its timestamps down.
        has_local_dates: Whether its timestamps are dates without a zone, which are read as UTC.
        used: Arguments that decided how this file was read.
        durations_step_s: Step to which the tool rounds durations; 0 if finer than 1 ns.
        users: The most active users, where the file has them apart from its requests; else 0.
        users_bound: How sure it is that no more requests are in flight than users are active.
        missing: Requests that the file numbers, and has no line of.
        never_sent: Requests that the tool dropped by its own count, instead of sending them.
    """

    file: str
    kept: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    broken: int = 0
    broken_lines: list[BrokenLine] = field(default_factory=list[BrokenLine])
    remarks: list[str] = field(default_factory=list[str])
    has_outcomes: bool = True
    has_failures: bool = True
    instants_step_s: float = 0.0
    has_local_dates: bool = False
    used: set[str] = field(default_factory=set[str])
    durations_step_s: float = 0.0
    users: int = 0
    users_bound: UsersBound = "likely"
    missing: int = 0
    never_sent: int = 0

    @property
    def read(self) -> int:
        """Rows in the file."""
        return self.kept + self.left_out.total() + self.broken

    @property
    def instead(self) -> str:
        """What stands in a file of which no row was kept: `, but …`; empty if nothing does."""
        others = [f"{reason} ({count})" for reason, count in self.left_out.items()]
        if self.broken:
            first = self.broken_lines[0]
            others.append(
                f"malformed lines ({self.broken}), the first is {first.line}: {first.reason}"
            )
        return f", but {'; '.join(others)}" if others else ""

    @property
    def remedy(self) -> str:
        """What to do if every line is malformed; empty if no argument decides how it is read."""
        decides = {"timestamp_format", "separator"} <= self.used
        return _OF_LAYOUT if decides and not self.kept and not self.left_out else ""

    def as_json(self) -> dict[str, Any]:
        """What is counted of it, ready for JSON."""
        found = asdict(self)
        del found["used"]
        return {**found, "read": self.read, "left_out": dict(self.left_out)}

    def keep(self, rows: int = 1) -> None:
        """Counts kept rows."""
        self.kept += rows

    def leave_out(self, reason: str, rows: int = 1) -> None:
        """Counts rows that are left out.

        Args:
            reason: What they are, in words: `samples of transactions`.
            rows: Their number.
        """
        if rows:
            self.left_out[reason] += rows

    def break_line(self, line: int, reason: str, strict: bool) -> None:
        """Counts a line that cannot be read.

        Args:
            line: Its number in the file, from 1.
            reason: The mistake in words.
            strict: Whether it is an error.

        Raises:
            InputError: `strict` is set, or so many lines are broken that the file must have
                another format.
        """
        self.broken += 1
        if len(self.broken_lines) < NAMED_LINES:
            self.broken_lines.append(BrokenLine(line, reason))
        if strict:
            hint = "repair the line, or skip it by removing `strict=True`"
            raise InputError([Problem(f"{self.file}:{line}", reason, hint)])
        if self.broken > max(limits.BROKEN_LINES.most, self.read - self.broken):
            first, limit = self.broken_lines[0], limits.BROKEN_LINES
            limit = replace(limit, hint=self.remedy or limit.hint)
            raise limit.refused(self.file, f", the first is {first.line}: {first.reason}")


class Reader(Protocol):
    """The interface of a reader."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of a module
        """Name of the tool in arguments."""
        ...

    def recognises(self, beginning: bytes) -> bool:
        """Whether a file with this beginning was written by the tool."""
        ...

    def read(
        self, stream: BinaryIO, options: ReadOptions, tally: ImportStats
    ) -> Iterator[pa.RecordBatch]:
        """The requests of a file, as batches of the schema `ROWS`, in the order of the file.

        Args:
            stream: The file, unpacked, from its beginning.
            options: How to read it.
            tally: Counts every row.

        Raises:
            InputError: It has another format, or a line is broken and `options` is strict.
        """
        ...
