from dataclasses import replace

import pytest

from plimsoll.aggregate.check_inputs import (
    LateOpenings,
    in_flight,
    late_openings,
    open_connections,
    outcome_counts,
    shares,
    without_response,
)
from plimsoll.recording.tls import RequestedTls
from recordings import connection_rows, request_rows, simulate

S = 1_000_000_000
CLEAN = simulate(warm_up_s=1.0, ramp_s=0, hold_s=4.0).recording


def test_requests_are_in_flight_from_sent_to_done_as_far_as_the_window_goes():
    rows = request_rows(
        {"due_ns": 0, "sent_ns": S // 2, "done_ns": 2 * S},
        {"due_ns": S, "sent_ns": 2 * S, "done_ns": 5 * S, "outcome": "timed_out_waiting"},
        {"due_ns": S, "sent_ns": 3 * S, "outcome": "unfinished"},
        {"due_ns": S, "outcome": "not_sent"},
        {"due_ns": S, "sent_ns": 4 * S, "done_ns": 5 * S},
    )
    found, before = in_flight(rows, [(S, 4 * S), (0, S)])
    assert found.mean == pytest.approx((1 + 2 + 1) / 3)
    assert found.waiting == pytest.approx((1 + 2 + 3 + 3) / 3)
    assert (before.mean, before.ended_per_s, before.time_s) == (pytest.approx(0.5), 0, 0)
    assert found.ended_per_s == pytest.approx(1 / 3)
    assert found.time_s == pytest.approx(4)


def test_many_windows_have_in_flight_what_each_has_alone():
    rows = request_rows(
        *({"due_ns": n * S, "sent_ns": n * S + S // 4, "done_ns": (n + 2) * S} for n in range(90)),
        {"due_ns": S, "sent_ns": 50 * S, "outcome": "unfinished"},
        {"due_ns": 7 * S, "done_ns": 9 * S, "outcome": "not_sent"},
    )
    windows = [(0, 90 * S), *((n * S, (n + 1) * S) for n in range(90))]
    found = in_flight(rows, windows)
    assert found == tuple(in_flight(rows, [window])[0] for window in windows)
    assert found[0].ended_per_s * 90 == pytest.approx(sum(one.ended_per_s for one in found[1:]))


def test_requests_are_counted_by_outcome_and_error_number():
    done = {"sent_ns": 2 * S, "first_byte_ns": 2 * S, "done_ns": 2 * S}
    lost = {"sent_ns": 1, "done_ns": S // 2, "outcome": "reset_waiting"}
    rows = request_rows(done, done, lost | {"errno": 104}, lost | {"errno": 32}, lost)
    counts = {(c.outcome, c.errno): (c.requests, c.held) for c in outcome_counts(CLEAN, rows)}
    assert counts == {
        ("ok", None): (2, 2),
        ("reset_waiting", 104): (1, 0),
        ("reset_waiting", 32): (1, 0),
        ("reset_waiting", None): (1, 0),
    }


@pytest.mark.parametrize(
    "times",
    [
        {"due_ns": 5, "sent_ns": 4, "first_byte_ns": 6, "done_ns": 7},
        {"due_ns": 1, "sent_ns": 4, "first_byte_ns": 3, "done_ns": 7},
        {"due_ns": 1, "sent_ns": 4, "first_byte_ns": 8, "done_ns": 7},
        {"due_ns": 1, "sent_ns": 4, "done_ns": 7},
    ],
)
def test_an_answer_whose_instants_run_backwards_or_are_missing_is_impossible(times):
    assert outcome_counts(CLEAN, request_rows(times))[0].impossible == 1


def test_a_timeout_without_a_first_byte_is_possible():
    rows = request_rows({"due_ns": 1, "sent_ns": 2, "done_ns": 9, "outcome": "timed_out_waiting"})
    assert outcome_counts(CLEAN, rows)[0].impossible == 0


def test_shares_count_connections_that_were_open_long_enough():
    connections = connection_rows(
        {"connected_ns": 0},
        {"connected_ns": 0},
        {"connected_ns": 0},
        {"connected_ns": 0, "closed_ns": 2 * S},
    )
    requests = request_rows(
        *({"connection": 0, "done_ns": 2 * S} for _ in range(4)),
        *({"connection": 1, "done_ns": 2 * S} for _ in range(2)),
        {"connection": 2, "done_ns": S // 2},
    )
    found = shares(CLEAN, requests, connections, 2 * S)
    assert (found.connections, found.starved) == (3, 1)
    assert found.jain == pytest.approx(36 / (3 * 20))


def test_connections_of_several_threads_are_told_apart():
    connections = connection_rows(
        {"connected_ns": 0, "connection": 0}, {"connected_ns": 0, "connection": 0, "worker": 1}
    )
    found = shares(CLEAN, request_rows({"done_ns": 2 * S}), connections, S)
    assert (found.connections, found.starved) == (2, 1)


def test_without_connections_there_are_no_shares():
    assert shares(CLEAN, None, None, S).jain is None


def test_unanswered_are_those_that_lived_long_enough_without_a_byte():
    connections = connection_rows(
        {"connected_ns": 0, "responses": 0},
        {"connected_ns": 5 * S - 9, "responses": 0},
        {"connected_ns": 0, "closed_ns": S // 2, "responses": 0, "outcome": "reset_waiting"},
        {"connected_ns": 0},
        {"closed_ns": S, "responses": 0, "outcome": "connect_refused"},
    )
    assert without_response(CLEAN, connections, S, 0) == 1


def test_connections_that_carried_no_request_wait_for_no_response() -> None:
    connections = connection_rows(
        {"connected_ns": 0, "requests": 0, "responses": 0},
        {"connected_ns": 0, "requests": 1, "responses": 0},
    )
    assert [without_response(CLEAN, connections, S, least) for least in (0, 1)] == [2, 1]


def test_connections_are_open_from_connected_to_closed_as_far_as_the_holds_go():
    connections = connection_rows(
        {"connected_ns": 0},
        {"connected_ns": 2 * S, "closed_ns": 4 * S},
        {"connected_ns": 0, "closed_ns": S},
        {"closed_ns": S, "outcome": "connect_refused"},
    )
    assert open_connections(CLEAN, connections) == pytest.approx((4 + 2) / 4)
    assert open_connections(replace(CLEAN, stages=()), connections) is None


def requesting(connections, *holds):
    """A load of so many connections in each of its holds; `CLEAN`'s own hold without any."""
    assert CLEAN.driver is not None
    stages = tuple(replace(one, start=connections, end=connections) for one in holds)
    driver = replace(CLEAN.driver, opened=connections, connections_requested=connections)
    return replace(CLEAN, stages=stages or CLEAN.stages, driver=driver)


@pytest.mark.parametrize("level", [2, 3])
def test_connections_that_reopen_in_the_beginning_of_a_hold_are_not_open_before(level):
    (hold,) = CLEAN.holds
    begin, end = hold.start_ns, hold.end_ns
    each_ns = 1_000_000  # 20 of them, one after the other, while a load may open its connections
    closing = [
        {"connected_ns": begin + n * each_ns, "closed_ns": begin + (n + 1) * each_ns}
        for n in range(20)
    ]
    connections = connection_rows({"connected_ns": begin}, *closing)
    recording = requesting(level, hold)
    length_ns = end - begin
    open_ns = length_ns + 20 * each_ns + (level - 2) * each_ns
    assert open_connections(recording, connections) == pytest.approx(open_ns / length_ns)


def test_no_more_connections_are_open_than_were_requested():
    (hold,) = CLEAN.holds
    late = {"connected_ns": hold.start_ns + 10_000_000}
    gone = {"connected_ns": hold.start_ns + 1_000_000, "closed_ns": hold.start_ns + 9_000_000}
    connections = connection_rows({"connected_ns": 0}, late, gone)
    assert (open_connections(requesting(2, hold), connections) or 0) <= 2


def test_connections_are_late_from_the_beginning_of_the_only_hold():
    begin = CLEAN.holds[0].start_ns
    connections = connection_rows(
        {"due_ns": begin, "connected_ns": begin + S},
        {"due_ns": begin, "connected_ns": begin + 1_000_000},
        {"due_ns": begin, "outcome": "connect_refused"},
        {"due_ns": begin + S, "connected_ns": begin + 2 * S},  # more than were requested
    )
    assert late_openings(CLEAN, connections, 3) == LateOpenings(2, 1, S, S)
    twice = replace(CLEAN, stages=CLEAN.stages + CLEAN.holds)
    assert late_openings(twice, connections, 3).opened == 0


def test_connections_whose_handshakes_take_turns_are_open_from_the_beginning_of_the_hold():
    begin = CLEAN.holds[0].start_ns
    opened = [begin + number * 5_000_000 for number in range(50)]  # 5 ms each, one after the other
    connections = connection_rows(*({"connected_ns": at_ns} for at_ns in opened))
    tls = RequestedTls("localhost", "anyone", False, None, (), "never")
    plain = requesting(50, *CLEAN.holds)
    secured = replace(plain, tls=tls)
    assert open_connections(plain, connections) == pytest.approx(50 * (1 - 0.11 / 4), rel=0.01)
    assert open_connections(secured, connections) == pytest.approx(50)
    at_once = connection_rows(*({"connected_ns": begin + n * 900_000} for n in range(50)))
    assert open_connections(replace(secured, tls=None), at_once) == pytest.approx(50)
    late = connection_rows({"connected_ns": begin + S})  # the kernel tried again
    assert open_connections(secured, late) == pytest.approx(3 / 4)


def test_a_hold_that_begins_late_has_instants_above_the_small_whole_numbers():
    recording = simulate(warm_up_s=2.0, ramp_s=0, hold_s=0.5).recording
    assert recording.driver is not None
    recording = replace(recording, driver=replace(recording.driver, opened=300))
    (hold,) = recording.holds
    assert hold.start_ns == 2 * S  # below 2**31, and above it with the time to open connections
    opened = connection_rows({"connected_ns": 0}, {"connected_ns": hold.start_ns + 1_000_000})
    assert open_connections(recording, opened) == pytest.approx(2)
