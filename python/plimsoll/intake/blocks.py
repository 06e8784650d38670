"""Reads the rows of a separated file, block by block; reports every broken line.

A valid block is parsed at once. Any other is parsed again record by record, so that each broken
line is reported with its number; that is slow.

Source: RFC 4180, with any separator, and line feeds with or without a carriage return.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll import _engine, texts
from plimsoll.errors import InputError, Problem
from plimsoll.intake import limits

if TYPE_CHECKING:
    from plimsoll.intake.rows import ImportStats

BLOCK_BYTES = 8 << 20
"""Bytes read at a time, which limits memory."""

LONGEST_RECORD_BYTES = 1 << 18
"""Maximum length of a record: an unclosed quote would make one of a whole file."""

MOST_DIGITS = 18
"""Maximum number of digits such that every number fits into 64 bits."""

CUT = "the file ends in the middle of this line"

WORD = pa.dictionary(pa.int32(), pa.string())
"""Type of a column of words."""

Kind = Literal["whole", "word", "text", "unwanted"]
"""How values are read: as numbers, as words with a dictionary, as text, or not at all."""

WHOLE = pa.int64()
"""Type of a column of whole numbers of at least 0."""


def require_line_feeds(first: bytes, tally: ImportStats) -> None:
    """Requires line feeds at the ends of lines.

    Raises:
        InputError: Lines end with a carriage return alone, which no tool writes.
    """
    if b"\r" in first.rstrip(b"\r\n"):
        hint = "use line feeds as line ends, as the tool does"
        raise InputError([Problem(f"{tally.file}:1", "contains a carriage return", hint)])


@dataclass(frozen=True)
class WantedColumn:
    """A column to read.

    Attributes:
        name: Its name.
        type: `WORD` or `WHOLE`.
        required: Whether a row without it is broken.
        read: Converts text to whole numbers; raises `ValueError` if it cannot.
        needed: Whether a block, given its other columns, needs it; None for always. Blocks with
            broken rows always read it.
        check: Rejects impossible numbers: raises `ValueError` with the first of them.
    """

    name: str
    type: pa.DataType
    required: bool = False
    read: Callable[[Any], Any] | None = None
    needed: Callable[[pa.Table], bool] | None = None
    check: Callable[[Any], None] | None = None

    @property
    def kind(self) -> Kind:
        """How its values are read."""
        if self.read:
            return "text"
        return "whole" if self.type == WHOLE else "word"


@dataclass(frozen=True)
class Layout:
    """Columns and separator of a file.

    Attributes:
        names: Names of all columns, in the order of the file.
        separator: Their separator.
        columns: The columns to read; each is among the names.
    """

    names: tuple[str, ...]
    separator: str
    columns: tuple[WantedColumn, ...]

    @cached_property
    def record(self) -> re.Pattern[str]:
        """One record and its line end."""
        other = f"[^{re.escape(self.separator)}\r\n]"
        bare = f'(?!"){other}*'
        value = f'(?:"[^"]*(?:""[^"]*)*"|{bare})'
        return re.compile(f"{value}(?:{re.escape(self.separator)}{value})*(?:\r\n|\n|\r)")

    @cached_property
    def line(self) -> re.Pattern[str]:
        """The rest of a line, and its end."""
        return re.compile("[^\r\n]*(?:\r\n|\n|\r)?")


@dataclass
class _Place:
    """The position in the file.

    Attributes:
        line: Number of the next line, from 1.
    """

    line: int


def rows(
    stream: BinaryIO, held: bytes, line: int, layout: Layout, tally: ImportStats, *, strict: bool
) -> Iterator[pa.Table]:
    """The wanted columns of every row of a file; broken rows are counted in the tally.

    Args:
        stream: The file, after what is held.
        held: Its part that was read already and belongs to its rows.
        line: Number of the first line of `held`, from 1.
        layout: Its columns and separator.
        tally: Counts broken rows; the caller counts the others.
        strict: Whether a broken line is an error.

    Raises:
        InputError: A line is broken and `strict` is set, a line is too long, or there are too many
            columns.
    """
    if len(layout.names) > limits.COLUMNS.most:
        raise limits.COLUMNS.refused(f"{tally.file}:1")
    place, rest, more = _Place(line), held, True
    lines = _Lines(tally.file)
    lines.add(held, place, b"")
    while more:
        block = stream.read(BLOCK_BYTES)
        more = bool(block)
        lines.add(block, place, rest)
        rest += block
        if more and b"\n" not in block:
            continue
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
    if rest.strip():  # an unclosed value swallows everything after it
        end = yield from _slow(rest, len(rest), place, layout, tally, strict)
        if rest[end:].strip():
            tally.break_line(place.line, CUT, strict)


@dataclass
class _Lines:
    """Checks the length of lines while they are read.

    Attributes:
        file: Name of the file, for messages.
        length: Bytes of the current line so far.
    """

    file: str
    length: int = 0

    def add(self, block: bytes, place: _Place, before: bytes) -> None:
        """Takes the next bytes.

        Args:
            block: The bytes, fewer than the longest line has.
            place: Where the bytes begin that are not parsed yet.
            before: Those of them that were taken before.

        Raises:
            InputError: A line is too long.
        """
        end = block.find(b"\n")
        if self.length + (len(block) if end < 0 else end) > limits.LINE_BYTES.most:
            line = place.line + before.count(b"\n")
            raise limits.LINE_BYTES.refused(f"{self.file}:{line}")
        self.length = self.length + len(block) if end < 0 else len(block) - block.rfind(b"\n") - 1


@dataclass(frozen=True)
class _Fast:
    """The complete rows at the beginning of a block.

    Attributes:
        rows: Their wanted columns.
        end: Their length in bytes.
        lines: Their number of lines.
    """

    rows: pa.Table
    end: int
    lines: int


def _fast(block: bytes, layout: Layout) -> _Fast | None:
    """The complete rows at the beginning of a block; None if one of them is broken."""
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


def _read(block: bytes, layout: Layout, columns: Sequence[WantedColumn]) -> _Fast:
    """The wanted columns of the complete rows at the beginning of a block.

    Raises:
        ValueError: A row has too many values or too few, or a value is invalid for its column.
        pa.ArrowInvalid: The same, by Arrow.
    """
    wanted: dict[str, Kind] = {column.name: column.kind for column in columns}
    kinds: list[Kind] = [wanted.get(name, "unwanted") for name in layout.names]
    found = _engine.separated_rows(block, layout.separator, kinds)
    if found is None:
        raise ValueError("a row is malformed")
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


def _typed(table: pa.Table, columns: Sequence[WantedColumn]) -> pa.Table:
    """Columns converted to their types.

    Raises:
        ValueError: A value is invalid for its column.
        pa.ArrowInvalid: The same, by Arrow.
    """
    arrays = [_checked(table[column.name], column) for column in columns]
    return pa.table(arrays, names=[column.name for column in columns])


def _checked(values: Any, column: WantedColumn) -> Any:
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
    if column.check:
        column.check(values)
    return values


def _numbers(values: Any, name: str) -> Any:
    """Text as whole numbers; empty text is null."""
    given = pc.if_else(pc.equal(values, ""), None, values)
    wrong = pc.invert(pc.match_substring_regex(given, rf"^-?[0-9]{{1,{MOST_DIGITS}}}$"))
    if pc.any(wrong).as_py():
        first = given.filter(wrong)[0].as_py()
        raise ValueError(f"`{name}` is `{_shown(first)}`, {no_number(first)}")
    return given.cast(WHOLE)


def no_number(text: str) -> str:
    """Why a text is not a valid whole number."""
    digits = text.removeprefix("-")
    if digits.isascii() and digits.isdigit() and len(digits) > MOST_DIGITS:
        return f"a number of {len(digits)} digits; the maximum is {MOST_DIGITS}"
    return "which is not a whole number"


def _slow(
    block: bytes, limit: int, place: _Place, layout: Layout, tally: ImportStats, strict: bool
) -> Generator[pa.Table, None, int]:
    """The rows of a block, record by record.

    Args:
        block: The block; it begins with a line.
        limit: Records that begin before this are read.
        place: Its position in the file.
        layout: Columns and separator.
        tally: Counts broken rows.
        strict: Whether a broken line is an error.

    Returns:
        The end of the last record.
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
    """The text of a block, and its encoding."""
    try:
        return block.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        cut = len(block) - error.start < len("\U0010ffff".encode())
        if cut:  # the block ends within a character
            return block[: error.start].decode("utf-8"), "utf-8"
        return block.decode("latin-1"), "latin-1"


def _values(record: str, layout: Layout) -> list[str] | None:
    """The values of a record; empty for an empty line, None if their number is wrong."""
    text = record.rstrip("\r\n")
    if not text.strip():
        return []
    values = texts.values(text, layout.separator)
    return values if len(values) == len(layout.names) else None


def _reason(line: str, layout: Layout) -> str:
    line = line.strip()
    found = line.count(layout.separator) + 1
    if '"' in line:
        return f"`{_shown(line)}` has an unclosed quote, or not {len(layout.names)} values"
    return f"`{_shown(line)}` has {found} values for {len(layout.names)} columns"


def _shown(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _whole(
    found: Sequence[tuple[int, list[str]]], layout: Layout, tally: ImportStats, strict: bool
) -> Iterator[pa.Table]:
    """The rows of some records; bisects them until each broken one is isolated."""
    if not found:
        return
    try:
        yield _typed(_texts(found, layout), layout.columns)
    except (pa.ArrowInvalid, ValueError) as error:
        if len(found) == 1:
            line, _ = found[0]
            tally.break_line(line, _shown(str(error), 160), strict)
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
