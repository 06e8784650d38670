"""Transfers rows between Arrow and the database in blocks, by COPY.

The format is CSV, which both sides write and read in compiled code. Numbers are exact, and an empty
text differs from null.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import csv

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from typing_extensions import Buffer

    from plimsoll.storage.postgres.connection import Connection

_BLOCK_BYTES = 1 << 22
_WITHOUT_HEADER = csv.WriteOptions(include_header=False)


def load(
    connection: Connection,
    table: str,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
    constants: Mapping[str, int],
) -> int:
    """Adds rows to a table.

    Args:
        connection: Within a transaction.
        table: Name of the table in the schema `plimsoll`.
        schema: Columns of the rows, by the names of the table.
        batches: The rows.
        constants: Further columns, with one value in all rows.

    Returns:
        Number of rows.

    Raises:
        psycopg.Error: They could not be added.
    """
    columns = ", ".join([*constants, *schema.names])
    statement = f"COPY plimsoll.{table} ({columns}) FROM STDIN (FORMAT csv)"
    rows = 0
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for batch in batches:
            copy.write(_csv(batch, constants))
            rows += batch.num_rows
    return rows


def fetch(connection: Connection, query: str, schema: pa.Schema) -> Generator[pa.RecordBatch]:
    """The rows of a query, in batches.

    Args:
        connection: Open while the rows are read.
        query: Its columns are those of the schema; it contains no user input.
        schema: The columns.

    Raises:
        psycopg.Error: They could not be read.
    """
    statement = f"COPY ({query}) TO STDOUT (FORMAT csv)"
    with connection.cursor() as cursor, cursor.copy(statement.encode()) as copy:
        for block in _blocks(copy):
            yield from _rows(block, schema)


def _blocks(messages: Iterable[Buffer]) -> Iterator[bytes]:
    """The data of a COPY in larger blocks; messages end between rows, and so do blocks."""
    block = bytearray()
    for message in messages:
        block += message
        if len(block) >= _BLOCK_BYTES:
            yield bytes(block)
            block.clear()
    if block:
        yield bytes(block)


def _rows(block: bytes, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    found = csv.read_csv(
        pa.BufferReader(block),
        csv.ReadOptions(column_names=schema.names),
        csv.ParseOptions(newlines_in_values=True),
        csv.ConvertOptions(
            column_types=schema,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )
    for batch in found.to_batches():
        yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def _csv(batch: pa.RecordBatch, constants: Mapping[str, int]) -> memoryview:
    rows = batch.num_rows
    extra = [pa.repeat(pa.scalar(value, pa.int32()), rows) for value in constants.values()]
    columns = [_plain(column) for column in batch.columns]
    names = [*constants, *batch.schema.names]
    written = io.BytesIO()
    csv.write_csv(pa.table([*extra, *columns], names=names), written, _WITHOUT_HEADER)
    return written.getbuffer()


def _plain(column: pa.Array) -> pa.Array:
    """A column converted for CSV."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    return column
