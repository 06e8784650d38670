"""Samples of a JTL in XML, parsed as a stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO
from xml.parsers import expat

import pyarrow as pa

from plimsoll.errors import InputError, Problem
from plimsoll.intake import limits
from plimsoll.intake.blocks import CUT, WHOLE, WORD, no_number
from plimsoll.intake.jtl_csv import LENGTHS, MS

if TYPE_CHECKING:
    from plimsoll.intake.rows import ImportStats

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
    "hn": "Hostname",
    "s": "success",
    "by": "bytes",
    "sby": "sentBytes",
    "na": "allThreads",
    "sc": "SampleCount",
}
"""Attributes of a sample, and the equivalent columns; `rs` is an old name of `rc`."""

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
"""Beginning of a transaction's message, in every version."""

PARTS = "parts of samples: redirects and embedded resources"
TRANSACTIONS = "transaction samples, which contain other samples"

_ROOT = "testResults"
_ELEMENTS = frozenset({"httpSample", "sample"})
_CHUNK_BYTES = 1 << 18
_BATCH_ROWS = 1 << 15
_BATCH_BYTES = 8 << 20
_FAILURE_LETTERS = 1 << 16
"""Maximum stored length of an assertion's message."""


def recognises(beginning: bytes) -> bool:
    """Whether a file with this beginning is a JTL in XML."""
    return b"<" + _ROOT.encode() in beginning


def samples(
    stream: BinaryIO, held: bytes, tally: ImportStats, *, strict: bool
) -> Iterator[pa.Table]:
    """The samples of a file in batches, with the columns of a CSV.

    Args:
        stream: The file, after what is held.
        held: Its beginning.
        tally: Counts samples that are not requests, and broken ones.
        strict: Whether a broken sample is an error.

    Raises:
        InputError: It is not XML of JMeter, or something is broken and `strict` is set.
    """
    found = _Samples(tally, strict)
    chunk, waiting = held, 0
    while True:
        ended = not chunk
        cut = found.feed(chunk, ended=ended)
        waiting += len(chunk)
        is_batch = len(found.rows) >= _BATCH_ROWS or waiting >= _BATCH_BYTES or ended
        if is_batch and found.rows:
            yield found.taken()
            waiting = 0
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
    """The samples parsed so far."""

    def __init__(self, tally: ImportStats, strict: bool) -> None:
        self.rows: list[dict[str, str | int | None]] = []
        self._tally = tally
        self._strict = strict
        self._open: list[_Sample] = []
        self._root = False
        self._depth = 0
        self._fed = 0
        self._text: list[str] | None = None
        self._letters = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters

    @property
    def line(self) -> int:
        """Number of the parser's current line."""
        return self._parser.CurrentLineNumber

    def feed(self, chunk: bytes, *, ended: bool) -> bool:
        """Takes some bytes.

        Returns:
            Whether the file ends before its last element, for example because JMeter was killed.

        Raises:
            InputError: It is not XML of JMeter, or exceeds a limit.
        """
        self._fed += len(chunk)
        try:
            self._parser.Parse(chunk, ended)
        except expat.ExpatError as error:
            if ended and self._root:
                return True
            message = f"is not valid XML: {expat.ErrorString(error.code)}"
            hint = "repair it, or truncate the file before this line"
            raise InputError(
                [Problem(f"{self._tally.file}:{error.lineno}", message, hint)]
            ) from error
        if self._fed - self._parser.CurrentByteIndex > limits.TAG_BYTES.most:
            raise limits.TAG_BYTES.refused(self._where)
        return False

    def taken(self) -> pa.Table:
        """Returns and removes the samples parsed so far."""
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

    @property
    def _where(self) -> str:
        return f"{self._tally.file}:{self.line}"

    def _begin(self, element: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > limits.DEPTH.most:
            raise limits.DEPTH.refused(self._where)
        if sum(map(len, attributes.values())) > limits.TAG_BYTES.most:
            raise limits.TAG_BYTES.refused(self._where)
        if not self._root:
            self._begin_root(element)
        elif element in _ELEMENTS:
            self._open.append(self._sample(element, attributes))
        elif element == "failureMessage" and self._open:
            self._text, self._letters = [], 0

    def _begin_root(self, element: str) -> None:
        if element != _ROOT:
            message = f"is not a JMeter file: it begins with `{element}`"
            hint = f"JMeter's results begin with `{_ROOT}`"
            raise InputError([Problem(self._where, message, hint)])
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
        if self._text is not None and self._letters < _FAILURE_LETTERS:
            self._text.append(text[: _FAILURE_LETTERS - self._letters])
            self._letters += len(text)

    def _end(self, element: str) -> None:
        self._depth -= 1
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
        ValueError: One of them is missing, or is not a number.
    """
    row: dict[str, str | int | None] = dict(sample.values)
    row["failureMessage"] = sample.failures[0] if sample.failures else ""
    for name in ("timeStamp", "elapsed"):
        if name not in row:
            raise ValueError(f"`{name}` is missing")
    for name in WHOLES:
        if name in sample.values:
            row[name] = _whole(name, sample.values[name])
    limits.require_instant("timeStamp", _whole("timeStamp", sample.values["timeStamp"]), MS)
    for name in LENGTHS:
        if name in sample.values:
            limits.require_length(name, _whole(name, sample.values[name]), MS)
    return row


def _whole(name: str, text: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise ValueError(f"`{name}` is `{text[:60]}`, {no_number(text)}")
    if text.startswith("-"):
        raise ValueError(f"`{name}` is `{text}`, which is below 0")
    return int(text)
