"""Stalls: what the service times of a closed load hide, and the estimate of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sample
from plimsoll.aggregate import stalls
from plimsoll.recording import RecordedStage, Recording
from recordings import request_rows

MS = 1_000_000
SECOND = 1_000 * MS


def closed(*holds_ms: tuple[int, int], **load: Any) -> Recording:
    """The recording of a closed load with some holds."""
    stages = tuple(
        RecordedStage("hold", start * MS, end * MS, 10.0, 10.0, 1) for start, end in holds_ms
    )
    return sample.recording(stages=stages, load=sample.load(**load))


def answered(due_ms: float, done_ms: float | None, **changes: Any) -> dict[str, Any]:
    """A row whose request was sent when it was due."""
    due_ns = round(due_ms * MS)
    row = {"due_ns": due_ns, "sent_ns": due_ns}
    if done_ms is not None:
        row |= {"first_byte_ns": round(done_ms * MS), "done_ns": round(done_ms * MS)}
    return {**row, "outcome": "unfinished" if done_ms is None else "ok", **changes}


def of_load(recording: Recording, requests: pa.Table | None) -> pa.Table:
    return stalls.of_trial(recording, stalls.found(recording, requests))


def found_ms(recording: Recording, *rows: dict[str, Any]) -> list[tuple[float, float]]:
    found = stalls.found(recording, request_rows(*rows))
    return [(start / MS, end / MS) for start, end in found]


def freezing(freeze_ms: int, every_ms: int, total_ms: int, connections: int = 10) -> pa.Table:
    """A closed load on a server that answers in 0.1 ms, still at each period's end."""
    rows: list[dict[str, Any]] = []
    for connection in range(connections):
        at_ms = 0.01 * connection
        while at_ms < total_ms:
            into_ms = at_ms % every_ms
            wait_ms = 0.1 if into_ms < every_ms - freeze_ms else every_ms - into_ms + 0.1
            done_ms = at_ms + wait_ms
            rows.append(answered(at_ms, done_ms, connection=connection))
            at_ms = done_ms
    return request_rows(*rows)


def test_a_freeze_of_a_fifth_of_the_time_is_seen_where_the_measured_times_have_almost_none() -> (
    None
):
    requests = freezing(200, 1_000, 2_000)
    took_ms = np.sort((requests["done_ns"].to_numpy() - requests["due_ns"].to_numpy()) / MS)
    assert took_ms[int(0.99 * len(took_ms))] < 1
    row = of_load(closed((0, 2_000)), requests).to_pylist()[0]
    assert row["stalls"] == 2
    assert row["longest_ns"] / MS == pytest.approx(200, abs=1)
    assert row["wait_p50_ns"] is None
    assert row["wait_p90_ns"] / MS == pytest.approx(100, abs=1)
    assert row["wait_p99_ns"] / MS == pytest.approx(190, abs=1)
    assert row["wait_p999_ns"] / MS == pytest.approx(199, abs=1)


def test_where_answers_come_all_the_time_nothing_is_silent() -> None:
    requests = request_rows(*(answered(ms / 2, ms / 2 + 0.5) for ms in range(200)))
    (row,) = of_load(closed((0, 100)), requests).to_pylist()
    assert (row["stalls"], row["stalled_ns"], row["longest_ns"]) == (0, 0, 0)
    assert {row[f"wait_{name}_ns"] for name in stalls.QUANTILES} == {None}


def test_a_silence_lies_between_two_answers_that_follow_each_other() -> None:
    rows = (answered(0, 0.9), answered(0.9, 5.3), answered(1, 5.4), answered(5.3, 6))
    assert found_ms(closed((0, 6)), *rows) == [(0.9, 5.3)]


def test_a_silence_begins_when_somebody_waits() -> None:
    thinking = (answered(0, 0.5), answered(10.5, 12.6), answered(12.6, 13))
    assert found_ms(closed((0, 13)), *thinking) == [(10.5, 12.6)]


def test_failures_are_no_answers_but_their_requests_wait() -> None:
    rows = (
        answered(0, 0.5),
        answered(0.5, 20, outcome="timed_out_waiting"),
        answered(20, 30),
    )
    assert found_ms(closed((0, 30)), *rows) == [(0.5, 30)]


def test_what_was_never_answered_is_silent_until_the_end_of_the_hold() -> None:
    assert found_ms(closed((0, 50)), answered(0, 0.5), answered(0.5, None)) == [(0.5, 50)]
    assert found_ms(closed((0, 50)), answered(7, None)) == [(7, 50)]


def test_only_what_lies_within_holds_counts() -> None:
    rows = (answered(0, 0.5), answered(0.5, 20), answered(20, 40), answered(40, 40.5))
    assert found_ms(closed((10, 15), (30, 60)), *rows) == [(10, 15), (30, 40)]


def test_an_open_load_hides_nothing_and_a_load_without_a_hold_has_nothing_to_say() -> None:
    requests = request_rows(answered(0, 50))
    assert of_load(closed((0, 50), model="open"), requests).num_rows == 0
    assert of_load(closed(), requests).num_rows == 0
    assert of_load(closed((0, 50)), None).to_pylist()[0]["stalls"] == 0


@pytest.mark.parametrize("quantile", stalls.QUANTILES.values())
@pytest.mark.parametrize("seed", range(5))
def test_the_formula_agrees_with_arrivals_replayed_one_by_one(quantile: float, seed: int) -> None:
    draw = np.random.default_rng(seed)
    lengths_ns = draw.integers(2 * MS, 60 * MS, size=7)
    duration_ns = int(lengths_ns.sum() * 2)
    step_ns = 10_000
    waits = np.concatenate([np.arange(length, 0, -step_ns) for length in lengths_ns])
    everybody = np.zeros(duration_ns // step_ns)
    everybody[: len(waits)] = waits
    replayed_ns = float(np.sort(everybody)[int(np.ceil(quantile * len(everybody))) - 1])
    estimate_ns = stalls.wait_ns(lengths_ns.tolist(), duration_ns, quantile) or 0.0
    assert estimate_ns == pytest.approx(replayed_ns, abs=stalls.LEAST_NS + 10 * step_ns)


def test_no_estimate_is_given_below_a_millisecond() -> None:
    assert stalls.wait_ns([], SECOND, 0.99) is None
    assert stalls.wait_ns([10 * MS], SECOND, 0.99) is None
    assert stalls.wait_ns([12 * MS], SECOND, 0.99) == pytest.approx(2 * MS)
