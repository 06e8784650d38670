"""Percentiles of the load that runs, from rows that are being written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import some
from plimsoll.drivers import records
from plimsoll.watch import latencies
from plimsoll.watch.latencies import RowReader

SECOND_NS = 1_000_000_000


def append(folder: Path, times_ns: np.ndarray, second: int, outcome: str = "ok") -> None:
    """Writes rows of requests that ended in a second, as the engine does."""
    codes = {name: code for code, name in records.outcome_names().items()}
    rows = np.zeros(len(times_ns), records.record_dtype("requests"))
    rows["done_ns"] = np.linspace(second, second + 0.999, len(rows)) * SECOND_NS
    rows["due_ns"] = np.maximum(rows["done_ns"].astype(np.int64) - times_ns, 0)
    rows["outcome"] = codes[outcome]
    with (folder / latencies.FILE).open("ab") as file:
        rows.tofile(file)


def test_before_there_is_a_file_there_is_no_second(tmp_path: Path) -> None:
    assert RowReader(tmp_path / "missing").seconds() == []


@some(10)
@given(
    st.lists(st.integers(1_000, 900_000_000), min_size=1_000, max_size=1_500),
    st.integers(2, 4),
)
def test_percentiles_are_those_of_all_rows_within_a_bucket(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], parts: int
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    reader = RowReader(folder)
    for part in np.array_split(np.array(times), parts):
        append(folder, part, second=5)
        reader.seconds()
    (found,) = reader.seconds()
    assert found.second == 5
    for told, share in ((found.p50_ns, 0.5), (found.p99_ns, 0.99)):
        exact = np.quantile(times, share, method="inverted_cdf")
        assert told == pytest.approx(exact, rel=latencies.GROWTH - 1 + 1e-6)


def test_a_percentile_needs_ten_responses_above_it(tmp_path: Path) -> None:
    append(tmp_path, np.full(999, 1_000_000), second=0)
    (found,) = RowReader(tmp_path).seconds()
    assert found.p50_ns is not None
    assert found.p99_ns is None


def test_rows_that_come_late_fill_the_second_that_they_belong_to(tmp_path: Path) -> None:
    reader = RowReader(tmp_path)
    append(tmp_path, np.full(100, 1_000_000), second=2)
    assert [one.second for one in reader.seconds()] == [2]
    append(tmp_path, np.full(100, 2_000_000), second=1)
    first, last = reader.seconds()
    assert (first.second, last.second) == (1, 2)
    assert first.p50_ns == pytest.approx(2_000_000, rel=0.01)
    assert last.p50_ns == pytest.approx(1_000_000, rel=0.01)


def test_requests_without_a_response_and_half_a_row_do_not_count(tmp_path: Path) -> None:
    append(tmp_path, np.full(100, 5_000_000_000), second=0, outcome="timed_out_waiting")
    append(tmp_path, np.full(100, 1_000_000), second=0)
    with (tmp_path / latencies.FILE).open("ab") as file:
        file.write(b"\0" * 20)
    (found,) = RowReader(tmp_path).seconds()
    assert found.p50_ns == pytest.approx(1_000_000, rel=0.01)


def test_of_many_rows_some_are_read_and_count_for_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latencies, "MOST_ROWS", 100)
    append(tmp_path, np.linspace(1e6, 2e6, 1_500).astype(int), second=0)
    (found,) = RowReader(tmp_path).seconds()
    assert found.p99_ns == pytest.approx(1.99e6, rel=0.02)
