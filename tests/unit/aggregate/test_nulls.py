"""What no request says is null in all that follows, and what is said instead has its own name."""

from dataclasses import replace

import pytest

from plimsoll.aggregate import check_inputs, kinds, stalls, summaries
from recordings import connection_rows, request_rows, seconds, simulate, usage_rows

S = 1_000_000_000
CLEAN = simulate(warm_up_s=0, ramp_s=0, hold_s=3.0).recording
BUSY = "busy_cores"


def answer(sent, done, **more):
    times = {"due_ns": None, "sent_ns": sent, "first_byte_ns": None, "done_ns": done}
    return {**times, "received_bytes": None, **more}


def summary(*requests, connections=None, usage=None):
    rows = connection_rows(*connections) if connections else None
    return summaries.summary(CLEAN, request_rows(*requests), rows, usage)


def test_without_due_instants_there_are_service_times_and_no_response_times():
    found = summary(answer(0, 10), answer(S, S + 30))
    assert found.service_time.mean_ns == 20
    assert found.response_time.mean_ns is found.lag.max_ns is None
    assert found.latency_kind == "service_time"
    assert summary(answer(0, 10, due_ns=0)).latency_kind == "response_time"
    assert summary().latency_kind == "response_time"


def test_a_request_without_due_or_end_counts_where_it_was_sent():
    rows = seconds(CLEAN, request_rows(answer(S + 5, None, outcome="io_failed")), None).to_pylist()
    assert [row["failed"] for row in rows] == [0, 1, 0]
    assert [row["due"] for row in rows] == [None] * 3


def test_bytes_are_null_where_no_row_has_them_and_summed_where_some_have():
    assert summary(answer(0, 10)).received_bytes is None
    assert summary(answer(0, 10)).received_bytes_per_s is None
    assert summary(answer(0, 10), answer(0, 10, received_bytes=7)).received_bytes == 7
    assert summary().received_bytes == 0


def test_bytes_that_rows_say_were_sent_are_summed():
    requests = request_rows(answer(0, 10, sent_bytes=70), answer(0, 20, sent_bytes=80))
    recording = replace(CLEAN, request_bytes=())
    assert summaries.summary(recording, requests, None, None).sent_bytes == 150


def test_connections_whose_end_is_not_said_are_opened_and_nothing_else():
    unsaid = {"responses": None, "requests": None, "outcome": None, "closed_ns": None}
    found = summary(connections=[{"due_ns": 0, "connected_ns": 5, **unsaid}])
    assert found.connections_opened == 1
    for name in ("with_response", "lost", "peak_open"):
        assert found.value(f"connections_{name}") is None


@pytest.mark.parametrize(("due", "first", "impossible"), [(0, None, 1), (None, None, 0)])
def test_an_answer_without_a_first_byte_is_possible_of_who_never_says_one(due, first, impossible):
    requests = request_rows(answer(5, 10, due_ns=due, first_byte_ns=first))
    assert sum(row.impossible for row in check_inputs.outcome_counts(CLEAN, requests)) == impossible


def test_kinds_have_service_times_where_response_times_are_unknown():
    mixed = replace(CLEAN, requests=("a", "b"))
    rows = [answer(0, 10 + number, request=number % 2) for number in range(60)]
    first, second = kinds.kinds(mixed, request_rows(*rows)).to_pylist()
    assert first["service_time_p50_ns"] == 38
    assert second["service_time_p50_ns"] == 39
    assert (first["service_time_max_ns"], second["service_time_max_ns"]) == (68, 69)
    assert first["response_time_p50_ns"] is first["response_time_max_ns"] is None


def test_a_silence_is_seen_by_requests_that_were_sent():
    rows = [answer(0, S // 100), answer(S // 50, 2 * S), answer(2 * S, 2 * S + 5)]
    (found,) = stalls.of_trial(CLEAN, stalls.found(CLEAN, request_rows(*rows))).to_pylist()
    assert found["longest_ns"] > S


def test_cores_that_another_monitor_read_are_those_of_their_second_only():
    usage = usage_rows((0.1, "server", BUSY, 2.0), (2.1, "server", BUSY, 4.0))
    rows = seconds(CLEAN, request_rows(answer(0, 10)), usage).to_pylist()
    assert [row["server_busy_cores"] for row in rows] == [2.0, None, 4.0]
    assert summary(answer(0, 10), usage=usage).server_busy_cores == 3.0
