"""The distribution of a trial by quantile."""

import itertools
import math
from dataclasses import replace

import pyarrow as pa
import pytest

from plimsoll import tables
from plimsoll.aggregate import distribution
from plimsoll.aggregate.engine_records import as_stored
from plimsoll.aggregate.trial import Tables
from recordings import simulate


def found(trial: Tables) -> tuple[distribution.Quantile, ...]:
    return distribution.of_rows(distribution.of_trial(trial.recording, trial.requests))


def held(trial: Tables) -> list[int]:
    (hold,) = trial.recording.holds
    rows = as_stored(trial.requests)
    assert rows is not None
    assert isinstance(rows, pa.Table)
    return sorted(
        row["done_ns"] - row["due_ns"]
        for row in rows.to_pylist()
        if row["done_ns"] is not None
        and hold.start_ns <= row["done_ns"] < hold.end_ns
        and row["outcome"] == "ok"
    )


def test_each_quantile_is_the_value_that_so_many_responses_do_not_exceed() -> None:
    trial = simulate()
    values = held(trial)
    assert trial.summary.completed == len(values)
    for one in found(trial):
        rank = max(1, math.ceil(round(one.quantile * len(values), 6)))
        assert one.value_ns == values[rank - 1]


def test_quantiles_end_where_fewer_than_ten_responses_lie_above() -> None:
    trial = simulate()
    count = len(held(trial))
    last = found(trial)[-1].quantile
    assert count * (1 - last) >= 10 - 1e-6
    following = distribution.GRID[distribution.GRID.index(last) + 1]
    assert count * (1 - following) < 10


def test_they_agree_with_the_percentiles_of_the_summary() -> None:
    trial = simulate()
    values = {one.quantile: one.value_ns for one in found(trial)}
    assert values[0.9] == trial.summary.response_time.p90_ns
    assert values[0.99] == trial.summary.response_time.p99_ns


def test_the_grid_is_even_on_a_logarithmic_axis_and_holds_the_nines() -> None:
    assert {0.0, 0.9, 0.99, 0.999, 0.9999} <= set(distribution.GRID)
    decades = [-math.log10(1 - quantile) for quantile in distribution.GRID[:37]]
    steps = [after - before for before, after in itertools.pairwise(decades)]
    assert steps == pytest.approx([1 / distribution.STEPS] * len(steps), abs=1e-5)


def test_the_service_time_is_told_where_intended_starts_are_unknown() -> None:
    trial = simulate()
    rows = as_stored(trial.requests)
    assert rows is not None
    assert isinstance(rows, pa.Table)
    place = rows.schema.get_field_index("due_ns")
    unknown = rows.set_column(place, "due_ns", pa.nulls(rows.num_rows, pa.int64()))
    assert {one.time for one in found(trial)} == {"response_time"}
    assert {one.time for one in found(replace(trial, requests=unknown))} == {"service_time"}


def test_a_trial_without_rows_has_no_quantile() -> None:
    recording = simulate(tables=False).recording
    table = distribution.of_trial(recording, None)
    assert table.num_rows == 0
    assert table.schema == tables.QUANTILES.schema
