"""Rates of a load that had several: as requested, or as requests of an import started."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from math import sqrt

import numpy as np
import pyarrow as pa
import pytest

import stored_trials
from plimsoll import tables
from plimsoll.aggregate import rate_levels
from plimsoll.campaign.load import Load, Stage, UnknownLoad
from plimsoll.recording import RecordedStage, Recording
from stored_trials import SECOND_NS


def opened(*stages: RecordedStage) -> Recording:
    load = Load("rising", "open", (Stage("hold", 1.0, 1.0, 1.0),), connections=8)
    return replace(stored_trials.recording(), load=load, stages=stages)


def imported(users: float = 0.0) -> Recording:
    stages = (RecordedStage("hold", 0, 60 * SECOND_NS, users, users, 0),)
    return replace(stored_trials.recording(), load=UnknownLoad("imported"), stages=stages)


def rows(starts_s: np.ndarray, took_s: np.ndarray, *, due: bool = True) -> pa.Table:
    starts_ns = (starts_s * 1e9).astype(np.int64)
    columns = {
        "sent_ns": starts_ns,
        "done_ns": starts_ns + (took_s * 1e9).astype(np.int64),
        "request": np.zeros(len(starts_ns), np.uint16),
        "worker": np.zeros(len(starts_ns), np.uint16),
        "host": pa.array(["local"] * len(starts_ns)).dictionary_encode(),
        "outcome": pa.array(["ok"] * len(starts_ns)).dictionary_encode(),
    }
    if due:
        columns["due_ns"] = starts_ns
    arrays = {name: pa.array(values) for name, values in columns.items()}
    return stored_trials.shaped(tables.REQUESTS, arrays)


def scheduled(rates: tuple[int, ...], seconds: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts of requests by a Poisson schedule, and times that grow with the rate."""
    luck = np.random.default_rng(1)
    starts, took = [], []
    for place, rate in enumerate(rates):
        count = luck.poisson(rate * seconds)
        starts.append(np.sort(luck.uniform(place * seconds, (place + 1) * seconds, count)))
        took.append(np.full(count, rate / 1e5))
    return np.concatenate(starts), np.concatenate(took)


def test_each_step_of_a_ramp_is_a_rate_and_a_warm_up_is_none() -> None:
    recording = opened(
        RecordedStage("warm_up", 0, SECOND_NS, 50.0, 50.0, 1),
        RecordedStage("ramp", SECOND_NS, 3 * SECOND_NS, 0.0, 200.0, 2),
        RecordedStage("hold", 3 * SECOND_NS, 4 * SECOND_NS, 400.0, 400.0, 1),
    )
    found = rate_levels.levels(recording, None)
    assert [one.rate_per_s for one in found] == [100.0, 200.0, 400.0]
    assert [one.start_ns // SECOND_NS for one in found] == [1, 2, 3]
    assert rate_levels.levels(replace(recording, stages=recording.stages[:2]), None) == ()


def test_latency_of_each_rate_is_that_of_the_requests_due_in_it() -> None:
    starts_s = np.concatenate([np.arange(100) / 100 + place for place in range(3)])
    took_s = np.repeat([0.001, 0.002, 0.004], 100)
    stages = [
        RecordedStage("hold", place * SECOND_NS, (place + 1) * SECOND_NS, rate, rate, 1)
        for place, rate in enumerate((100.0, 120.0, 150.0))
    ]
    found = rate_levels.of_trial(opened(*stages), rows(starts_s, took_s)).to_pylist()
    assert [row["rate_per_s"] for row in found] == [100.0, 120.0, 150.0]
    assert [row["p50_ns"] for row in found] == [1e6, 2e6, 4e6]
    assert [(row["completed"], row["failed"]) for row in found] == [(100, 0)] * 3
    assert {row["time"] for row in found} == {"response_time"}
    assert found[0]["p99_ns"] is None


@pytest.mark.parametrize("due", [True, False])
def test_an_imported_schedule_with_three_rates_has_three_levels(due: bool) -> None:
    table = rows(*scheduled((200, 500, 1000), 8), due=due)
    found = rate_levels.of_trial(imported(), table).to_pylist()
    assert [row["rate_per_s"] for row in found] == pytest.approx([200, 500, 1000], rel=0.1)
    assert [row["p50_ns"] for row in found] == pytest.approx([2e6, 5e6, 10e6])
    assert {row["time"] for row in found} == {"response_time" if due else "service_time"}


def test_users_are_no_schedule() -> None:
    table = rows(*scheduled((200, 500, 1000), 8))
    assert rate_levels.of_trial(imported(users=10.0), table).num_rows == 0


def test_one_rate_is_no_curve() -> None:
    assert rate_levels.of_trial(imported(), rows(*scheduled((500,), 20))).num_rows == 0


def test_throughput_that_wanders_has_no_levels() -> None:
    """A closed load: each second has another throughput, far beyond the chance of a schedule."""
    luck = np.random.default_rng(1)
    counts = [(second, int(5000 * luck.uniform(0.5, 1.0))) for second in range(60)]
    assert rate_levels.started(counts) == ()
    rising = [(second, 100 * second) for second in range(1, 60)]
    assert rate_levels.started(rising) == ()


def test_nothing_has_no_levels() -> None:
    assert rate_levels.started(()) == ()
    assert rate_levels.of_trial(imported(), None).num_rows == 0
    assert rate_levels.of_trial(imported(), rows(np.empty(0), np.empty(0))).num_rows == 0


def alike(counts: list[int]) -> bool:
    """The index of dispersion by each count: Σ (count − mean)² / mean."""
    mean, freedom = sum(counts) / len(counts), len(counts) - 1
    scatter = sum((count - mean) ** 2 for count in counts) / mean if mean else 0.0
    return scatter <= freedom + rate_levels.MOST_CHANCE * sqrt(2 * freedom)


def by_each_count(counts: list[int]) -> list[tuple[int, int, float]]:
    """Beginning, end and rate of each stretch of a level, by looking at all its seconds."""
    stretches: list[list[int]] = []
    for count in counts:
        if stretches and alike([*stretches[-1], count]):
            stretches[-1].append(count)
        else:
            stretches.append([count])
    ends = [*accumulate(map(len, stretches))]
    return [
        (end - len(one), end, sum(one) / len(one))
        for one, end in zip(stretches, ends, strict=True)
        if len(one) >= rate_levels.SHORTEST_S and sum(one)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_sums_over_a_stretch_tell_its_scatter_as_its_counts_do(seed: int) -> None:
    luck = np.random.default_rng(seed)
    rates = 10.0 ** luck.uniform(0, 6, 6)
    counts = [int(one) for rate in rates for one in luck.poisson(rate, int(luck.integers(20, 90)))]
    found = rate_levels.started([*enumerate(counts)])
    expected = by_each_count(counts)
    assert len(expected) >= 3
    assert [(one.start_ns, one.end_ns, one.rate_per_s) for one in found] == [
        (start * SECOND_NS, end * SECOND_NS, rate) for start, end, rate in expected
    ]


class Looked(int):
    """A count that knows how often counts were added up."""

    times = 0

    def __radd__(self, other: int) -> int:
        Looked.times += 1
        return int(self) + other


def test_each_second_of_a_long_steady_log_is_looked_at_once() -> None:
    counts = [(second, Looked(1)) for second in range(500)]
    assert rate_levels.started(counts) == ()
    assert 0 < Looked.times <= 3 * len(counts)
