"""CSV of each second: the study's columns, counted and averaged by hand."""

import csv
from pathlib import Path

import pytest

from plimsoll.aggregate.trial import Tables
from plimsoll.export import seconds
from recordings import request_rows, simulate, usage_rows

S = 1_000_000_000
MS = 1_000_000
RECORDING = simulate(warm_up_s=0, ramp_s=0, hold_s=3.0).recording


def answer(start_ms, elapsed_ms, latency_ms=1, **more):
    sent = start_ms * MS
    times = {"sent_ns": sent, "first_byte_ns": sent + latency_ms * MS}
    return {"due_ns": sent, **times, "done_ns": sent + elapsed_ms * MS, **more}


def written(folder, *requests, usage=()):
    """Both files, line by line, and what could not be said."""
    of_trial = Tables(RECORDING, request_rows(*requests), None, usage_rows(*usage))
    unsaid = seconds.write(of_trial, folder)
    return (*(rows_of(folder / name) for name in seconds.FILES), unsaid)


def rows_of(path: Path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_second_has_the_columns_of_the_study(tmp_path):
    right, _, _ = written(
        tmp_path,
        *(answer(100, elapsed, latency_ms=elapsed - 1) for elapsed in (10, 20, 30, 40)),
        usage=[
            (0.0, "server", "cpu_user_s", 0.0), (3.0, "server", "cpu_user_s", 4.5),
            (0.0, "server", "cpu_system_s", 0.0), (3.0, "server", "cpu_system_s", 1.5),
            (0.0, "driver", "connections_open", 8), (3.0, "driver", "connections_open", 8),
        ],
    )  # fmt: skip
    assert right[0] == {
        "second": "0",
        "requests": "4",
        "elapsed_mean_ms": "25.000000",
        "threads_mean": "8.000",
        "latency_mean_ms": "24.000000",
        "elapsed_p25_ms": "17.500000",
        "elapsed_p50_ms": "25.000000",
        "elapsed_p75_ms": "32.500000",
        "elapsed_p95_ms": "38.500000",
        "cpu_percent": "200.000",
    }


def test_successes_and_failures_are_apart(tmp_path):
    right, failed, _ = written(
        tmp_path,
        answer(0, 10),
        answer(0, 500, outcome="wrong_status"),
        {"due_ns": 0, "sent_ns": 0, "done_ns": 900 * MS, "outcome": "timed_out_waiting"},
    )
    assert (right[0]["requests"], right[0]["elapsed_mean_ms"]) == ("1", "10.000000")
    assert (failed[0]["requests"], failed[0]["elapsed_mean_ms"]) == ("2", "700.000000")
    assert failed[0]["latency_mean_ms"] == "1.000000"


def test_an_answer_counts_in_the_second_in_which_it_was_complete(tmp_path):
    right, _, _ = written(tmp_path, answer(990, 20))
    assert [row["requests"] for row in right] == ["0", "1", "0"]


def test_a_second_in_which_nothing_ended_is_a_line_with_a_zero_and_no_times(tmp_path):
    right, failed, _ = written(tmp_path, answer(0, 10), answer(2000, 10))
    assert [row["second"] for row in right] == [row["second"] for row in failed] == ["0", "1", "2"]
    assert (right[1]["requests"], right[1]["elapsed_p50_ms"]) == ("0", "")


def test_a_request_that_was_never_sent_counts_where_it_was_due_and_has_no_times(tmp_path):
    _, failed, _ = written(tmp_path, {"due_ns": 1500 * MS, "outcome": "not_sent"})
    assert [row["requests"] for row in failed] == ["0", "1", "0"]
    assert failed[1]["elapsed_mean_ms"] == ""


def test_a_refused_connection_is_a_failure_without_an_elapsed_time(tmp_path):
    refused = {"due_ns": 0, "done_ns": MS, "outcome": "connect_refused"}
    _, failed, _ = written(tmp_path, refused, answer(0, 4, outcome="wrong_body"))
    assert (failed[0]["requests"], failed[0]["elapsed_mean_ms"]) == ("2", "4.000000")


def test_requests_in_flight_at_the_end_count_nowhere(tmp_path):
    right, failed, _ = written(tmp_path, {"due_ns": 0, "sent_ns": 1, "outcome": "unfinished"})
    assert {row["requests"] for row in (*right, *failed)} == {"0"}


def test_a_column_that_was_not_read_is_empty_and_named(tmp_path):
    right, _, unsaid = written(tmp_path, answer(0, 10))
    assert (right[0]["cpu_percent"], right[0]["threads_mean"]) == ("", "")
    assert [sentence.split()[0] for sentence in unsaid] == ["`threads_mean`", "`cpu_percent`"]


@pytest.mark.parametrize("rows", [1, 7, 10_000])
def test_the_seconds_are_the_same_however_few_rows_are_looked_at_at_a_time(
    tmp_path, monkeypatch, rows
):
    of_trial = simulate(failures={"wrong_status": 0.05, "reset_waiting": 0.05})
    seconds.write(of_trial, tmp_path)
    whole = [(tmp_path / name).read_text() for name in seconds.FILES]
    monkeypatch.setattr("plimsoll.aggregate.seconds.BATCH_ROWS", rows)
    seconds.write(of_trial, tmp_path)
    assert [(tmp_path / name).read_text() for name in seconds.FILES] == whole


def test_counts_are_those_of_the_table_of_seconds(tmp_path):
    of_trial = simulate(failures={"wrong_status": 0.05, "reset_waiting": 0.05}, starved=2)
    seconds.write(of_trial, tmp_path)
    for name, column in zip(seconds.FILES, ("ok", "failed"), strict=True):
        counted = [int(row["requests"]) for row in rows_of(tmp_path / name)]
        assert counted == of_trial.seconds[column].to_pylist()


def test_users_that_another_tool_counted_are_its_threads(tmp_path):
    readings = [(0.5, "driver", "users_active", 9000.0), (2.5, "driver", "users_active", 9000.0)]
    right, _, unsaid = written(tmp_path, answer(0, 10), usage=readings)
    assert [row["threads_mean"] for row in right] == ["9000.000"] * 3
    assert [sentence.split()[0] for sentence in unsaid] == ["`cpu_percent`"]
