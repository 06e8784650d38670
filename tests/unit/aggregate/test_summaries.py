from dataclasses import replace

import pytest

from plimsoll import tables
from plimsoll.aggregate.summaries import summaries, summary
from recordings import connection_rows, request_rows, simulate, usage_rows

S = 1_000_000_000
CLEAN = simulate(warm_up_s=1.0, ramp_s=0, hold_s=4.0).recording


def summary_of(*requests, connections=(), readings=None):
    rows = connection_rows(*connections)
    return summary(CLEAN, request_rows(*requests), rows, readings)


def answers(count, start_ns, **more):
    return [
        {
            "due_ns": start_ns,
            "sent_ns": start_ns + 10,
            "first_byte_ns": start_ns + 15,
            "done_ns": start_ns + 10 + k,
            "received_bytes": 100,
            **more,
        }
        for k in range(10, 10 + count)
    ]


def test_a_summary_has_every_column_of_the_dictionary():
    found = simulate().summary
    names = [column.name for column in tables.IDENTITY]
    assert [*names, *found.row] == tables.SUMMARIES.schema.names
    assert summaries([(CLEAN, found)]).schema == tables.SUMMARIES.schema


def test_a_trial_without_tables_has_a_summary_of_nothing():
    row = summary(CLEAN, None, None, None)
    assert (row.completed, row.throughput_per_s, row.failure_ratio) == (0, 0.0, None)
    assert row.response_time.p50_ns is None
    (known,) = summaries([(CLEAN, row)]).to_pylist()
    assert (known["framework"], known["endpoint"], known["repetition"]) == (
        CLEAN.title, CLEAN.endpoint, CLEAN.repetition,
    )  # fmt: skip


def test_only_the_hold_counts():
    row = summary_of(*answers(10, 0), *answers(40, S), *answers(7, 5 * S))
    assert row.completed == 40
    assert row.duration_s == 4.0
    assert row.throughput_per_s == 10.0
    assert row.received_bytes_per_s == 1000.0


def test_goodput_and_failure_ratio_are_about_right_answers():
    reset = {"due_ns": S, "sent_ns": S, "done_ns": S + 9, "outcome": "reset_waiting", "errno": 104}
    row = summary_of(*answers(30, S), *answers(6, S, outcome="wrong_body"), *[reset] * 4)
    assert (row.completed, row.ok, row.failed) == (36, 30, 10)
    assert row.throughput_per_s == 9.0
    assert row.goodput_per_s == 7.5
    assert row.failure_ratio == 0.25


def test_times_are_of_complete_answers_right_or_wrong():
    late = {"due_ns": S, "sent_ns": S, "done_ns": 3 * S, "outcome": "timed_out_waiting"}
    row = summary_of(*answers(20, S), *answers(20, S, outcome="wrong_status"), late)
    assert row.service_time.min_ns == 10
    assert row.service_time.p50_ns == 19
    assert row.service_time.max_ns == 29
    assert row.service_time.mean_ns == pytest.approx(19.5)
    assert row.response_time.max_ns == 39
    assert row.lag.p50_ns == 10
    assert row.first_byte.p50_ns == 5


def test_a_percentile_with_too_few_rows_is_null():
    row = summary_of(*answers(999, S))
    assert row.response_time.p95_ns is not None
    assert row.response_time.p99_ns is None


def test_what_is_in_flight_at_the_very_end_is_unfinished():
    row = summary_of({"due_ns": 5 * S - 9, "sent_ns": 5 * S - 8, "outcome": "unfinished"})
    assert (row.unfinished, row.failed, row.failure_ratio) == (1, 0, None)


def test_connections_are_counted_over_the_whole_trial():
    row = summary_of(
        connections=[
            {"connected_ns": 5, "closed_ns": 20, "outcome": "closed_as_announced"},
            {"connected_ns": 10},
            {"connected_ns": 20, "closed_ns": 30, "outcome": "reset_waiting", "errno": 104},
            {"connected_ns": 40, "responses": 0},
            {"closed_ns": 9, "outcome": "connect_refused", "errno": 111, "responses": 0},
        ]
    )
    names = ("opened", "with_response", "refused", "lost", "peak_open")
    assert [row.value(f"connections_{name}") for name in names] == [4, 3, 1, 1, 3]
    assert row.connect.max_ns == 40


def test_processor_time_for_each_request_follows_from_busy_cores():
    readings = usage_rows(
        *((at_s, "server", "cpu_user_s", 0.5 * at_s) for at_s in (0.0, 1.0, 5.0)),
        *((at_s, "server", "cpu_system_s", 0.0) for at_s in (0.0, 1.0, 5.0)),
    )
    row = summary_of(*answers(200, S), readings=readings)
    assert row.server_busy_cores == pytest.approx(0.5)
    assert row.server_cpu_s_per_request == pytest.approx(0.01)
    assert row.requests_per_core_s == pytest.approx(100.0)


def test_two_holds_are_summarised_together():
    first, hold = CLEAN.stages
    halves = (
        replace(hold, end_ns=2 * S),
        replace(first, kind="ramp", start_ns=2 * S, end_ns=4 * S),
    )
    stages = (first, *halves, replace(hold, start_ns=4 * S))
    rows = request_rows(*answers(5, S), *answers(50, 2 * S), *answers(5, 4 * S))
    row = summary(replace(CLEAN, stages=stages), rows, None, None)
    assert (row.completed, row.duration_s) == (10, 2.0)
