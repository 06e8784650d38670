"""Kinds of request: what came of each, and how long they are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import sample
from plimsoll.aggregate import kinds, query
from plimsoll.aggregate.summaries import summary
from plimsoll.recording import RecordedStage, Recording
from recordings import request_rows

SECOND = 1_000_000_000


def two_kinds(**changes: Any) -> Recording:
    hold = RecordedStage("hold", 0, 2 * SECOND, 1.0, 1.0, 1)
    return sample.recording(stages=(hold,), requests=("/a", "/b"), **changes)


def row(request: int, at: float, outcome: str = "ok", took: float = 0.1) -> dict[str, Any]:
    done = {"first_byte_ns": round(at * SECOND), "done_ns": round(at * SECOND)}
    if outcome == "unfinished":
        done = {}
    due_ns = round((at - took) * SECOND)
    return {"due_ns": due_ns, "sent_ns": due_ns, "request": request, "outcome": outcome, **done}


ROWS = request_rows(
    row(0, 0.5), row(0, 0.9, took=0.3), row(0, 1.5, "wrong_status"), row(1, 1.0),
    row(1, 1.9, "reset_waiting"), row(1, 2.05), row(1, 2.5), row(1, 2.05, "unfinished"),
)  # fmt: skip


def test_each_kind_has_its_answers_failures_and_times() -> None:
    a, b = kinds.kinds(two_kinds(), ROWS).to_pylist()
    assert (a["request"], a["completed"], a["failed"], a["throughput_per_s"]) == ("/a", 3, 1, 1.5)
    assert (b["request"], b["completed"], b["failed"], b["throughput_per_s"]) == ("/b", 1, 1, 0.5)
    assert a["response_time_max_ns"] == pytest.approx(0.3 * SECOND)
    assert a["response_time_p50_ns"] is None, "three answers are too few for a median"


def test_the_kinds_add_up_to_the_summary() -> None:
    recording = two_kinds()
    whole = summary(recording, ROWS, None, None)
    parts = kinds.kinds(recording, ROWS).to_pylist()
    for name in ("completed", "failed", "throughput_per_s"):
        assert sum(part[name] for part in parts) == whole.value(name)


def test_a_kind_that_was_never_sent_is_a_row_of_zeros() -> None:
    _, b = kinds.kinds(two_kinds(), request_rows(row(0, 0.5))).to_pylist()
    assert (b["completed"], b["failed"], b["response_time_max_ns"]) == (0, 0, None)


def test_requests_of_the_same_name_are_one_kind() -> None:
    drawn = replace(two_kinds(), requests=("/a", "/b", "/a"))
    rows = request_rows(row(0, 0.5), row(2, 0.9, took=0.3), row(2, 1.2, "wrong_status"), row(1, 1))
    a, b = kinds.kinds(drawn, rows).to_pylist()
    assert (a["request"], a["completed"], a["failed"]) == ("/a", 3, 1)
    assert a["response_time_max_ns"] == pytest.approx(0.3 * SECOND)
    assert (b["request"], b["completed"]) == ("/b", 1)
    many = request_rows(*(row(place % 2 * 2, 0.5 + place / 100) for place in range(40)))
    a, _ = kinds.kinds(drawn, many).to_pylist()
    assert a["response_time_p50_ns"] == pytest.approx(0.1 * SECOND)


def test_one_kind_under_many_indices_is_told_by_the_summary_alone() -> None:
    drawn = sample.recording(requests=("json",) * 64)
    assert kinds.kinds(drawn, ROWS).num_rows == 0


def test_one_kind_is_told_by_the_summary_alone() -> None:
    assert kinds.kinds(sample.recording(), ROWS).num_rows == 0


def test_bytes_are_counted_of_what_began_to_be_sent_in_the_hold() -> None:
    whole = summary(two_kinds(request_bytes=(100, 1)), ROWS, None, None)
    assert whole.sent_bytes == 3 * 100 + 4


def test_bytes_that_nobody_told_are_not_known() -> None:
    assert summary(two_kinds(), ROWS, None, None).sent_bytes is None


def test_each_row_has_the_bytes_of_its_request_type_if_it_was_sent() -> None:
    never, own = row(1, 2.0, "connect_refused"), row(0, 0.5)
    rows = request_rows(
        row(0, 0.5), row(1, 1.0), never | {"sent_ns": None}, own | {"sent_bytes": 7}
    )
    told: list[list[int | None]] = []
    for recording in (two_kinds(request_bytes=(100, 1)), two_kinds()):
        with query.opened(requests=rows) as database:
            relation = database.sql("FROM requests")
            found = relation.project(kinds.sent_bytes_expression(recording)).fetchall()
        told.append([one for (one,) in found])
    assert told == [[100, 1, None, 7], [None, None, None, 7]]
