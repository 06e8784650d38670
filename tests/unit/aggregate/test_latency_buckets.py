"""Responses by time and latency."""

import math
from collections import Counter
from dataclasses import replace

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import latency_buckets
from plimsoll.aggregate.trial import Tables
from recordings import request_rows, simulate

LENGTH_S = 40


def found(trial: Tables, length_s: int = LENGTH_S) -> list[dict[str, int]]:
    return latency_buckets.of_trial(trial.recording, trial.requests, length_s).to_pylist()


def requests(trial: Tables) -> pa.Table:
    assert isinstance(trial.requests, pa.Table)
    return trial.requests


def test_every_complete_response_is_counted_in_its_second_and_bucket() -> None:
    trial = simulate(failures={"reset_waiting": 0.02}, warm_up_s=2)
    (hold,) = trial.recording.holds
    completed, held = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for row in requests(trial).to_pylist():
        if row["outcome"] != "ok":
            continue
        bucket = math.floor(10 * math.log10(row["done_ns"] - row["due_ns"]))
        key = row["done_ns"] // 1_000_000_000, bucket
        completed[key] += 1
        held[key] += hold.start_ns <= row["done_ns"] < hold.end_ns
    rows = found(trial)
    assert {(row["second"], row["bucket"]): row["completed"] for row in rows} == completed
    assert {(row["second"], row["bucket"]): row["held"] for row in rows} == dict(
        (key, held[key]) for key in completed
    )
    assert sum(row["held"] for row in rows) == trial.summary.completed
    assert sum(held.values()) < sum(completed.values())


def test_a_latency_lies_between_the_ends_of_its_bucket() -> None:
    latencies = [1, 9, 10, 11, 999, 1_000, 1_001, 10**6, 10**9 - 1, 10**9]
    rows = request_rows(
        *({"due_ns": 0, "sent_ns": 0, "done_ns": one, "outcome": "ok"} for one in latencies)
    )
    trial = simulate(tables=False)
    counted = Counter[int]()
    for row in latency_buckets.of_trial(trial.recording, rows, 1).to_pylist():
        counted[row["bucket"]] += row["completed"]
    for one in latencies:
        bucket = next(
            number
            for number in counted
            if latency_buckets.low_ns(number) <= one < latency_buckets.low_ns(number + 1)
        )
        counted[bucket] -= 1
    assert not any(counted.values())


def test_a_long_trial_has_as_few_columns_as_one_that_just_fits() -> None:
    trial = simulate()
    each, joined = found(trial), found(trial, latency_buckets.MOST_COLUMNS * 2 + 1)
    assert {row["seconds"] for row in each} == {1}
    assert {row["seconds"] for row in joined} == {3}
    assert {row["second"] % 3 for row in joined} == {0}
    totals = [Counter[tuple[int, int]](), Counter[tuple[int, int]]()]
    for total, rows in zip(totals, (each, joined), strict=True):
        for row in rows:
            total[row["second"] // 3, row["bucket"]] += row["completed"]
    assert totals[0] == totals[1]


def test_the_service_time_is_told_where_intended_starts_are_unknown() -> None:
    trial = simulate()
    rows = requests(trial)
    place = rows.schema.get_field_index("due_ns")
    unknown = rows.set_column(place, "due_ns", pa.nulls(rows.num_rows, pa.int64()))
    assert {row["time"] for row in found(trial)} == {"response_time"}
    assert {row["time"] for row in found(replace(trial, requests=unknown))} == {"service_time"}


def test_a_trial_without_rows_has_no_cell() -> None:
    table = latency_buckets.of_trial(simulate(tables=False).recording, None, LENGTH_S)
    assert table.num_rows == 0
    assert table.schema == tables.LATENCY_BUCKETS.schema
