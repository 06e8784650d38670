"""Rows of a separated file, block by block; every row is given on or named as broken.

A block whose quotes stand where they belong is read by Arrow. Where that fails, for whatever
reason, the block is read again record by record, so that each broken line has its number: that is
slow, and happens only where something is broken.

Source: RFC 4180, with any separator and any line end.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from plimsoll.errors import CampaignError, Problem

if TYPE_CHECKING:
    from plimsoll.intake.rows import Tally

BLOCK_BYTES = 8 << 20
"""Bytes read at a time; with the rows that come of them, this bounds the memory."""

LONGEST_RECORD_BYTES = 1 << 18
"""A record that is longer is broken: a quote that is never closed makes one of a whole file."""

LONGEST_LINE_BYTES = 4 * BLOCK_BYTES
"""A line that is longer is none: the file is no text."""

CUT = "the file ends within this line"

TEXT = pa.dictionary(pa.int32(), pa.string())
"""Type of a column of words."""

WHOLE = pa.int64()
"""Type of a column of whole numbers, none of which is below 0."""

_QUOTE, _LINE_FEED, _RETURN = b'"\n\r'


@dataclass(frozen=True)
class Column:
    """A column that is wanted.

    Attributes:
        name: Its name.
        type: `TEXT` or `WHOLE`.
        required: Whether a row without it is broken.
        read: Makes whole numbers of text that is none; raises `ValueError` when it cannot.
        needed: Whether it is wanted beside the other columns of a block; None when always. A block
            that has broken rows has it anyway.
    """

    name: str
    type: pa.DataType
    required: bool = False
    read: Callable[[Any], Any] | None = None
    needed: Callable[[pa.Table], bool] | None = None


@dataclass(frozen=True)
class Layout:
    """How the rows of a file are made up.

    Attributes:
        names: Names of all columns, in the order of the file.
        separator: What stands between them.
        columns: The columns that are wanted; each is among the names.
    """

    names: tuple[str, ...]
    separator: str
    columns: tuple[Column, ...]

    @cached_property
    def record(self) -> re.Pattern[str]:
        """One record and its line end."""
        other = f"[^{re.escape(self.separator)}\r\n]"
        bare = f'(?!"){other}*'
        value = f'(?:"[^"]*(?:""[^"]*)*"|{bare})'
        return re.compile(f"{value}(?:{re.escape(self.separator)}{value})*(?:\r\n|\n|\r)")

    @cached_property
    def line(self) -> re.Pattern[str]:
        """What is left of a line, and its end."""
        return re.compile("[^\r\n]*(?:\r\n|\n|\r)?")


@dataclass
class _Place:
    """Where in the file the reading is.

    Attributes:
        line: Number of the next line, from 1.
    """

    line: int


def rows(
    stream: BinaryIO, held: bytes, line: int, layout: Layout, tally: Tally, *, strict: bool
) -> Iterator[pa.Table]:
    """The wanted columns of every row of a file; broken rows are told to the tally.

    Args:
        stream: The file, behind what is held.
        held: What of it was read already and belongs to its rows.
        line: Number of the line that `held` begins with, from 1.
        layout: How its rows are made up.
        tally: Takes the account of broken rows; whoever uses the others counts them.
        strict: Whether a broken line ends the reading.

    Raises:
        CampaignError: A line is broken, and `strict` was asked for; or a line has no end.
    """
    place, rest, more = _Place(line), held, True
    while more:
        block = stream.read(BLOCK_BYTES)
        more = bool(block)
        rest += block
        whole = _whole_records(rest, layout.separator)
        if whole is None:  # a quote out of place: only record by record is it told what is whole
            limit = max(len(rest) - LONGEST_RECORD_BYTES, 0) if more else len(rest)
            end = yield from _slow(rest, limit, place, layout, tally, strict)
        else:
            end = whole.end
            yield from _fast(rest[:end], whole, place, layout, tally, strict)
        rest = rest[end:]
        if len(rest) > LONGEST_LINE_BYTES:
            message = f"has a line of more than {LONGEST_LINE_BYTES >> 20} MiB"
            raise CampaignError([Problem(f"{tally.file}:{place.line}", message, "is it a text?")])
    if rest.strip():  # a value that is never closed holds back all that stands behind it
        end = yield from _slow(rest, len(rest), place, layout, tally, strict)
        if rest[end:].strip():
            tally.break_line(place.line, CUT, strict)


@dataclass(frozen=True)
class _Whole:
    """The whole records at the beginning of a block.

    Attributes:
        end: Where the last of them ends.
        has_folds: Whether a value goes on over the end of a line.
    """

    end: int
    has_folds: bool


def _whole_records(block: bytes, separator: str) -> _Whole | None:
    """What of a block is whole; None when quotes do not stand where they belong."""
    if _QUOTE not in block:
        return _Whole(block.rfind(b"\n") + 1, has_folds=False)
    signs = np.frombuffer(block, np.uint8)
    quotes = np.flatnonzero(signs == _QUOTE)
    if not _in_place(signs, quotes, ord(separator)):
        return None
    feeds = np.flatnonzero(signs == _LINE_FEED)
    outside = feeds[np.searchsorted(quotes, feeds) % 2 == 0]
    if not len(outside):
        return None if len(block) > LONGEST_RECORD_BYTES else _Whole(0, has_folds=False)
    end = int(outside[-1]) + 1
    return _Whole(end, has_folds=len(outside) < int(np.searchsorted(feeds, end)))


def _in_place(signs: np.ndarray[Any, Any], quotes: np.ndarray[Any, Any], separator: int) -> bool:
    """Whether each quote opens a value, closes one, or is one of a pair within a value."""
    around = np.isin(np.arange(256), (separator, _LINE_FEED, _RETURN, _QUOTE))
    opening, closing = quotes[0::2], quotes[1::2]
    before = around[signs[np.maximum(opening - 1, 0)]] | (opening == 0)
    after = around[signs[np.minimum(closing + 1, len(signs) - 1)]] | (closing == len(signs) - 1)
    return bool(before.all() and after.all())


def _fast(
    block: bytes, whole: _Whole, place: _Place, layout: Layout, tally: Tally, strict: bool
) -> Iterator[pa.Table]:
    """The rows of a block of whole records."""
    if not block:
        return
    try:
        found = _parsed(block, layout, whole)
    except (pa.ArrowInvalid, ValueError):
        yield from _slow(block, len(block), place, layout, tally, strict)
        return
    place.line += block.count(b"\n") if whole.has_folds else len(found)
    yield found


def _parsed(block: bytes, layout: Layout, whole: _Whole) -> pa.Table:
    """The wanted columns of a block of whole records.

    Raises:
        ValueError: A value is not what its column holds.
        pa.ArrowInvalid: The same, by Arrow, or a row has too many or too few.
    """
    always = [column for column in layout.columns if column.needed is None]
    found = _columns(block, layout, always, whole)
    later = [column for column in layout.columns if column.needed and column.needed(found)]
    if later:
        more = _columns(block, layout, later, whole)
        for name in more.column_names:
            found = found.append_column(name, more[name])
    return found


def _columns(block: bytes, layout: Layout, columns: Sequence[Column], whole: _Whole) -> pa.Table:
    """Some columns of a block of whole records, as they are wanted."""
    return _typed(_read(block, layout, columns, has_folds=whole.has_folds), columns)


def _read(block: bytes, layout: Layout, columns: Sequence[Column], *, has_folds: bool) -> pa.Table:
    return arrow_csv.read_csv(
        pa.BufferReader(block),
        read_options=arrow_csv.ReadOptions(column_names=layout.names, block_size=len(block)),
        parse_options=arrow_csv.ParseOptions(
            delimiter=layout.separator,
            newlines_in_values=has_folds,
            ignore_empty_lines=False,
        ),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=[column.name for column in columns],
            column_types={
                column.name: pa.string() if column.read else column.type for column in columns
            },
            null_values=[""],
            strings_can_be_null=False,
        ),
    )


def _typed(table: pa.Table, columns: Sequence[Column]) -> pa.Table:
    """Columns as they are wanted.

    Raises:
        ValueError: A value is not what its column holds.
        pa.ArrowInvalid: The same, by Arrow.
    """
    arrays = [_checked(table[column.name], column) for column in columns]
    return pa.table(arrays, names=[column.name for column in columns])


def _checked(values: Any, column: Column) -> Any:
    if column.type != WHOLE:
        return values.cast(column.type)
    if column.read:
        values = column.read(values)
    elif values.type != WHOLE:
        values = _numbers(values, column.name)
    if column.required and values.null_count:
        raise ValueError(f"`{column.name}` is missing")
    least = pc.min(values).as_py()
    if least is not None and least < 0:
        raise ValueError(f"`{column.name}` is `{least}`, which is below 0")
    return values


def _numbers(values: Any, name: str) -> Any:
    """Whole numbers of text; null where it is empty."""
    given = pc.if_else(pc.equal(values, ""), None, values)
    wrong = pc.invert(pc.match_substring_regex(given, r"^-?\d{1,18}$"))
    if pc.any(wrong).as_py():
        first = given.filter(wrong)[0].as_py()
        raise ValueError(f"`{name}` is `{_shown(first)}`, which is no whole number")
    return given.cast(WHOLE)


def _slow(
    block: bytes, limit: int, place: _Place, layout: Layout, tally: Tally, strict: bool
) -> Generator[pa.Table, None, int]:
    """The rows of a block, record by record.

    Args:
        block: The block; it begins with a line.
        limit: Records that begin before this are read.
        place: Where in the file it is.
        layout: How its rows are made up.
        tally: Takes the account of broken rows.
        strict: Whether a broken line ends the reading.

    Returns:
        Where the records that were read end.
    """
    text, encoding = _decoded(block)
    end_of_text = limit if encoding == "latin-1" else len(block[:limit].decode(encoding, "ignore"))
    found: list[tuple[int, list[str]]] = []
    at = 0
    while at < end_of_text:
        match = layout.record.match(text, at)
        values = _values(match.group(), layout) if match else None
        if values is None or match is None:
            match = layout.line.match(text, at)
            if match is None or (match.end() == len(text) and text[-1:] not in "\r\n"):
                break
            if match.group().strip():
                yield from _whole(found, layout, tally, strict)
                found = []
                tally.break_line(place.line, _reason(match.group(), layout), strict)
        elif values:
            found.append((place.line, values))
        place.line += match.group().count("\n")
        at = match.end()
    yield from _whole(found, layout, tally, strict)
    return len(text[:at].encode(encoding))


def _decoded(block: bytes) -> tuple[str, str]:
    """The text of a block, and what it was written in."""
    try:
        return block.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        cut = len(block) - error.start < len("\U0010ffff".encode())
        if cut:  # the block ends within a sign
            return block[: error.start].decode("utf-8"), "utf-8"
        return block.decode("latin-1"), "latin-1"


def _values(record: str, layout: Layout) -> list[str] | None:
    """The values of a record; none for an empty line; None when their number is wrong."""
    text = record.rstrip("\r\n")
    if not text.strip():
        return []
    values = next(csv.reader([text], delimiter=layout.separator))
    return values if len(values) == len(layout.names) else None


def _reason(line: str, layout: Layout) -> str:
    found = line.count(layout.separator) + 1
    if '"' in line:
        return (
            f"`{_shown(line)}` has a quote that is never closed, or not {len(layout.names)} values"
        )
    return f"`{_shown(line)}` has {found} values where there are {len(layout.names)} columns"


def _shown(text: str, most: int = 60) -> str:
    text = text.strip()
    return text if len(text) <= most else text[: most - 1] + "…"


def _whole(
    found: Sequence[tuple[int, list[str]]], layout: Layout, tally: Tally, strict: bool
) -> Iterator[pa.Table]:
    """The rows of some records; halves them until each broken one stands alone."""
    if not found:
        return
    try:
        yield _typed(_texts(found, layout), layout.columns)
    except (pa.ArrowInvalid, ValueError) as error:
        if len(found) == 1:
            line, _ = found[0]
            tally.break_line(line, _shown(str(error), 120), strict)
            return
        half = len(found) // 2
        yield from _whole(found[:half], layout, tally, strict)
        yield from _whole(found[half:], layout, tally, strict)


def _texts(found: Sequence[tuple[int, list[str]]], layout: Layout) -> pa.Table:
    place = {name: index for index, name in enumerate(layout.names)}
    columns = {
        column.name: pa.array([values[place[column.name]] for _, values in found], pa.string())
        for column in layout.columns
    }
    return pa.table(columns)
