"""What every reader gives, is asked and keeps account of."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Protocol

import pyarrow as pa

from plimsoll.errors import CampaignError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEXT = pa.dictionary(pa.int32(), pa.string())

ROWS = pa.schema(
    [
        pa.field("due_ns", pa.int64()),
        pa.field("sent_ns", pa.int64()),
        pa.field("first_byte_ns", pa.int64()),
        pa.field("done_ns", pa.int64()),
        pa.field("received_bytes", pa.uint32()),
        pa.field("sent_bytes", pa.uint32()),
        pa.field("kind", _TEXT),
        pa.field("status", pa.uint16()),
        pa.field("outcome", _TEXT),
        pa.field("errno", pa.uint8()),
        pa.field("connect_ns", pa.int64()),
        pa.field("threads", pa.int32()),
    ]
)
"""One row a request, as a reader gives it.

Instants are nanoseconds since 1970 by the tool's clock, or since its own zero where it has no wall
clock. `outcome` holds names of our outcomes. `connect_ns` is the time to connect: 0 says that a
connection was used again, null that the tool does not say. `threads` are the threads, or users,
that the tool had at work then. Whatever a tool does not say is null.
"""

NAMED_LINES = 20
"""Broken lines that are kept with number and reason; further ones are only counted."""


@dataclass(frozen=True)
class Asked:
    """How a file is to be read.

    Attributes:
        columns: Names of the columns, for a file without a header; empty when it has one.
        separator: What stands between columns; empty to recognise it.
        timestamp_format: Pattern of formatted timestamps, in the letters of the tool; empty to
            recognise it.
        time_zone: Zone of formatted timestamps that name none: `UTC`, `Europe/Berlin`.
        timestamp_is_end: Whether the tool's timestamp is the end of a request, not its start.
        strict: Whether a broken line ends the reading.
    """

    columns: tuple[str, ...] = ()
    separator: str = ""
    timestamp_format: str = ""
    time_zone: str = "UTC"
    timestamp_is_end: bool = False
    strict: bool = False


@dataclass(frozen=True)
class BrokenLine:
    """A line that could not be read.

    Attributes:
        line: Its number in the file, from 1.
        reason: What is wrong with it, in words.
    """

    line: int
    reason: str


@dataclass
class Tally:
    """The account of one file: every row read is kept, left out for a reason, or broken.

    Attributes:
        file: Name of the file, for messages.
        kept: Rows given on.
        left_out: How many rows were left out for which reason.
        broken: How many lines were broken.
        broken_lines: The first of them.
        remarks: What a reader of the results must know about this file, in sentences.
        outcomes_said: Whether the file says which requests were answered rightly.
        failures_said: Whether the file has the requests that had no answer.
        instants_step_s: Step to which the tool rounded its instants down.
    """

    file: str
    kept: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    broken: int = 0
    broken_lines: list[BrokenLine] = field(default_factory=list[BrokenLine])
    remarks: list[str] = field(default_factory=list[str])
    outcomes_said: bool = True
    failures_said: bool = True
    instants_step_s: float = 0.0

    @property
    def read(self) -> int:
        """Rows found in the file."""
        return self.kept + self.left_out.total() + self.broken

    def keep(self, rows: int = 1) -> None:
        """Counts rows that are given on."""
        self.kept += rows

    def leave_out(self, reason: str, rows: int = 1) -> None:
        """Counts rows that are no requests of their own.

        Args:
            reason: What they are, in words: `samples of transactions`.
            rows: How many.
        """
        if rows:
            self.left_out[reason] += rows

    def break_line(self, line: int, reason: str, strict: bool) -> None:
        """Counts a line that cannot be read.

        Args:
            line: Its number in the file, from 1.
            reason: What is wrong with it, in words.
            strict: Whether it ends the reading.

        Raises:
            CampaignError: `strict` was asked for.
        """
        self.broken += 1
        if len(self.broken_lines) < NAMED_LINES:
            self.broken_lines.append(BrokenLine(line, reason))
        if strict:
            hint = "mend the line, or go on without it by leaving `--strict` out"
            raise CampaignError([Problem(f"{self.file}:{line}", reason, hint)])


class Reader(Protocol):
    """What a module of this room has."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of a module
        """Name of the tool, as one types it."""
        ...

    def recognises(self, beginning: bytes) -> bool:
        """Whether a file that begins so is one that the tool wrote."""
        ...

    def read(self, stream: BinaryIO, asked: Asked, tally: Tally) -> Iterator[pa.RecordBatch]:
        """The requests of a file, as batches of the schema `ROWS`, in the order of the file.

        Args:
            stream: The file, unpacked, from its beginning.
            asked: How it is to be read.
            tally: What keeps account of every row.

        Raises:
            CampaignError: It is not what the tool writes; or a line is broken, and `asked` strict.
        """
        ...
