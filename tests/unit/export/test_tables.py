"""Parquet: the tables as they are documented."""

import json
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plimsoll import tables
from plimsoll.aggregate.trial import Tables
from plimsoll.export import parquet
from recordings import read_trial, simulate, write_trial

TABLES = [table for table in tables.TABLES if table.name != "comparisons"]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_every_table_has_the_documented_columns_and_types(tmp_path, table):
    parquet.write(simulate(), tmp_path)
    assert pq.read_table(tmp_path / f"{table.name}.parquet").schema == table.schema


@pytest.mark.parametrize("name", ["requests", "connections", "usage"])
def test_recorded_tables_are_the_same_rows(tmp_path, name, monkeypatch):
    monkeypatch.setattr(parquet, "ROWS", 1000)
    source, into = tmp_path / "source", tmp_path / "into"
    into.mkdir()
    of_trial = read_trial(source, write_trial(source))
    parquet.write(of_trial, into)
    found = pq.read_table(into / f"{name}.parquet").to_pylist()
    recorded = pq.read_table(source / f"{name}.parquet").to_pylist()
    length = {"sent_bytes": of_trial.recording.request_bytes[0]} if name == "requests" else {}
    assert found == [row | length for row in recorded]
    assert json.loads((into / "trial.json").read_text()) == json.loads(
        (source / "trial.json").read_text()
    )


@pytest.mark.parametrize(
    ("lengths", "expected"), [((100,), {100}), ((), {None})], ids=["known", "unknown"]
)
def test_requests_have_the_bytes_of_those_that_were_sent(tmp_path, lengths, expected):
    made = simulate()
    whole: Any = made.requests
    requests = whole.slice(0, 5)
    at = requests.schema.get_field_index("sent_ns")
    sent = pa.array([None, *requests["sent_ns"].to_pylist()[1:]], pa.int64())
    stated = pa.array([None, 7, None, None, None], pa.uint32())
    requests = requests.set_column(at, "sent_ns", sent)
    at = requests.schema.get_field_index("sent_bytes")
    requests = requests.set_column(at, "sent_bytes", stated)
    recording = replace(made.recording, request_bytes=lengths)
    parquet.write(replace(made, recording=recording, requests=requests), tmp_path)
    found = pq.read_table(tmp_path / "requests.parquet")["sent_bytes"].to_pylist()
    assert (found[:2], set(found[2:])) == ([None, 7], expected)


def test_seconds_and_summary_are_those_of_the_trial(tmp_path):
    of_trial = simulate()
    parquet.write(of_trial, tmp_path)
    assert pq.read_table(tmp_path / "seconds.parquet").equals(of_trial.seconds)
    (summary,) = pq.read_table(tmp_path / "summaries.parquet").to_pylist()
    assert {**summary, **of_trial.summary.row} == summary
    assert summary["framework"] == of_trial.recording.title


def test_a_trial_without_tables_has_empty_ones(tmp_path):
    recording = simulate(tables=False).recording
    assert parquet.write(Tables(recording), tmp_path) == ()
    assert pq.read_table(tmp_path / "requests.parquet").num_rows == 0
