"""Rows of a reader become tables, counted from the first request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from plimsoll import tables
from plimsoll.errors import InputError
from plimsoll.intake import limits, recorded
from plimsoll.intake.rows import ROWS, ImportStats
from plimsoll.recording import HOST, Driver, writing
from plimsoll.recording.readings import Reading

S = 1_000_000_000
DAY = 1_600_000_000 * S


def batch(*sent_ns: int, **changes: list[Any]) -> pa.RecordBatch:
    """Requests sent at some instants, each answered after ten nanoseconds."""
    count = len(sent_ns)
    columns: dict[str, list[Any]] = {
        "due_ns": [None] * count,
        "sent_ns": list(sent_ns),
        "first_byte_ns": [at + 5 for at in sent_ns],
        "done_ns": [at + 10 for at in sent_ns],
        "received_bytes": [100] * count,
        "sent_bytes": [50] * count,
        "body_bytes": [None] * count,
        "kind": ["a"] * count,
        "status": [200] * count,
        "outcome": ["ok"] * count,
        "errno": [None] * count,
        "connect_ns": [None] * count,
        "threads": [None] * count,
        "engine": [None] * count,
    }
    return pa.RecordBatch.from_pydict(columns | changes, schema=ROWS)


def requests(folder: Path) -> list[dict[str, Any]]:
    table = pq.read_table(folder / "requests.parquet")
    assert table.schema.names == tables.REQUESTS.schema.names
    return table.to_pylist()


def test_the_first_request_is_at_zero_wherever_it_stands(tmp_path: Path) -> None:
    batches = [batch(DAY + 30, DAY + 20), batch(DAY + 7, DAY + 40)]
    written = recorded.merge({HOST: batches}, tmp_path, None)
    assert [row["sent_ns"] for row in requests(tmp_path)] == [23, 13, 0, 33]
    assert [row["done_ns"] for row in requests(tmp_path)] == [33, 23, 10, 43]
    assert written.zero_utc_ns == DAY + 7
    assert (written.rows, written.last_ns) == (4, 43)
    assert written.first_ns == {"local": 0}


def test_a_zero_that_is_given_stays(tmp_path: Path) -> None:
    recorded.merge({HOST: [batch(DAY + 30), batch(DAY + 7)]}, tmp_path, DAY + 10)
    assert [row["sent_ns"] for row in requests(tmp_path)] == [20, -3]


def test_what_is_unknown_stays_null(tmp_path: Path) -> None:
    nothing = {name: [None] for name in ("received_bytes", "sent_bytes", "status", "done_ns")}
    recorded.merge(
        {HOST: [batch(5, first_byte_ns=[None], outcome=["unfinished"], **nothing)]}, tmp_path, 0
    )
    (row,) = requests(tmp_path)
    known = {name for name, value in row.items() if value is not None}
    assert known == {"sent_ns", "request", "worker", "host", "outcome"}


def test_kinds_are_numbered_as_they_come_and_the_unnamed_have_a_name(tmp_path: Path) -> None:
    batches = [batch(1, 2, kind=["b", "a"]), batch(3, 4, kind=["a", None])]
    written = recorded.merge({HOST: batches}, tmp_path, None)
    assert written.kinds == ("b", "a", recorded.UNNAMED)
    assert [row["request"] for row in requests(tmp_path)] == [0, 1, 1, 2]


def test_more_kinds_than_can_be_told_apart_are_refused(tmp_path: Path) -> None:
    names = [str(number) for number in range(limits.NAMES.most + 1)]
    with pytest.raises(InputError, match="request names"):
        recorded.merge({HOST: [batch(*range(len(names)), kind=names)]}, tmp_path, None)


def test_hosts_are_put_together_by_one_zero(tmp_path: Path) -> None:
    sources = {"one": [batch(DAY + 50)], "two": [batch(DAY + 20), batch(DAY + 90)], "none": []}
    written = recorded.merge(sources, tmp_path, None)
    assert [(row["host"], row["sent_ns"]) for row in requests(tmp_path)] == [
        ("one", 30), ("two", 0), ("two", 70),
    ]  # fmt: skip
    assert written.first_ns == {"one": 30, "two": 0}
    assert written.ends_ns == {"one": 40, "two": 80}


def test_without_a_row_there_is_no_table(tmp_path: Path) -> None:
    assert recorded.merge({HOST: [batch()]}, tmp_path, None).rows == 0
    assert list(tmp_path.iterdir()) == []


def test_a_time_to_connect_is_an_attempt_and_0_is_none(tmp_path: Path) -> None:
    written = recorded.merge({HOST: [batch(10, 20, 30, connect_ns=[3, 0, 4])]}, tmp_path, None)
    table = pq.read_table(tmp_path / "connections.parquet").to_pylist()
    assert [(row["due_ns"], row["connected_ns"]) for row in table] == [(0, 3), (20, 24)]
    assert {row["outcome"] for row in table} == {None}
    assert (written.connections, written.has_connects) == (2, True)


def test_a_failed_connect_is_an_attempt_that_never_was_complete(tmp_path: Path) -> None:
    failed = batch(10, 20, outcome=["connect_refused", "ok"], errno=[111, None])
    written = recorded.merge({HOST: [failed]}, tmp_path, None)
    (row,) = pq.read_table(tmp_path / "connections.parquet").to_pylist()
    assert (row["connected_ns"], row["outcome"], row["errno"]) == (None, "connect_refused", 111)
    assert not written.has_connects


def test_threads_are_readings_of_each_second_at_which_requests_ended(tmp_path: Path) -> None:
    rows = batch(DAY, DAY + 1, DAY + 2 * S, DAY + 3 * S, threads=[3, 5, 2, None])
    written = recorded.merge({HOST: [rows]}, tmp_path, None)
    assert [(one.at_ns // S, one.value) for one in written.readings] == [(0, 5.0), (2, 2.0)]
    assert {one.quantity for one in written.readings} <= {one.name for one in tables.QUANTITIES}


def test_requests_that_began_before_the_second_of_the_first_response_are_counted(
    tmp_path: Path,
) -> None:
    ends: list[int | None] = [DAY + 3 * S, None, DAY + 3 * S + 1]
    first = batch(DAY, DAY + S, DAY + S + 1, done_ns=ends)
    late = batch(DAY + 2 * S, DAY + 5 * S, done_ns=[DAY + 6 * S, DAY + 6 * S])
    for batches in ([first, late], [late, first]):
        assert recorded.merge({HOST: batches}, tmp_path, None).begun == {0: 1, 1: 3, 2: 4}
    assert recorded.merge({HOST: [batch(DAY)]}, tmp_path, None).begun == {}


def test_threads_of_several_engines_in_one_file_are_readings_of_each(tmp_path: Path) -> None:
    users = {"threads": [3, 5, 4], "engine": ["b", "a", "b"]}
    batches = [batch(DAY, DAY + 1, DAY + 2, **users), batch(DAY + 3, threads=[7], engine=["a"])]
    written = recorded.merge({HOST: batches}, tmp_path, None)
    found = {(one.host, one.value) for one in written.readings}
    assert found == {("local a", 7.0), ("local b", 4.0)}
    one = recorded.merge({HOST: [batch(DAY, threads=[7], engine=["a"])]}, tmp_path, None)
    assert [one.host for one in one.readings] == [HOST]


def test_row_groups_bound_the_memory(tmp_path: Path) -> None:
    with patch.object(recorded, "CHUNK_ROWS", 3):
        recorded.merge({HOST: [batch(1, 2), batch(3, 4), batch(5)]}, tmp_path, None)
    groups = pq.ParquetFile(tmp_path / "requests.parquet").metadata
    assert groups.num_row_groups > 1
    assert [row["sent_ns"] for row in requests(tmp_path)] == [0, 1, 2, 3, 4]


def test_only_files_with_a_request_say_what_a_log_lacks(tmp_path: Path) -> None:
    written = recorded.merge({HOST: [batch(DAY)]}, tmp_path, None)
    full = ImportStats("full", kept=1, durations_step_s=0.001, users_bound="certain")
    bare = ImportStats(
        "bare", broken=2, missing=3, has_outcomes=False, has_failures=False, instants_step_s=1.0,
        durations_step_s=0.5, users_bound="none",
    )  # fmt: skip
    driver = Driver(name="jmeter", version="", cores=(), threads=1, ended_by="")
    found = recorded.with_capabilities(driver, written, [full, bare])
    assert (found.has_outcomes, found.has_failures, found.users_bound) == (True, True, "certain")
    assert (found.instants_step_s, found.durations_step_s) == (0.0, 0.001)
    assert (found.lines_malformed, found.rows_missing) == (2, 3)
    alone = recorded.with_capabilities(driver, written, [bare])
    assert (alone.has_outcomes, alone.instants_step_s, alone.users_bound) == (False, 1.0, "none")


def test_an_error_of_the_reader_is_passed_on(tmp_path: Path) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield batch(1)
        raise InputError([])

    with pytest.raises(InputError):
        recorded.merge({HOST: broken()}, tmp_path, None)


def test_readings_are_written_by_rising_instant(tmp_path: Path) -> None:
    path = tmp_path / "usage.parquet"
    readings = [
        Reading(5, "server", "busy_cores", 2.0, "b"),
        Reading(-3, "driver", "x", 1.0, "a"),
    ]
    writing.write_usage(readings, path)
    table = pq.read_table(path)
    assert table.schema.names == tables.USAGE.schema.names
    assert table["at_ns"].to_pylist() == [-3, 5]
