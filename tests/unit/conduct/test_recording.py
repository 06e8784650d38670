from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from plimsoll import tables
from plimsoll.conduct import recording
from plimsoll.drivers import records
from plimsoll.errors import EngineFailed
from plimsoll.recording import HOST, writing
from plimsoll.recording.readings import Reading

if TYPE_CHECKING:
    from plimsoll._engine import Layout

LOCAL = recording.RecordSource(HOST, Path())
NEVER = 2**64 - 1
NONE = 2**32 - 1


def requests(**columns: list[int]) -> np.ndarray[Any, Any]:
    rows = len(next(iter(columns.values())))
    made = np.zeros(rows, records.record_dtype("requests"))
    for name, values in columns.items():
        made[name] = values
    return made


def test_the_type_of_a_record_is_that_of_its_layout() -> None:
    layout: Layout = {"size": 12, "fields": [("a", 0, "u64"), ("b", 8, "u16"), ("c", 10, "u8")]}
    dtype = records.dtype(layout)
    assert dtype.itemsize == 12
    made = np.frombuffer(bytes([1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 9, 255]), dtype)
    assert made[0].tolist() == (1, 258, 9)


def test_the_engines_records_have_every_column_but_host_and_length_of_the_request() -> None:
    for table in recording.RECORDED:
        names = {column.name for column in table.columns}
        assert set(records.record_dtype(table.name).names or ()) == names - {"host", "sent_bytes"}


def test_marks_for_none_become_nulls() -> None:
    chunk = requests(
        due_ns=[5, 6],
        sent_ns=[7, NEVER],
        first_byte_ns=[8, NEVER],
        done_ns=[9, NEVER],
        body_bytes=[12, NONE],
        compared=[1, NONE],
        connection=[3, NONE],
        status=[200, 0],
        errno=[0, 111],
        outcome=[0, 51],
    )
    rows = recording.arrow(tables.REQUESTS, chunk, LOCAL, [HOST]).to_pylist()
    assert rows[0] == {
        "due_ns": 5,
        "sent_ns": 7,
        "first_byte_ns": 8,
        "done_ns": 9,
        "received_bytes": 0,
        "body_bytes": 12,
        "compared": True,
        "request": 0,
        "connection": 3,
        "worker": 0,
        "host": "local",
        "status": 200,
        "outcome": "ok",
        "errno": None,
        "sent_bytes": None,
    }
    nulls = {name for name, value in rows[1].items() if value is None}
    unsaid = {"sent_ns", "first_byte_ns", "done_ns", "connection", "status", "sent_bytes"}
    assert nulls == unsaid | {"body_bytes", "compared"}
    assert rows[1]["errno"] == 111
    assert rows[1]["outcome"] == "not_sent"


def test_an_outcome_the_engine_does_not_name_is_refused() -> None:
    with pytest.raises(EngineFailed, match="200"):
        recording.arrow(tables.REQUESTS, requests(outcome=[0, 200]), LOCAL, [HOST])


def test_a_file_that_ends_within_a_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "requests.bin").write_bytes(bytes(57))
    with pytest.raises(EngineFailed, match="truncated last record"):
        recording.convert(tables.REQUESTS, tmp_path)


def test_a_file_is_converted_in_chunks(tmp_path: Path) -> None:
    made = requests(due_ns=list(range(10)))
    made.tofile(tmp_path / "requests.bin")
    sizes = [len(c) for c in recording.chunks(tmp_path / "requests.bin", made.dtype, rows=4)]
    assert sizes == [4, 4, 2]


def test_no_file_is_no_table(tmp_path: Path) -> None:
    assert recording.convert(tables.CONNECTIONS, tmp_path) == 0
    assert list(tmp_path.iterdir()) == []


def values(dtype: np.dtype[Any]) -> st.SearchStrategy[int]:
    """Any value, the greatest one often; instants fit the signed type they are stored in."""
    greatest = int(np.iinfo(dtype).max)
    most = 2**63 - 1 if dtype.itemsize == 8 else greatest
    return st.one_of(st.integers(0, most), st.just(greatest))


@st.composite
def chunks_of(draw: st.DrawFn, table: tables.Table) -> np.ndarray[Any, Any]:
    dtype = records.record_dtype(table.name)
    made = np.zeros(draw(st.integers(0, 20)), dtype)
    for name in dtype.names or ():
        kind = dtype[name]
        elements = values(kind)
        if name == "outcome":
            elements = st.sampled_from(sorted(records.outcome_names()))
        if name == "compared":
            elements = st.sampled_from((0, 1, NONE))
        if name == "resumed":
            elements = st.sampled_from((0, 1, np.iinfo(kind).max))
        if name == "alert":
            elements = st.one_of(st.integers(0, 255), st.just(np.iinfo(kind).max))
        if name == "due_ns":
            elements = st.integers(0, 2**63 - 1)
        made[name] = draw(hnp.arrays(kind, len(made), elements=elements))
    return made


def again(table: tables.Table, stored: pa.Table) -> Iterator[tuple[int, ...]]:
    """The engine's records that a stored table stands for."""
    codes = {name: code for code, name in records.outcome_names().items()}
    dtype = records.record_dtype(table.name)
    for row in stored.to_pylist():
        row["outcome"] = codes[row["outcome"]]
        empty = {
            name: 0 if name in ("status", "errno") else int(np.iinfo(dtype[name]).max)
            for name in dtype.names or ()
        }
        yield tuple(empty[n] if row[n] is None else row[n] for n in dtype.names or ())


@pytest.mark.parametrize("table", recording.RECORDED, ids=lambda table: table.name)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_what_is_stored_is_what_is_read_back(
    table: tables.Table, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    made = data.draw(chunks_of(table))
    made.tofile(folder / f"{table.name}.bin")
    assert recording.convert(table, folder) == len(made)
    stored = pq.read_table(folder / f"{table.name}.parquet")
    assert stored.schema.equals(table.schema)
    assert list(again(table, stored)) == [tuple(row) for row in made.tolist()]


def test_instants_of_readings_are_counted_from_the_zero_of_the_trial(tmp_path: Path) -> None:
    readings = [
        Reading(1_500, "driver", "in_flight", 3.0),
        Reading(900, "machine", "core_busy_s", 1.5),
    ]
    writing.write_usage(readings, tmp_path / "usage.parquet", 1_000)
    stored = pq.read_table(tmp_path / "usage.parquet")
    assert stored.schema.equals(tables.USAGE.schema)
    assert [tuple(row.values()) for row in stored.to_pylist()] == [
        (-100, "local", "machine", "core_busy_s", 1.5),
        (500, "local", "driver", "in_flight", 3.0),
    ]


def test_no_readings_are_an_empty_table(tmp_path: Path) -> None:
    writing.write_usage([], tmp_path / "usage.parquet")
    assert pq.read_table(tmp_path / "usage.parquet").num_rows == 0


def test_instants_are_stored_as_differences(tmp_path: Path) -> None:
    requests(due_ns=list(range(0, 10_000, 10))).tofile(tmp_path / "requests.bin")
    recording.convert(tables.REQUESTS, tmp_path)
    group = pq.ParquetFile(tmp_path / "requests.parquet").metadata.row_group(0)
    columns = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    assert "DELTA_BINARY_PACKED" in columns["due_ns"].encodings
    assert columns["due_ns"].compression == "ZSTD"
