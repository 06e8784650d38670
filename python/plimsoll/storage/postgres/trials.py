"""One trial in the database: written as a whole, read as a whole, removed as a whole.

All functions run within a transaction of whoever calls them.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow.compute as pc
import pyarrow.parquet as pq

from plimsoll import tables
from plimsoll.storage.postgres import copying

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.recording import Recording
    from plimsoll.storage.postgres.connection import Connection
    from plimsoll.storage.results import Results
    from plimsoll.tables import Table

RECORDED = tuple(table for table in tables.TABLES if table.stored == "recorded")
"""Tables with the rows of a trial."""

ROWS = 1 << 16
"""Rows that are held at a time; bounds the memory."""

MOST_SECONDS = 24 * 60 * 60 * 366
"""The longest trial of which seconds are listed; an instant that is further away is a mistake."""

_SECOND_NS = 1_000_000_000


def write(connection: Connection, campaign_id: int, source: Results, trial_id: str) -> int:
    """Puts a trial in place of an earlier recording of it.

    Args:
        connection: Within a transaction.
        campaign_id: Its campaign.
        source: Where its recording and rows are read.
        trial_id: Its id.

    Returns:
        How many rows it has in all tables.

    Raises:
        StorageError: It could not be read.
        psycopg.Error: It could not be written.
    """
    recording = source.recording(trial_id)
    forget(connection, campaign_id, trial_id)
    key = _insert(connection, campaign_id, recording)
    rows = 0
    end = _End()
    for table in RECORDED:
        batches = _batches(source.table(trial_id, table.name))
        watched = end.watching(batches) if table is tables.REQUESTS else batches
        rows += copying.load(
            connection, table.name, table.schema, watched, constants={"trial_id": key}
        )
    seconds = end.seconds(recording)
    connection.execute("UPDATE plimsoll.trials SET seconds = %s WHERE id = %s", [seconds, key])
    for name, content in source.logs(trial_id).items():
        clean = content.replace("\0", "�")  # the one sign that the database cannot hold
        connection.execute("INSERT INTO plimsoll.logs VALUES (%s, %s, %s)", [key, name, clean])
    return rows


def forget(connection: Connection, campaign_id: int, trial_id: str) -> None:
    """Removes a trial and all of its rows; does nothing when there is none.

    Raises:
        psycopg.Error: It could not be removed.
    """
    connection.execute(
        "DELETE FROM plimsoll.trials WHERE campaign_id = %s AND trial = %s", [campaign_id, trial_id]
    )


def fetch(connection: Connection, campaign: str, trial_id: str, into: Path) -> None:
    """Writes the tables of a trial as Parquet, a file a table; none for a table without rows.

    Args:
        connection: Within a transaction that sees one state of the database.
        campaign: Name of its campaign.
        trial_id: Its id.
        into: Folder of the files.

    Raises:
        psycopg.Error: They could not be read.
        OSError: They could not be written.
    """
    found = connection.execute(
        "SELECT trials.id FROM plimsoll.trials JOIN plimsoll.campaigns"
        " ON campaigns.id = trials.campaign_id WHERE campaigns.name = %s AND trials.trial = %s",
        [campaign, trial_id],
    ).fetchone()
    (key,) = found or (0,)
    for table in RECORDED:
        columns = ", ".join(table.schema.names)
        query = f"SELECT {columns} FROM plimsoll.{table.name} WHERE trial_id = {int(key)}"
        with closing(copying.fetch(connection, query, table.schema)) as batches:
            _keep(table, batches, into)


def _keep(table: Table, batches: Iterator[pa.RecordBatch], into: Path) -> None:
    first = next(batches, None)
    if first is None:
        return
    path = into / f"{table.name}.parquet"
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)


def _insert(connection: Connection, campaign_id: int, recording: Recording) -> int:
    values = {
        "campaign_id": campaign_id,
        "trial": recording.trial,
        "framework": recording.framework,
        "variant": recording.variant,
        "language": recording.language,
        "endpoint": recording.endpoint,
        "load": str(recording.load.get("name", "")),
        "repetition": recording.repetition,
        "driver": recording.driver_name,
        "zero_utc": _instant(recording.zero_utc),
        "seconds": 0,
        "ending": recording.ending.kind,
        "recording_json": json.dumps(asdict(recording)),
    }
    places = ", ".join(f"%({name})s" for name in values)
    statement = f"INSERT INTO plimsoll.trials ({', '.join(values)}) VALUES ({places}) RETURNING id"
    found = connection.execute(statement.encode(), values).fetchone()
    assert found is not None  # noqa: S101 - RETURNING gives a row
    return int(found[0])


def _instant(text: str) -> datetime | None:
    """An instant in ISO 8601; None where nobody knows it."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _batches(rows: ds.Dataset) -> Iterator[pa.RecordBatch]:
    return rows.to_batches(batch_size=ROWS, batch_readahead=1, fragment_readahead=1)


class _End:
    """The last instant of any request, found while the rows go by."""

    def __init__(self) -> None:
        self._last_ns: int | None = None

    def watching(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            instants = pc.coalesce(*(batch[name] for name in ("done_ns", "due_ns", "sent_ns")))
            last = pc.max(instants).as_py()
            if last is not None:
                self._last_ns = last if self._last_ns is None else max(self._last_ns, last)
            yield batch

    def seconds(self, recording: Recording) -> int:
        """Seconds from the zero to the end of the last stage or request; 0 without a request."""
        if self._last_ns is None:
            return 0
        end_ns = recording.stages[-1].end_ns if recording.stages else 0
        seconds = max(-(-end_ns // _SECOND_NS), self._last_ns // _SECOND_NS + 1)
        return min(max(seconds, 0), MOST_SECONDS)
