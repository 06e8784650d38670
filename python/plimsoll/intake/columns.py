"""Columns of separated files: parses their text, and builds batches of `ROWS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll import texts
from plimsoll.errors import InputError, Problem
from plimsoll.intake import blocks, limits
from plimsoll.intake.blocks import WHOLE, Layout, WantedColumn
from plimsoll.intake.rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.intake.limits import IntakeLimit
    from plimsoll.intake.rows import ImportStats, ReadOptions

Known = dict[str, pa.Array]
"""Arrays of one length, by the column of `ROWS` that they fill."""

LEAST_STATUS, GREATEST_STATUS = 100, 999
_MOST_BYTES = 2**32 - 1
FIRST_RIGHT, LAST_RIGHT = 200, 399
"""Status codes of successful responses, unless the tool defines others."""


def instants(name: str, unit_ns: int) -> WantedColumn:
    """A column of timestamps since 1970 in whole units, converted to nanoseconds."""
    check = limits.instants(name, 1)
    return WantedColumn(name, WHOLE, True, lambda texts: _multiplied(texts, unit_ns), check=check)


def lengths(name: str, unit_ns: int) -> WantedColumn:
    """A column of durations in whole units, converted to nanoseconds."""
    check = limits.lengths(name, 1)
    return WantedColumn(name, WHOLE, True, lambda texts: _multiplied(texts, unit_ns), check=check)


def decimals(
    name: str, unit_ns: int, limit: IntakeLimit | None = limits.REQUEST_NS
) -> WantedColumn:
    """A column of durations with decimals, converted to nanoseconds.

    Args:
        name: Its name.
        unit_ns: The unit.
        limit: The longest; None if the column contains other values than times.
    """
    check = limits.lengths(name, 1, limit) if limit else None
    return WantedColumn(name, WHOLE, True, lambda texts: _rounded(texts, unit_ns), check=check)


def sizes(values: Any) -> Any:
    """Lengths in bytes as the tables store them: the greatest number stands for greater ones."""
    most = pa.scalar(_MOST_BYTES, pa.int64())
    return pc.min_element_wise(values, most, skip_nulls=False).cast(pa.uint32())


def statuses(name: str, *none: str) -> WantedColumn:
    """A column of status codes, null for requests without a response.

    Args:
        name: Its name.
        none: Values that mean no response; may be empty.
    """
    return WantedColumn(name, WHOLE, not none, lambda texts: _codes(texts, none))


def _multiplied(texts: Any, unit_ns: int) -> Any:
    try:
        return pc.multiply_checked(texts.cast(pa.int64()), unit_ns)
    except pa.ArrowInvalid as error:
        raise ValueError(f"contains an invalid time: {error}") from error


def _rounded(texts: Any, unit_ns: int) -> Any:
    return pc.round(pc.multiply(texts.cast(pa.float64()), float(unit_ns))).cast(pa.int64())


def _codes(texts: Any, none: Sequence[str]) -> Any:
    """Status codes.

    Raises:
        ValueError: A code does not have three digits.
    """
    is_none = pc.is_in(texts, value_set=pa.array(none, pa.string()))
    codes = pc.if_else(is_none, None, texts).cast(pa.int64())
    ends = pc.min_max(codes).as_py()
    if ends["min"] is not None:
        require_status(ends["min"])
        require_status(ends["max"])
    return codes


def require_status(code: int) -> None:
    """Requires a status code.

    Raises:
        ValueError: The number is not one.
    """
    if not LEAST_STATUS <= code <= GREATEST_STATUS:
        raise ValueError(f"`{code}` is not a status code")


def first_line(
    stream: BinaryIO, tally: ImportStats, limit: IntakeLimit = limits.HEADER_BYTES
) -> bytes:
    """The first line of a file, with its end.

    Args:
        stream: The file, from its beginning.
        tally: Knows its name.
        limit: Its maximum length.

    Raises:
        InputError: It is too long, has too many fields, or lines end with a carriage return
            alone, which no tool writes.
    """
    line = stream.readline(limit.most + 1)
    if len(line) > limit.most:
        raise limit.refused(f"{tally.file}:1")
    blocks.require_line_feeds(line, tally)
    return line


def fields(line: bytes, separator: str) -> list[str]:
    """The fields of a line, such as the names of the columns."""
    text = line.decode("utf-8", "replace")
    try:
        return texts.values(text, separator)
    except ValueError:
        return [text]


def require(needed: Sequence[WantedColumn], found: Sequence[str], tally: ImportStats) -> None:
    """Requires columns.

    Raises:
        InputError: Some of them are missing.
    """
    if missing := [f"`{column.name}`" for column in needed if column.name not in found]:
        message = f"has no column {', '.join(missing)}"
        hint = "configure the tool to write all columns, and give the file unchanged"
        raise InputError([Problem(f"{tally.file}:1", message, hint)])


def rows(
    stream: BinaryIO, layout: Layout, options: ReadOptions, tally: ImportStats, *, held: bytes = b""
) -> Iterator[dict[str, pa.Array]]:
    """The wanted columns of the rows of a file whose first line was read, block by block.

    Args:
        stream: The file, after its first line.
        layout: Its columns and separator.
        options: Whether a broken line is an error.
        tally: Counts broken lines; the caller counts the others.
        held: The first line, if it is a row.

    Raises:
        InputError: A line is broken and `options` is strict.
    """
    line = 1 if held else 2
    for table in blocks.rows(stream, held, line, layout, tally, strict=options.strict):
        for found in table.combine_chunks().to_batches():
            yield dict(zip(found.schema.names, found.columns, strict=True))


def batch(known: Known) -> pa.RecordBatch:
    """A batch of `ROWS` from known columns by name; the others are null."""
    count = len(known["sent_ns"])
    arrays = [
        _as(known[field.name], field.type) if field.name in known else pa.nulls(count, field.type)
        for field in ROWS
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=ROWS)


def _as(values: Any, kind: pa.DataType) -> Any:
    is_text = pa.types.is_string(values.type) and pa.types.is_dictionary(kind)
    return values.dictionary_encode() if is_text else values.cast(kind)


def by_status(status: Any) -> Any:
    """The outcome of responses by their status; null for a null status."""
    is_right = pc.and_(pc.greater_equal(status, FIRST_RIGHT), pc.less_equal(status, LAST_RIGHT))
    return pc.if_else(is_right, "ok", "wrong_status")
