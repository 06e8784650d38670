"""What is counted in the engine's records is what SQL makes of the tables, number for number."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import astuple, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import sample
from engine_files import SECOND_NS, written
from plimsoll import tables
from plimsoll.aggregate import driver_stalls, pace
from plimsoll.aggregate.driver_stalls import DriverStalls
from plimsoll.aggregate.engine_records import EngineRecords
from plimsoll.aggregate.trial import Tables
from plimsoll.findings import derivation
from plimsoll.recording import RecordedStage

MIXED = (
    *("ok", "wrong_status", "wrong_body", "unfinished", "cancelled", "not_sent"),
    *("timed_out_waiting", "connect_refused"),
)
LOADS = [
    (0, ("ok",), 1),
    (3, ("connect_refused",), 1),
    (900, ("ok", "wrong_status"), 2),
    (150_000, ("ok",), 1),
    (200_000, MIXED, 3),
]
QUESTIONS: dict[str, Callable[[Tables], Any]] = {
    "outcomes": lambda of: of.outcome_counts,
    "kinds": lambda of: of.kind_counts,
    "statuses": lambda of: of.status_counts,
    "bodies": lambda of: of.body_counts,
    "lengths": lambda of: of.body_lengths,
    "ends": lambda of: of.connection_ends,
    "gone": lambda of: of.gone_ns,
    "stalls": lambda of: of.stalls,
    "slow connections": lambda of: sorted(of.connection_stalls),
    "slower": lambda of: [of.slower_than(least_ns) for least_ns in (0, 10**6, 10**9)],
    "without stalls": lambda of: [
        driver_stalls.quantile_without(of.recording, of.requests, stalls, quantile)
        for stalls in (
            DriverStalls(0.0),
            DriverStalls(0.5, (), ((10**9, 15 * 10**8), (3 * 10**9, 4 * 10**9)), 2),
        )
        for quantile in (0.5, 0.99)
    ],
    "still waiting": lambda of: [
        astuple(of.still_waiting(least_ns)) for least_ns in (0, 10**9, 8 * 10**9)
    ],
    "longest times": lambda of: of.longest_times_ns().tolist(),
    "late ends": lambda of: [of.late_ends(late) for late in ((0, 10**6), (10**6, 10**8))],
    "steady state": lambda of: of.steady_state,
    "steady state of times": lambda of: of.steady_state_of_times,
    "pace": lambda of: of.pace(of.holds[-1], 7),
    "late": lambda of: [of.late_seconds(least_ns) for least_ns in (0, 10**5, 10**8)],
    "arrivals": lambda of: of.arrivals(of.holds[-1], 7),
    "medians": lambda of: pace.median_times(of.requests, of.holds[-1], 9),
    "in flight": lambda of: of.in_flight([(0, 10**9), (10**9, 13 * 10**9), (5, 6)]),
    "shares": lambda of: astuple(of.shares(10**9)),
    "open": lambda of: of.open_connections,
    "silent": lambda of: [of.without_response(least_ns) for least_ns in (0, 5 * 10**9)],
    "seconds": lambda of: of.counted_seconds.to_pydict(),
    "summary": lambda of: of.summary.row,
}


def both(folder: Path, count: int, names: tuple[str, ...], kinds: int) -> tuple[Tables, Tables]:
    """The same load as the engine's records and as tables."""
    written(folder, count, names, kinds=kinds)
    recording = sample.recording(
        requests=tuple(f"kind {kind}" for kind in range(kinds)),
        request_bytes=tuple(100 + kind for kind in range(kinds)),
        stages=(
            RecordedStage("warm_up", 0, SECOND_NS // 2, 64.0, 64.0, 0),
            RecordedStage("hold", SECOND_NS // 2, 12 * SECOND_NS, 64.0, 64.0, 0),
        ),
    )
    requests = EngineRecords(folder, recording, "requests")
    connections = EngineRecords(folder, recording, "connections")
    usage = tables.USAGE.schema.empty_table()
    return (
        Tables(recording, requests, connections, usage),
        Tables(recording, requests.table, connections.table, usage),
    )


def plain(found: Any) -> Any:
    """Lists and dictionaries of numbers, the same however they are wrapped."""
    if is_dataclass(found) and not isinstance(found, type):
        return plain(astuple(found))
    if isinstance(found, dict):
        return {key: plain(value) for key, value in found.items()}
    return [plain(value) for value in found] if isinstance(found, list | tuple) else found


def are_alike(one: Any, other: Any) -> bool:
    """Whether two answers agree; sums of fractions up to their rounding."""
    if isinstance(one, dict):
        same = one.keys() == other.keys()
        return same and all(are_alike(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(are_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9)
    return one == other


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("count", "names", "kinds"), LOADS)
def test_an_answer_of_the_records_is_that_of_the_tables(
    question: str, count: int, names: tuple[str, ...], kinds: int, tmp_path: Path
) -> None:
    records, stored = both(tmp_path, count, names, kinds)
    ask = QUESTIONS[question]
    counted, queried = plain(ask(records)), plain(ask(stored))
    assert are_alike(counted, queried), (counted, queried)


@pytest.mark.parametrize(("count", "names", "kinds"), LOADS)
def test_verdicts_and_figures_by_the_records_are_those_by_the_tables(
    count: int, names: tuple[str, ...], kinds: int, tmp_path: Path
) -> None:
    records, stored = both(tmp_path, count, names, kinds)
    quick, whole = derivation.judged(records), derivation.judged(stored)
    assert [(one.check, one.level, one.text) for one in quick.verdicts] == [
        (one.check, one.level, one.text) for one in whole.verdicts
    ]
    assert quick.kinds == whole.kinds
    assert quick.stalls == whole.stalls
    assert quick.statuses == whole.statuses
    assert quick.failures == whole.failures
