"""Charts of long trials: their size is bounded, and what stands out is still there."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sample
from plimsoll import canvas, charts
from plimsoll.aggregate import failures
from plimsoll.comparison.comparisons import comparisons
from plimsoll.findings.findings import Findings
from plimsoll.findings.trial import TrialData
from plimsoll.report.formats import html, vega

DAY_S = 86_400
DROP_S = 40_000
"""The only second of the day without an answer, and the one with the slowest."""

MOST_BYTES = 1_000_000


@cache
def day() -> TrialData:
    """A trial of a day, whose seconds are those of the rough sample again and again."""
    short = sample.rough_trial_data()
    seconds = changed(repeated(short.seconds), "completed", {DROP_S: 0})
    return TrialData(
        short.recording,
        short.summary,
        changed(seconds, "response_time_p99_ns", {DROP_S: 9e12}),
        repeated(sample.memory_rows()),
        repeated(short.connections),
        repeated(short.failures),
        short.latencies,
        repeated(short.machine_speed),
    )


def repeated(table: pa.Table) -> pa.Table:
    """Rows of seconds 6 and 7 of a sample, one after the other for a day."""
    numbers = table["second"].to_numpy()
    places = [np.flatnonzero(numbers == second) for second in (6, 7)]
    taken = np.concatenate([places[second % 2] for second in range(DAY_S)])
    number = np.repeat(np.arange(DAY_S), [len(places[second % 2]) for second in range(DAY_S)])
    at = table.schema.get_field_index("second")
    return table.take(taken).set_column(at, "second", pa.array(number, pa.int32()))


def changed(table: pa.Table, column: str, values: dict[int, float]) -> pa.Table:
    found = table[column].to_numpy().copy()
    for second, value in values.items():
        found[second] = value
    at = table.schema.get_field_index(column)
    return table.set_column(at, table.field(at), pa.array(found, table.field(at).type))


BY_SECOND = [module for module in charts.OF_A_TRIAL if module is not charts.heat_map]
"""Charts whose rows are seconds; the cells of the heat map are joined when they are counted."""


@pytest.mark.parametrize(
    "module",
    [
        pytest.param(
            one, id=one.NAME, marks=() if one is charts.throughput else pytest.mark.thorough
        )
        for one in BY_SECOND
    ],
)
def test_a_chart_of_a_day_is_as_large_as_one_of_twenty_minutes(module: Any) -> None:
    drawn = module.draw(day())
    assert len(json.dumps(drawn)) < MOST_BYTES
    rows = drawn["datasets"]["seconds"]
    assert DAY_S / canvas.step_s(day()) <= len(rows) <= canvas.MOST_COLUMNS
    assert rows[1]["second"] - rows[0]["second"] == canvas.step_s(day())


def test_a_drop_of_one_second_in_a_day_is_seen() -> None:
    step_s = canvas.step_s(day())
    rows = charts.throughput.draw(day())["datasets"]["seconds"]
    dropped = [row for row in rows if row["silent"]]
    assert [row["second"] for row in dropped] == [DROP_S // step_s * step_s]
    assert all((row["low"] == 0) == row["silent"] for row in rows)
    usual = rows[0]["completed"]
    assert dropped[0]["completed"] == pytest.approx(usual * (1 - 1 / step_s), rel=0.02)
    slow = charts.response_time.draw(day())["datasets"]["seconds"]
    slowest = max(row["p99"] for row in slow)
    assert [row["second"] for row in slow if row["p99"] == slowest == 9e6] == [
        DROP_S // step_s * step_s
    ]


def test_failures_of_a_column_have_one_number_in_every_chart() -> None:
    """It is their mean: the maximum, the sum and the mean of these seconds differ."""
    data = sample.trial_data()
    last = data.seconds.to_pylist()[-1]
    failed = [10 if second % 3 == 0 else 2 for second in range(2 * canvas.MOST_COLUMNS + 2)]
    rows = [last | {"second": second, "failed": count} for second, count in enumerate(failed)]
    of_kind = [
        {"second": second, "outcome": "reset_waiting", "errno": 104, "count": count, "held": count}
        for second, count in enumerate(failed)
    ]
    changed = replace(
        data,
        seconds=pa.Table.from_pylist(rows, schema=data.seconds.schema),
        failures=pa.Table.from_pylist(of_kind, schema=failures.BY_SECOND),
    )
    drawn = charts.response_time.draw(changed)["datasets"]
    bars = [row["count"] for row in drawn["failures"]]
    assert bars[:2] == [pytest.approx(14 / 3, rel=1e-3)] * 2
    for shown in (drawn["seconds"], charts.throughput.draw(changed)["datasets"]["seconds"]):
        assert [row["failed"] for row in shown] == pytest.approx(bars, rel=1e-3)


@pytest.mark.thorough
def test_failures_of_a_day_are_those_of_a_second_on_average() -> None:
    kinds = charts.response_time.draw(day())["datasets"]["failures"]
    assert {row["count"] for row in kinds} == {40, 25, 5}


@pytest.mark.thorough
def test_a_page_says_what_a_column_is_and_stays_small() -> None:
    short = sample.doubtful_trial()
    page, usual = (
        html.render(Findings("day", "0.1.0", (trial,), comparisons([])))
        for trial in (replace(short, data=day()), short)
    )
    assert len(page) - len(vega.library()) < 3 * MOST_BYTES
    sentence = f"each column of a chart is {canvas.step_s(day())} seconds"
    assert sentence in page
    assert "each column of a chart" not in usual
