"""Samples of a JTL in XML, read as it streams by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO
from xml.parsers import expat

import pyarrow as pa

from plimsoll.errors import CampaignError, Problem
from plimsoll.intake.blocks import CUT, WHOLE, WORD

if TYPE_CHECKING:
    from plimsoll.intake.rows import Tally

NAMES = {
    "ts": "timeStamp",
    "t": "elapsed",
    "it": "IdleTime",
    "lt": "Latency",
    "ct": "Connect",
    "lb": "label",
    "rc": "responseCode",
    "rs": "responseCode",
    "rm": "responseMessage",
    "tn": "threadName",
    "s": "success",
    "by": "bytes",
    "sby": "sentBytes",
    "na": "allThreads",
    "sc": "SampleCount",
}
"""Attributes of a sample, and the columns that mean the same; `rs` is an old name of `rc`."""

WHOLES = (
    "timeStamp",
    "elapsed",
    "IdleTime",
    "Latency",
    "Connect",
    "bytes",
    "sentBytes",
    "allThreads",
    "SampleCount",
)

TRANSACTION = "Number of samples in transaction"
"""What the message of a transaction begins with, in every version."""

PARTS = "parts of samples: redirects and embedded resources"
TRANSACTIONS = "samples of transactions, which are made of other samples"

_ROOT = "testResults"
_ELEMENTS = frozenset({"httpSample", "sample"})
_CHUNK_BYTES = 1 << 20
_BATCH_ROWS = 1 << 15


def recognises(beginning: bytes) -> bool:
    """Whether a file that begins so is a JTL in XML."""
    return b"<" + _ROOT.encode() in beginning


def samples(stream: BinaryIO, held: bytes, tally: Tally, *, strict: bool) -> Iterator[pa.Table]:
    """The samples of a file, some at a time, with the columns that a CSV would have.

    Args:
        stream: The file, behind what is held.
        held: Its beginning.
        tally: Takes the account of samples that are no requests of their own, and of broken ones.
        strict: Whether a broken sample ends the reading.

    Raises:
        CampaignError: It is no XML of JMeter, or something is broken and `strict` was asked for.
    """
    found = _Samples(tally, strict)
    chunk = held
    while True:
        ended = not chunk
        cut = found.feed(chunk, ended=ended)
        if len(found.rows) >= _BATCH_ROWS or (ended and found.rows):
            yield found.taken()
        if cut:
            tally.break_line(found.line, CUT, strict)
        if ended or cut:
            break
        chunk = stream.read(_CHUNK_BYTES)


@dataclass
class _Sample:
    """An element that has begun."""

    line: int
    values: dict[str, str]
    is_transaction: bool
    is_part: bool
    has_samples: bool = False
    failures: list[str] = field(default_factory=list[str])


class _Samples:
    """What the parser has met so far."""

    def __init__(self, tally: Tally, strict: bool) -> None:
        self.rows: list[dict[str, str | int | None]] = []
        self._tally = tally
        self._strict = strict
        self._open: list[_Sample] = []
        self._root = False
        self._text: list[str] | None = None
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    @property
    def line(self) -> int:
        """Number of the line that the parser is at."""
        return self._parser.CurrentLineNumber

    def feed(self, chunk: bytes, *, ended: bool) -> bool:
        """Takes some bytes.

        Returns:
            Whether the file ends before its last element does, as it does when JMeter was killed.

        Raises:
            CampaignError: It is no XML, or that of something else.
        """
        try:
            self._parser.Parse(chunk, ended)
        except expat.ExpatError as error:
            if ended and self._root:
                return True
            message = f"is no XML that can be read: {expat.ErrorString(error.code)}"
            hint = "mend it, or cut the file off before this line"
            raise CampaignError(
                [Problem(f"{self._tally.file}:{error.lineno}", message, hint)]
            ) from error
        return False

    def taken(self) -> pa.Table:
        """The samples that were met; they are forgotten."""
        names = dict.fromkeys(name for row in self.rows for name in row)
        columns = {
            name: pa.array(
                [row.get(name) for row in self.rows], WHOLE if name in WHOLES else pa.string()
            )
            for name in names
        }
        self.rows = []
        table = pa.table(columns)
        kinds = [(name, WHOLE if name in WHOLES else WORD) for name in names]
        return table.cast(pa.schema(kinds))

    def _begin(self, element: str, attributes: Mapping[str, str]) -> None:
        if not self._root:
            self._begin_root(element)
        elif element in _ELEMENTS:
            self._open.append(self._sample(element, attributes))
        elif element == "failureMessage" and self._open:
            self._text = []

    def _begin_root(self, element: str) -> None:
        if element != _ROOT:
            message = f"is XML of something else: it begins with `{element}`"
            hint = f"JMeter's results begin with `{_ROOT}`"
            raise CampaignError([Problem(f"{self._tally.file}:{self.line}", message, hint)])
        self._root = True

    def _sample(self, element: str, attributes: Mapping[str, str]) -> _Sample:
        values = {NAMES[name]: text for name, text in attributes.items() if name in NAMES}
        message = values.get("responseMessage")
        may_be = message is None or message.startswith(TRANSACTION)
        is_transaction = element == "sample" and may_be
        is_part = any(not around.is_transaction for around in self._open)
        if self._open:
            self._open[-1].has_samples = True
        return _Sample(self.line, values, is_transaction, is_part)

    def _characters(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def _end(self, element: str) -> None:
        if element == "failureMessage" and self._text is not None:
            self._open[-1].failures.append("".join(self._text))
            self._text = None
        elif element in _ELEMENTS and self._open:
            self._close(self._open.pop())

    def _close(self, sample: _Sample) -> None:
        if sample.is_part or (sample.is_transaction and sample.has_samples):
            self._tally.leave_out(PARTS if sample.is_part else TRANSACTIONS)
            return
        try:
            self.rows.append(_row(sample))
        except ValueError as error:
            self._tally.break_line(sample.line, str(error), self._strict)


def _row(sample: _Sample) -> dict[str, str | int | None]:
    """The values of a sample.

    Raises:
        ValueError: One of them is missing, or is no number.
    """
    row: dict[str, str | int | None] = dict(sample.values)
    row["failureMessage"] = sample.failures[0] if sample.failures else ""
    for name in ("timeStamp", "elapsed"):
        if name not in row:
            raise ValueError(f"`{name}` is missing")
    for name in WHOLES:
        if name in sample.values:
            row[name] = _whole(name, sample.values[name])
    return row


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"\d{1,18}", text):
        raise ValueError(f"`{name}` is `{text}`, which is no whole number from 0")
    return int(text)
