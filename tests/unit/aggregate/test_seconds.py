from dataclasses import replace

import pytest

from plimsoll import tables
from plimsoll.aggregate.seconds import level
from plimsoll.recording import RecordedStage
from recordings import request_rows, seconds, simulate, usage_rows

S = 1_000_000_000
CLEAN = simulate(warm_up_s=0, ramp_s=0, hold_s=3.0).recording


def rows_of(*requests, usage=None):
    return seconds(CLEAN, request_rows(*requests), usage).to_pylist()


def answer(due, sent, first, done, **more):
    times = {"due_ns": due, "sent_ns": sent, "first_byte_ns": first, "done_ns": done}
    return {**times, "received_bytes": 100, **more}


def test_the_seconds_have_every_column_of_the_dictionary():
    assert simulate().seconds.schema == tables.SECONDS.schema


def test_a_second_without_an_answer_is_a_row_of_zeros():
    rows = rows_of(answer(0, 1, 2, 3), answer(2 * S, 2 * S + 1, 2 * S + 2, 2 * S + 9))
    assert [row["second"] for row in rows] == [0, 1, 2]
    silent = rows[1]
    assert [silent[name] for name in ("due", "completed", "ok", "failed", "received_bytes")] == [
        0
    ] * 5
    assert silent["response_time_p50_ns"] is None
    assert silent["response_time_max_ns"] is None


def test_a_trial_without_tables_has_seconds_of_zeros():
    rows = seconds(CLEAN, None, None).to_pylist()
    assert [row["completed"] for row in rows] == [0, 0, 0]
    assert [row["stage"] for row in rows] == ["hold"] * 3


def test_an_answer_counts_where_it_was_complete_and_a_request_where_it_was_due():
    rows = rows_of(answer(S - 10, S - 5, S + 1, S + 10))
    assert [(row["due"], row["completed"]) for row in rows] == [(1, 0), (0, 1), (0, 0)]


def test_wrong_answers_are_complete_and_failed():
    rows = rows_of(answer(0, 1, 2, 3, outcome="wrong_status"))
    assert (rows[0]["completed"], rows[0]["ok"], rows[0]["failed"]) == (1, 0, 1)


def test_failures_are_counted_and_have_no_times():
    rows = rows_of(
        {"due_ns": 0, "sent_ns": 1, "done_ns": 5, "outcome": "timed_out_waiting"},
        {"due_ns": S, "outcome": "not_sent"},
        {"due_ns": S, "sent_ns": S, "outcome": "unfinished"},
        {"due_ns": S, "outcome": "cancelled"},
    )
    assert [(row["completed"], row["failed"], row["due"]) for row in rows] == [
        (0, 1, 1),
        (0, 1, 3),
        (0, 0, 0),
    ]
    assert rows[0]["response_time_max_ns"] is None


def test_times_are_response_time_from_due_and_service_time_from_sent():
    rows = rows_of(*(answer(0, 10, 15, 10 + 10 * k) for k in range(1, 41)))
    assert rows[0]["response_time_p50_ns"] == 10 + 200
    assert rows[0]["service_time_p50_ns"] == 200
    assert rows[0]["service_time_max_ns"] == 400
    assert rows[0]["first_byte_p50_ns"] == 5


def test_a_percentile_of_a_second_with_too_few_answers_is_null():
    rows = rows_of(*(answer(0, 10, 15, 10 + 10 * k) for k in range(1, 40)))
    assert rows[0]["response_time_p50_ns"] is not None
    assert rows[0]["response_time_p75_ns"] is None


def test_a_request_that_ends_behind_the_last_stage_is_not_lost():
    rows = rows_of(answer(3 * S - 5, 3 * S - 4, 3 * S - 3, 3 * S + 1))
    assert (rows[3]["stage"], rows[3]["completed"], rows[3]["requested_level"]) == ("after", 1, 0.0)


def stages(*ends_s: float) -> tuple[RecordedStage, ...]:
    """A warm-up at 8, and a hold at 64."""
    first, last = (round(end_s * S) for end_s in ends_s)
    return (
        RecordedStage("warm_up", 0, first, 8.0, 8.0, 1),
        RecordedStage("hold", first, last, 64.0, 64.0, 1),
    )


@pytest.mark.parametrize(
    ("ends_s", "expected"),
    [
        ((0.5, 1.5), [("hold", 64.0), ("hold", 64.0)]),
        ((1.0, 2.2), [("warm_up", 8.0), ("hold", 64.0), ("hold", 64.0)]),
        ((1.9, 2.4), [("warm_up", 8.0), ("warm_up", 8.0), ("hold", 64.0)]),
        ((1.0, 2.05), [("warm_up", 8.0), ("hold", 64.0), ("after", 0.0)]),
    ],
)
def test_the_second_in_which_the_load_ends_has_the_stage_of_the_part_that_it_lasted(
    ends_s: tuple[float, float], expected: list[tuple[str, float]]
) -> None:
    rows = seconds(replace(CLEAN, stages=stages(*ends_s)), None, None).to_pylist()
    assert [(row["stage"], row["requested_level"]) for row in rows] == expected


@pytest.mark.parametrize(("at_s", "expected"), [(0, 25), (0.9, 25), (1, 50), (3.9, 100)])
def test_a_stepped_ramp_asks_for_its_first_step_at_once(at_s, expected):
    stage = RecordedStage("ramp", 10 * S, 14 * S, 0.0, 100.0, 4)
    assert level(stage, 10 * S + int(at_s * S)) == expected


def test_a_ramp_without_steps_is_a_straight_line():
    assert level(RecordedStage("ramp", 0, 4 * S, 0.0, 100.0, 0), S) == 25


def test_busy_cores_are_differences_of_counters_at_whole_seconds():
    readings = [
        (at_s, "server", name, at_s * rate)
        for at_s in (-0.5, 0.5, 1.5, 2.5, 3.5)
        for name, rate in (("cpu_user_s", 0.5), ("cpu_system_s", 0.25))
    ]
    rows = rows_of(usage=usage_rows(*readings))
    assert [row["server_busy_cores"] for row in rows] == pytest.approx([0.75] * 3)
    assert rows[0]["driver_busy_cores"] is None


def test_seconds_of_a_short_batch_are_those_of_a_long_one(monkeypatch):
    trial = simulate(failures={"reset_waiting": 0.05})
    of_a_long_one = trial.seconds
    monkeypatch.setattr("plimsoll.aggregate.seconds.BATCH_ROWS", 1)
    assert seconds(trial.recording, trial.requests, trial.readings) == of_a_long_one


def test_a_recording_without_stages_has_no_seconds():
    assert len(seconds(replace(CLEAN, stages=()), None, None)) == 0
