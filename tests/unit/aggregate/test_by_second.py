"""Failures, memory and connections by second, against rows whose answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from plimsoll import tables
from plimsoll.aggregate import connections, failures, memory, outcomes
from plimsoll.recording import RecordedStage
from stored_trials import recording

SECOND = 1_000_000_000
RECORDING = recording()


def table(kind: tables.Table, rows: list[dict[str, Any]]) -> pa.Table:
    names = [column.name for column in kind.columns]
    plain = [{name: row.get(name) for name in names} for row in rows]
    types = [
        (column.name, pa.string() if pa.types.is_dictionary(column.type) else column.type)
        for column in kind.columns
    ]
    return pa.Table.from_pylist(plain, schema=pa.schema(types)).cast(kind.schema)


def request(outcome: str, done_s: float | None, errno: int | None = None, **more: Any) -> Any:
    return {
        "due_ns": 0,
        "done_ns": None if done_s is None else round(done_s * SECOND),
        "received_bytes": 0,
        "request": 0,
        "worker": 0,
        "host": "local",
        "outcome": outcome,
        "errno": errno,
        **more,
    }


def attempt(number: int, opened_s: float | None, closed_s: float | None) -> dict[str, Any]:
    return {
        "due_ns": 0,
        "connected_ns": None if opened_s is None else round(opened_s * SECOND),
        "closed_ns": None if closed_s is None else round(closed_s * SECOND),
        "requests": 0,
        "responses": 0,
        "connection": number,
        "worker": 0,
        "host": "local",
        "outcome": "still_open",
    }


def failed(*rows: dict[str, Any], holds: tuple[RecordedStage, ...] = ()) -> pa.Table:
    recording = replace(RECORDING, stages=holds)
    return failures.by_second(recording, table(tables.REQUESTS, list(rows)))


def test_a_failure_belongs_to_the_second_in_which_it_ended() -> None:
    found = failed(request("reset_waiting", 1.2, 104), request("reset_waiting", 1.9, 104))
    assert found.to_pylist() == [
        {
            "second": 1,
            "outcome": "reset_waiting",
            "errno": 104,
            "status": None,
            "count": 2,
            "held": 0,
            "first_ns": 1_200_000_000,
            "last_ns": 1_900_000_000,
        }
    ]


def test_a_request_that_was_never_sent_belongs_to_the_second_in_which_it_was_due() -> None:
    found = failed(request("not_sent", None, due_ns=3 * SECOND))
    assert [(row["second"], row["count"]) for row in found.to_pylist()] == [(3, 1)]


@pytest.mark.parametrize("outcome", ["ok", "unfinished"])
def test_what_is_right_or_unfinished_is_no_failure(outcome: str) -> None:
    assert failed(request(outcome, 1.0)).num_rows == 0


def test_wrong_answers_are_failures() -> None:
    assert failed(request("wrong_length", 1.0)).num_rows == 1


def test_kinds_are_told_apart_by_outcome_and_error_number() -> None:
    found = failures.kinds(
        failed(
            request("connect_refused", 1.0, 111),
            request("reset_waiting", 1.0, 104),
            request("reset_waiting", 5.5, 104),
            request("reset_waiting", 2.0, None),
        )
    )
    assert [(one.outcome, one.errno_name, one.count) for one in found] == [
        ("reset_waiting", "ECONNRESET", 2),
        ("connect_refused", "ECONNREFUSED", 1),
        ("reset_waiting", None, 1),
    ]
    assert (found[0].first_at_s, found[0].last_at_s) == (1.0, 5.5)


@pytest.mark.parametrize(
    ("ended_s", "window_s", "held"),
    [
        ((1.0, 2.0, 2.5), [(2.0, 3.0)], 2),
        ((1.0, 2.0, 3.0), [(2.0, 3.0)], 1),
        ((2.2, 2.7), [(2.5, 3.0)], 1),
        ((2.2, 2.7), [(1.0, 2.5), (2.5, 4.0)], 2),
        ((0.5,), [(1.0, 2.0)], 0),
    ],
)
def test_failures_of_the_window_are_counted_in_seconds_that_are_of_it_in_part(
    ended_s: Sequence[float], window_s: Sequence[tuple[float, float]], held: int
) -> None:
    holds = tuple(
        RecordedStage("hold", round(start * 1e9), round(end * 1e9), 1.0, 1.0, 1)
        for start, end in window_s
    )
    rows = failed(*(request("wrong_body", at_s) for at_s in ended_s), holds=holds)
    (found,) = failures.kinds(rows)
    assert (found.count, found.held) == (len(ended_s), held)


def test_without_rows_there_are_no_failures() -> None:
    nothing = failures.by_second(RECORDING, None)
    assert nothing.schema == failures.BY_SECOND
    assert failures.kinds(nothing) == ()


def test_an_unknown_error_number_keeps_its_number() -> None:
    assert outcomes.error_name("reset_waiting", 250) == "errno 250"
    assert outcomes.error_name("stream_reset", 8) == "CANCEL"
    assert outcomes.error_name("stream_refused", 7) == "REFUSED_STREAM"
    assert outcomes.error_name("stream_reset", 14) == "code 14"


def test_connections_count_as_open_from_their_handshake_until_they_close() -> None:
    attempts = [attempt(0, 0.5, None), attempt(1, 1.5, 2.5), attempt(2, None, 0.7)]
    found = connections.by_second(table(tables.CONNECTIONS, attempts), None, 4)
    assert found["open"].to_pylist() == [1, 2, 1, 1]
    assert found["second"].to_pylist() == [0, 1, 2, 3]


def test_a_connection_counts_as_answered_from_its_first_byte_until_it_closes() -> None:
    attempts = [attempt(0, 0.5, None), attempt(1, 0.5, 3.5), attempt(2, 0.5, None)]
    answers = [
        request("ok", 1.9, connection=0, first_byte_ns=round(1.5 * SECOND)),
        request("ok", 2.9, connection=0, first_byte_ns=round(2.5 * SECOND)),
        request("ok", 2.9, connection=1, first_byte_ns=round(2.5 * SECOND)),
        request("timed_out_waiting", 3.0, connection=2),
    ]
    found = connections.by_second(
        table(tables.CONNECTIONS, attempts), table(tables.REQUESTS, answers), 5
    )
    assert found["open"].to_pylist() == [3, 3, 3, 2, 2]
    assert found["with_response"].to_pylist() == [0, 1, 2, 1, 1]


def test_connections_of_the_same_number_on_two_workers_are_two() -> None:
    attempts = [attempt(0, 0.5, None), {**attempt(0, 0.5, None), "worker": 1}]
    answers = [request("ok", 0.9, connection=0, worker=1, first_byte_ns=SECOND // 2)]
    found = connections.by_second(
        table(tables.CONNECTIONS, attempts), table(tables.REQUESTS, answers), 1
    )
    assert found.to_pylist() == [{"second": 0, "open": 2, "with_response": 1}]


def test_every_second_has_a_row_even_without_connections() -> None:
    found = connections.by_second(None, None, 3)
    assert found["open"].to_pylist() == [0, 0, 0]
    assert found.schema == connections.BY_SECOND


def reading(at_s: float, scope: str, quantity: str, value: float) -> dict[str, Any]:
    return {
        "at_ns": round(at_s * SECOND),
        "host": "local",
        "scope": scope,
        "quantity": quantity,
        "value": value,
    }


def test_memory_is_that_at_the_middle_of_the_second() -> None:
    readings = [
        reading(0.0, "server", "rss_bytes", 100.0),
        reading(1.0, "server", "rss_bytes", 200.0),
        reading(2.0, "server", "rss_bytes", 200.0),
        reading(0.5, "driver", "rss_bytes", 7.0),
    ]
    found = memory.by_second(table(tables.USAGE, readings), 2)
    assert found["server_rss_bytes"].to_pylist() == [150.0, 200.0]
    assert found["driver_rss_bytes"].to_pylist() == [7.0, 7.0]


def test_memory_that_was_not_read_is_null() -> None:
    found = memory.by_second(table(tables.USAGE, []), 2)
    assert found["server_pss_bytes"].to_pylist() == [None, None]
    assert found.schema == memory.BY_SECOND
