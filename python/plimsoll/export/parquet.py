"""Parquet: the tables of one trial as in `docs/tables.md`, and its `trial.json`.

The recorded tables are copied in blocks; in `requests`, `sent_bytes` is filled in where
`trial.json` has the lengths of request types. `seconds`, `summaries`, `stages`, `quantiles` and
`latency_buckets` are computed again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from plimsoll import tables
from plimsoll.aggregate import distribution, latency_buckets, stages
from plimsoll.aggregate.engine_records import as_stored
from plimsoll.aggregate.summaries import summaries
from plimsoll.recording import writing
from plimsoll.storage import documents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from plimsoll.aggregate.query import Rows
    from plimsoll.aggregate.trial import Tables

NAME = "parquet"
FILES = (
    documents.TRIAL,
    "requests.parquet",
    "connections.parquet",
    "usage.parquet",
    "seconds.parquet",
    "summaries.parquet",
    "stages.parquet",
    "quantiles.parquet",
    "latency_buckets.parquet",
)
OF_ROWS = False

ROWS = 1 << 18
"""Rows of a row group, which limits memory."""


def write(of_trial: Tables, into: Path) -> tuple[str, ...]:
    """Writes the tables.

    Args:
        of_trial: The tables of the trial.
        into: Folder of the files.

    Returns:
        No sentences, since the format can represent everything.

    Raises:
        OSError: They could not be written.
    """
    documents.keep_recording(of_trial.recording, into)
    rows = {
        tables.REQUESTS: of_trial.requests,
        tables.CONNECTIONS: of_trial.connections,
        tables.USAGE: of_trial.readings,
        tables.SECONDS: of_trial.seconds,
        tables.SUMMARIES: summaries(
            [(of_trial.recording, of_trial.summary)] if of_trial.recording.driver else []
        ),
        tables.STAGES: stages.stages(of_trial.recording),
        tables.QUANTILES: distribution.of_trial(of_trial.recording, of_trial.requests),
        tables.LATENCY_BUCKETS: latency_buckets.of_trial(
            of_trial.recording, of_trial.requests, of_trial.seconds.num_rows
        ),
    }
    lengths = pa.array(of_trial.recording.request_bytes, pa.uint32())
    for table, found in rows.items():
        filled = lengths if table is tables.REQUESTS else None
        _write(table, found, into / f"{table.name}.parquet", filled)
    return ()


def _write(table: tables.Table, rows: Rows, path: Path, lengths: pa.Array | None) -> None:
    with _opened(table, path) as writer:
        for batch in _batches(rows):
            part = pa.Table.from_batches([batch]).select(table.schema.names)
            if lengths is not None and len(lengths):
                part = _with_sent_bytes(part, lengths)
            writer.write_table(part.cast(table.schema))


def _with_sent_bytes(rows: pa.Table, lengths: pa.Array) -> pa.Table:
    """Rows of `requests` with the length of each sent request, by its type where no other is known.

    As `aggregate.kinds.sent_bytes_expression` says it in SQL.
    """
    of_types = pc.if_else(rows["sent_ns"].is_valid(), lengths.take(rows["request"]), None)
    place = rows.schema.get_field_index("sent_bytes")
    return rows.set_column(place, "sent_bytes", pc.coalesce(rows["sent_bytes"], of_types))


def _opened(table: tables.Table, path: Path) -> pq.ParquetWriter:
    if table.stored == "recorded":
        return writing.parquet(table, path)
    return pq.ParquetWriter(path, table.schema, compression="zstd")


def _batches(rows: Rows) -> Iterator[pa.RecordBatch]:
    found = as_stored(rows)
    if found is None:
        return iter(())
    if isinstance(found, pa.Table):
        return iter(found.to_batches(max_chunksize=ROWS))
    return found.to_batches(batch_size=ROWS, batch_readahead=1, fragment_readahead=1)
