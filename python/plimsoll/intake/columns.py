"""Columns of separated files: how their text is read, and how they become batches of `ROWS`."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from plimsoll.errors import CampaignError, Problem
from plimsoll.intake import blocks
from plimsoll.intake.blocks import WHOLE, Column, Layout
from plimsoll.intake.rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.intake.rows import Asked, Tally

LONGEST_NS = 1 << 62
"""No instant and no length of time is as great, so that two of them can be added."""

LEAST_STATUS, GREATEST_STATUS = 100, 999
FIRST_RIGHT, LAST_RIGHT = 200, 399
"""Status codes that are right where nobody says which are."""


def times(name: str, unit_ns: int) -> Column:
    """A column of times that are whole numbers of a unit; they become nanoseconds."""
    return Column(name, WHOLE, True, lambda texts: _sensible(_multiplied(texts, unit_ns)))


def decimals(name: str, unit_ns: int) -> Column:
    """A column of times that have decimals; they become nanoseconds."""
    return Column(name, WHOLE, True, lambda texts: _sensible(_rounded(texts, unit_ns)))


def statuses(name: str, *none: str) -> Column:
    """A column of status codes, null where there was no answer.

    Args:
        name: Its name.
        none: What stands there where there was none; nothing where that cannot be.
    """
    return Column(name, WHOLE, not none, lambda texts: _codes(texts, none))


def _multiplied(texts: Any, unit_ns: int) -> Any:
    return pc.multiply_checked(texts.cast(pa.int64()), unit_ns)


def _rounded(texts: Any, unit_ns: int) -> Any:
    return pc.round(pc.multiply(texts.cast(pa.float64()), float(unit_ns))).cast(pa.int64())


def _sensible(values: Any) -> Any:
    """Times that can be.

    Raises:
        ValueError: One is greater than any instant.
    """
    greatest = pc.max(values).as_py()
    if greatest is not None and greatest >= LONGEST_NS:
        raise ValueError(f"`{greatest}` ns is no time")
    return values


def _codes(texts: Any, none: Sequence[str]) -> Any:
    """Status codes.

    Raises:
        ValueError: One has not three digits.
    """
    is_none = pc.is_in(texts, value_set=pa.array(none, pa.string()))
    codes = pc.if_else(is_none, None, texts).cast(pa.int64())
    ends = pc.min_max(codes).as_py()
    if ends["min"] is not None and (ends["min"] < LEAST_STATUS or ends["max"] > GREATEST_STATUS):
        raise ValueError(f"`{ends['min']}` to `{ends['max']}` are no status codes")
    return codes


def first_line(stream: BinaryIO, tally: Tally) -> bytes:
    """The first line of a file, with its end.

    Raises:
        CampaignError: Lines end with a carriage return alone, as no tool writes them.
    """
    line = stream.readline(blocks.BLOCK_BYTES)
    blocks.require_line_feeds(line, tally)
    return line


def fields(line: bytes, separator: str) -> list[str]:
    """The fields of a line, such as the names of the columns."""
    return next(csv.reader([line.decode("utf-8", "replace")], delimiter=separator), list[str]())


def require(needed: Sequence[Column], found: Sequence[str], tally: Tally) -> None:
    """Refuses a file that lacks columns.

    Raises:
        CampaignError: Some are not among the names that were found.
    """
    if missing := [f"`{column.name}`" for column in needed if column.name not in found]:
        message = f"has no column {', '.join(missing)}"
        hint = "let the tool write all its columns, and give the file as it was written"
        raise CampaignError([Problem(f"{tally.file}:1", message, hint)])


def rows(
    stream: BinaryIO, layout: Layout, asked: Asked, tally: Tally, *, held: bytes = b""
) -> Iterator[dict[str, pa.Array]]:
    """The wanted columns of the rows of a file whose first line was read, block by block.

    Args:
        stream: The file, behind its first line.
        layout: How its rows are made up.
        asked: Whether a broken line ends the reading.
        tally: Takes the account of broken lines; whoever uses the others counts them.
        held: The first line, where it is a row.

    Raises:
        CampaignError: A line is broken and `asked` is strict.
    """
    line = 1 if held else 2
    for table in blocks.rows(stream, held, line, layout, tally, strict=asked.strict):
        for found in table.combine_chunks().to_batches():
            yield dict(zip(found.schema.names, found.columns, strict=True))


def batch(known: dict[str, Any]) -> pa.RecordBatch:
    """A batch of `ROWS` of the columns that a tool knows, by name; the others are null."""
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
    """The outcome of each answer of which nothing but its status is known; null where it is."""
    is_right = pc.and_(pc.greater_equal(status, FIRST_RIGHT), pc.less_equal(status, LAST_RIGHT))
    return pc.if_else(is_right, "ok", "wrong_status")
