"""Percentiles and histograms of an export, whatever the times."""

import csv
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import example, given
from hypothesis import strategies as st

from examples import some
from plimsoll.aggregate import query
from plimsoll.aggregate.trial import Tables
from plimsoll.export import histogram, hlog, seconds
from recordings import request_rows, simulate

RECORDING = simulate(warm_up_s=0, ramp_s=0, hold_s=1.0).recording
slow = some(10)
times = st.lists(
    st.one_of(st.integers(0, 5000), st.integers(0, 10**9 - 1)), min_size=1, max_size=60
)


def answers(elapsed):
    """Requests that were sent at zero and took so many nanoseconds."""
    return request_rows(*({"sent_ns": 0, "first_byte_ns": 0, "done_ns": ns} for ns in elapsed))


@slow
@given(times)
def test_percentiles_lie_between_values_as_numpy_and_postgresql_have_them(elapsed):
    with tempfile.TemporaryDirectory() as into:
        seconds.write(Tables(RECORDING, answers(elapsed)), Path(into))
        with (Path(into) / "seconds_success.csv").open(encoding="utf-8", newline="") as file:
            row = next(csv.DictReader(file))
    for name, quantile in (("p25", 0.25), ("p50", 0.5), ("p75", 0.75), ("p95", 0.95)):
        expected = np.quantile(np.array(elapsed) / 1e6, quantile, method="linear")
        assert float(row[f"elapsed_{name}_ms"]) == pytest.approx(expected, abs=1.1e-6)
    assert float(row["elapsed_mean_ms"]) == pytest.approx(np.mean(elapsed) / 1e6, abs=1.1e-6)


@given(st.dictionaries(st.integers(0, 30_000), st.integers(1, 2**40), max_size=50))
def test_the_reader_of_histograms_finds_every_count_in_its_cell(cells):
    ordered = sorted(cells.items())
    read = HdrHistogram.decode(histogram.encoded(ordered))
    found = {index: read.get_count_at_index(index) for index in cells}
    assert found == cells
    assert read.get_total_count() == sum(cells.values())


@slow
@given(st.lists(st.integers(0, histogram.HIGHEST_NS), min_size=1, max_size=40))
@example([2**power + near for power in range(11, 46) for near in (-1, 0, 1)])
def test_a_value_is_in_the_cell_in_which_the_library_keeps_it(values):
    library = HdrHistogram(1, histogram.HIGHEST_NS, histogram.SIGNIFICANT_DIGITS)
    sql = hlog.sql("sent_ns")
    with query.opened(requests=answers(values)) as database:
        given = {"highest": histogram.HIGHEST_NS, "kinds": [0]}
        found = database.execute(sql, given).fetchall()
    counted: dict[int, int] = {}
    for _, _, cell, count, _ in found:
        counted[cell] = counted.get(cell, 0) + count
    expected: dict[int, int] = {}
    for value in values:
        cell = library.get_counts_array_index(value)
        expected[cell] = expected.get(cell, 0) + 1
    assert counted == expected
