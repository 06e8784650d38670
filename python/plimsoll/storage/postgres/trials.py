"""Writes, reads and removes trials in the database, each as a whole.

All functions run in a transaction of the caller.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from plimsoll import tables
from plimsoll.recording import writing
from plimsoll.storage import documents
from plimsoll.storage.postgres import copying

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    import pyarrow.dataset as ds

    from plimsoll.recording import Recording
    from plimsoll.storage.postgres.connection import Connection
    from plimsoll.storage.results import Results
    from plimsoll.tables import Table

RECORDED = tuple(table for table in tables.TABLES if table.stored == "recorded")
"""Tables with the rows of a trial."""

OF_TRIALS = tuple(
    table for table in tables.TABLES if table.stored == "derived" and "trial" in table.schema.names
)
"""Tables with what is derived from each trial of a campaign."""

ROWS = 1 << 16
"""Rows in memory at a time."""

MOST_SECONDS = 24 * 60 * 60 * 366
"""The longest trial whose seconds are listed; a timestamp beyond it is a mistake."""

_SECOND_NS = 1_000_000_000


def write(connection: Connection, campaign_id: int, source: Results, trial_id: str) -> int:
    """Writes a trial; replaces an earlier recording of it.

    Args:
        connection: Within a transaction.
        campaign_id: Its campaign.
        source: The storage of its recording and rows.
        trial_id: Its id.

    Returns:
        Number of rows in all tables.

    Raises:
        StorageError: It could not be read.
        psycopg.Error: It could not be written.
    """
    recording = source.recording(trial_id)
    forget(connection, campaign_id, trial_id)
    key = _insert(connection, campaign_id, recording)
    rows = 0
    end = _LastInstant()
    for table in RECORDED:
        batches = _batches(source.table(trial_id, table.name))
        watched = end.watching(batches) if table is tables.REQUESTS else batches
        rows += copying.load(
            connection, table.name, table.schema, watched, constants={"trial_id": key}
        )
    seconds = end.seconds(recording)
    connection.execute("UPDATE plimsoll.trials SET seconds = %s WHERE id = %s", [seconds, key])
    for name, content in source.logs(trial_id).items():
        connection.execute("INSERT INTO plimsoll.logs VALUES (%s, %s, %s)", [key, name, content])
    return rows


def forget(connection: Connection, campaign_id: int, trial_id: str) -> None:
    """Removes a trial and all of its rows, if it exists.

    Raises:
        psycopg.Error: It could not be removed.
    """
    connection.execute(
        "DELETE FROM plimsoll.trials WHERE campaign_id = %s AND trial = %s", [campaign_id, trial_id]
    )


def move(connection: Connection, campaign_id: int, trial_ids: Sequence[str]) -> str:
    """Moves trials to a new campaign named after theirs.

    Args:
        connection: Within a transaction.
        campaign_id: Their campaign.
        trial_ids: Their ids.

    Returns:
        Name of the new campaign: `NAME.superseded.1`.

    Raises:
        psycopg.Error: It could not be written.
    """
    made = connection.execute(
        "INSERT INTO plimsoll.campaigns"
        " (name, campaign_toml, campaign_json, plan_json, published_toml)"
        " SELECT old.name || '.superseded.' || ("
        "  SELECT coalesce(max(substring("
        "   substr(aside.name, length(old.name || '.superseded.') + 1) FROM '^[0-9]{1,9}$'"
        "  )::int), 0) + 1 FROM plimsoll.campaigns AS aside"
        "  WHERE starts_with(aside.name, old.name || '.superseded.')"
        " ), old.campaign_toml, old.campaign_json, old.plan_json, old.published_toml"
        " FROM plimsoll.campaigns AS old WHERE old.id = %s RETURNING id, name",
        [campaign_id],
    ).fetchone()
    assert made is not None  # noqa: S101 - RETURNING gives a row
    connection.execute(
        "UPDATE plimsoll.trials SET campaign_id = %s WHERE campaign_id = %s AND trial = ANY(%s)",
        [made[0], campaign_id, list(trial_ids)],
    )
    for table in OF_TRIALS:
        connection.execute(
            f"UPDATE plimsoll.{table.name} SET campaign_id = %s"
            " WHERE campaign_id = %s AND trial = ANY(%s)".encode(),
            [made[0], campaign_id, list(trial_ids)],
        )
    return str(made[1])


def fetch(connection: Connection, campaign: str, trial_id: str, into: Path) -> None:
    """Writes the tables of a trial as Parquet files; none for a table without rows.

    Args:
        connection: Within a transaction with a snapshot of the database.
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
    with writing.opened(table, path) as writer:
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
        "load": recording.load.name,
        "repetition": recording.repetition,
        "driver": recording.driver_name,
        "zero_utc": _instant(recording.zero_utc),
        "seconds": 0,
        "ending": recording.ending.kind,
        "recording_json": json.dumps(documents.valid(asdict(recording))),
    }
    places = ", ".join(f"%({name})s" for name in values)
    statement = f"INSERT INTO plimsoll.trials ({', '.join(values)}) VALUES ({places}) RETURNING id"
    found = connection.execute(statement.encode(), values).fetchone()
    assert found is not None  # noqa: S101 - RETURNING gives a row
    return int(found[0])


def _instant(text: str) -> datetime | None:
    """A timestamp in ISO 8601; None if unknown."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _batches(rows: ds.Dataset) -> Iterator[pa.RecordBatch]:
    return rows.to_batches(batch_size=ROWS, batch_readahead=1, fragment_readahead=1)


class _LastInstant:
    """Finds the last timestamp of any request while the rows are read."""

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
