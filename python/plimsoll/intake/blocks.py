"""Rows of a separated file, block by block; every row is given on or named as broken.

A block in which every row is as it should be is read at once. Any other is read again record by
record, so that each broken line has its number: that is slow, and happens only where something is
broken.

Source: RFC 4180, with any separator, and line feeds with or without a carriage return.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll import _engine
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

WORD = pa.dictionary(pa.int32(), pa.string())
"""Type of a column of words."""

Kind = Literal["whole", "word", "text", "unwanted"]
"""How values are gathered: as numbers, as words that are kept once each, as text, or not at all."""

WHOLE = pa.int64()
"""Type of a column of whole numbers, none of which is below 0."""


def require_line_feeds(first: bytes, tally: Tally) -> None:
    """Does nothing when the first line of a file is one.

    Raises:
        CampaignError: Lines end with a carriage return alone, as no tool writes them.
    """
    if b"\r" in first.rstrip(b"\r\n"):
        hint = "end its lines with line feeds, as the tool wrote them"
        raise CampaignError([Problem(f"{tally.file}:1", "has a carriage return within it", hint)])


@dataclass(frozen=True)
class Column:
    """A column that is wanted.

    Attributes:
        name: Its name.
        type: `WORD` or `WHOLE`.
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

    @property
    def kind(self) -> Kind:
        """How its values are gathered."""
        if self.read:
            return "text"
        return "whole" if self.type == WHOLE else "word"


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
        found = _fast(rest, layout)
        if found:
            place.line += found.lines
            if len(found.rows):
                yield found.rows
        end = found.end if found else 0
        if not found or len(rest) - end > LONGEST_RECORD_BYTES:
            rest = rest[end:]
            limit = max(len(rest) - LONGEST_RECORD_BYTES, 0) if more else len(rest)
            end = yield from _slow(rest, limit, place, layout, tally, strict)
        rest = rest[end:]
        if len(rest) > LONGEST_LINE_BYTES:
            message = f"has a line of more than {LONGEST_LINE_BYTES >> 20} MiB"
            raise CampaignError([Problem(f"{tally.file}:{place.line}", message, "is it a text?")])
    if rest.strip():  # a value that is never closed holds back all that stands behind it
        end = yield from _slow(rest, len(rest), place, layout, tally, strict)
        if rest[end:].strip():
            tally.break_line(place.line, CUT, strict)


@dataclass(frozen=True)
class _Fast:
    """The whole rows at the beginning of a block.

    Attributes:
        rows: Their wanted columns.
        end: Bytes that they take.
        lines: Lines that they take.
    """

    rows: pa.Table
    end: int
    lines: int


def _fast(block: bytes, layout: Layout) -> _Fast | None:
    """The whole rows at the beginning of a block; None when one of them is not as it should be."""
    try:
        found = _read(block, layout, [one for one in layout.columns if one.needed is None])
        later = [one for one in layout.columns if one.needed and one.needed(found.rows)]
        if not later:
            return found
        more = _read(block, layout, later).rows
        columns = found.rows.columns + more.columns
        names = found.rows.column_names + more.column_names
        return replace(found, rows=pa.table(columns, names=names))
    except (pa.ArrowInvalid, ValueError):
        return None


def _read(block: bytes, layout: Layout, columns: Sequence[Column]) -> _Fast:
    """Some columns of the whole rows at the beginning of a block, as they are wanted.

    Raises:
        ValueError: A row has too many values or too few, or a value is not what its column holds.
        pa.ArrowInvalid: The same, by Arrow.
    """
    wanted: dict[str, Kind] = {column.name: column.kind for column in columns}
    kinds: list[Kind] = [wanted.get(name, "unwanted") for name in layout.names]
    found = _engine.separated_rows(block, layout.separator, kinds)
    if found is None:
        raise ValueError("a row is not as it should be")
    count = found["count"]
    arrays = {
        "whole": (_numbers_of(count, *one) for one in found["wholes"]),
        "word": (_words_of(count, *one) for one in found["words"]),
        "text": (_texts_of(count, *one) for one in found["texts"]),
    }
    table = {
        name: next(arrays[kind])
        for name, kind in zip(layout.names, kinds, strict=True)
        if kind != "unwanted"
    }
    return _Fast(_typed(pa.table(table), columns), found["end"], found["lines"])


def _numbers_of(count: int, numbers: bytes, validity: bytes | None) -> Any:
    bits = None if validity is None else pa.py_buffer(validity)
    return pa.Array.from_buffers(WHOLE, count, [bits, pa.py_buffer(numbers)])


def _words_of(count: int, places: bytes, words: list[str]) -> Any:
    indices = pa.Array.from_buffers(pa.int32(), count, [None, pa.py_buffer(places)])
    return pa.DictionaryArray.from_arrays(indices, pa.array(words, pa.string()))


def _texts_of(count: int, bounds: bytes, text: bytes) -> Any:
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string(), count, buffers)


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
