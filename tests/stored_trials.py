"""Recordings and rows for tests of storages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from plimsoll import tables
from plimsoll.campaign.load import Load, Stage
from plimsoll.provenance import Part, Provenance
from plimsoll.recording import Driver, Ending, RecordedServer, RecordedStage, Recording
from plimsoll.storage import documents
from plimsoll.storage.results import Results

SECOND_NS = 1_000_000_000

NO_ROWS = {
    table.name: table.schema.empty_table() for table in (tables.REQUESTS, tables.CONNECTIONS)
}
"""Tables that the engine writes in any case."""


def recording(trial: str = "a", order: int = 0, end_ns: int = 10) -> Recording:
    return Recording(
        trial=trial,
        order=order,
        framework="go",
        variant="one-core",
        language="Go",
        endpoint="2048",
        load=Load("steady", "closed", (Stage("hold", 1.5, 1.0, 2.0, 3),)),
        repetition=2,
        driver_name="plimsoll",
        seed=7,
        zero_utc="2026-01-02T03:04:05.000006Z",
        stages=(RecordedStage("hold", 0, end_ns, 1.0, 2.0, 3),),
        requests=("2048",),
        machines={"local": {"cores": [0, 1], "virtual": None}},
        versions={"framework": "go1.26"},
        clock_offsets_ns={"local": 0},
        ending=Ending("DiedUnderLoad", "it died", "feed it"),
        server=RecordedServer("127.0.0.1:1", cores=(0,), exit_code=-9),
        driver=Driver("plimsoll", "0.1", (1,), 1, "schedule", outcomes={"ok": 3}),
        contract={"before": [], "after": ["wrong"]},
        notes=("a note",),
        limits={"backlog": {"doubtful": 1.0}},
        provenance=Provenance((Part("file", "main.go", "9f"),), (Part("setting", "a", "1"),)),
    )


def put(results: Results, what: Recording, logs: dict[str, str] | None = None, **rows: Any) -> None:
    """Records a trial with some tables."""
    with results.trial(what.trial) as into:
        documents.keep_recording(what, into)
        for name, content in (logs or {}).items():
            (into / name).write_text(content, encoding="utf-8")
        for name, table in rows.items():
            pq.write_table(table, into / f"{name}.parquet")


def requests(count: int, seconds: float = 3.0, seed: int = 1) -> pa.Table:
    """Requests of some seconds: one in ten failed, one in a hundred never ended."""
    generator = np.random.default_rng(seed)
    due = np.sort(generator.integers(0, int(seconds * SECOND_NS), count))
    sent = due + generator.integers(0, 50_000, count)
    first = sent + generator.integers(100_000, 900_000_000, count)
    kind = generator.random(count)
    unfinished, failed = kind < 0.01, (kind >= 0.01) & (kind < 0.1)
    outcome = np.select([unfinished, failed], ["unfinished", "timed_out_waiting"], "ok")
    columns = {
        "due_ns": pa.array(due),
        "sent_ns": pa.array(sent),
        "first_byte_ns": pa.array(first, mask=unfinished | failed),
        "done_ns": pa.array(first + generator.integers(0, 1_000_000, count), mask=unfinished),
        "received_bytes": pa.array(generator.integers(0, 2**32, count), pa.uint32()),
        "request": pa.array(generator.integers(0, 2**16, count), pa.uint16()),
        "connection": pa.array(generator.integers(0, 2**32, count), pa.uint32(), mask=failed),
        "worker": pa.array(np.zeros(count), pa.uint16()),
        "host": pa.array(["local"] * count).dictionary_encode(),
        "status": pa.array(np.full(count, 200), pa.uint16(), mask=unfinished | failed),
        "outcome": pa.array(outcome.tolist()).dictionary_encode(),
        "errno": pa.array(np.full(count, 255), pa.uint8(), mask=~failed),
        "sent_bytes": pa.nulls(count, pa.uint32()),
    }
    return shaped(tables.REQUESTS, columns)


def shaped(table: tables.Table, columns: dict[str, Any]) -> pa.Table:
    """Columns as rows of a table; those that are not given are null."""
    count = len(next(iter(columns.values())))
    arrays = [
        columns.get(field.name, pa.nulls(count, field.type)).cast(field.type)
        for field in table.schema
    ]
    return pa.table(arrays, schema=table.schema)


def in_order(rows: pa.Table) -> list[str]:
    """Rows in an order of their own, for a database has none; as texts, for NaN is not itself."""
    return sorted(repr(row) for row in rows.to_pylist())
