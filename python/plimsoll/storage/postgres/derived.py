"""Everything derived from one trial, written to and read from the database as a whole.

All functions run in a transaction of the caller.
"""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from plimsoll import tables
from plimsoll.storage.postgres import copying
from plimsoll.storage.results import DerivedTrial

if TYPE_CHECKING:
    import pyarrow as pa

    from plimsoll.storage.postgres.connection import Connection

DOCUMENTED = {table.name: table for table in tables.TABLES if table.stored == "derived"}
"""Derived tables of the data dictionary, which are also stored as rows, for queries."""

JUDGED = "verdicts"
"""Name of the document with the verdicts on a trial."""


def write(
    connection: Connection, campaign_id: int, trial: tuple[int, str], derived: DerivedTrial
) -> None:
    """Replaces everything derived from a trial.

    Args:
        connection: Within a transaction.
        campaign_id: Its campaign.
        trial: Its key and its id.
        derived: Everything derived from it.

    Raises:
        psycopg.Error: It could not be written.
    """
    key, trial_id = trial
    for table in ("trial_derived_tables", "trial_derived_documents"):
        connection.execute(f"DELETE FROM plimsoll.{table} WHERE trial_id = %s".encode(), [key])
    for name, rows in derived.tables.items():
        connection.execute(
            "INSERT INTO plimsoll.trial_derived_tables VALUES (%s, %s, %b)",
            [key, name, as_parquet(rows)],
        )
        if name in DOCUMENTED:
            statement = f"DELETE FROM plimsoll.{name} WHERE campaign_id = %s AND trial = %s"
            connection.execute(statement.encode(), [campaign_id, trial_id])
            load(connection, campaign_id, name, rows)
    connection.execute(
        "INSERT INTO plimsoll.trial_derived_documents VALUES (%s, %s, %s)",
        [key, JUDGED, json.dumps(derived.judged)],
    )


def read(connection: Connection, key: int) -> DerivedTrial | None:
    """What is derived from a trial; None when it has not been computed.

    Args:
        connection: Within a transaction that sees one state of the database.
        key: Key of the trial.

    Raises:
        OSError: A table is damaged.
        ValueError: The verdicts are.
        psycopg.Error: It could not be read.
    """
    judged = connection.execute(
        "SELECT content_json FROM plimsoll.trial_derived_documents"
        " WHERE trial_id = %s AND name = %s",
        [key, JUDGED],
    ).fetchone()
    if judged is None:
        return None
    found = connection.execute(
        "SELECT name, content_parquet FROM plimsoll.trial_derived_tables WHERE trial_id = %s", [key]
    )
    kept = {name: pq.read_table(io.BytesIO(content)) for name, content in found}
    return DerivedTrial(kept, json.loads(judged[0]))


def as_parquet(table: pa.Table) -> bytes:
    """A table as the content of a Parquet file."""
    content = io.BytesIO()
    pq.write_table(table, content, compression="zstd")
    return content.getvalue()


def load(connection: Connection, campaign_id: int, name: str, table: pa.Table) -> None:
    """Adds rows to a table of the data dictionary.

    Raises:
        psycopg.Error: They could not be added.
    """
    schema = DOCUMENTED[name].schema
    rows = table.select(schema.names).to_batches()
    copying.load(connection, name, schema, rows, constants={"campaign_id": campaign_id})
