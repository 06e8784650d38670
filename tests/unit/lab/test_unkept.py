"""Tables of a load that is not kept are those of one that is."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import sample
from plimsoll.conduct import recording as conducted
from plimsoll.drivers import records
from plimsoll.errors import StorageError
from plimsoll.lab.unkept import UnkeptResults
from plimsoll.recording import Recording
from plimsoll.recording.readings import Reading
from plimsoll.storage.parquet import ParquetResults

TABLES = ("requests", "connections", "usage")
READINGS = [Reading(at_ns, "driver", "cpu_s", at_ns / 1e9) for at_ns in (1, 2)]


def recorded(results: ParquetResults, *, is_kept: bool) -> Recording:
    """A trial of a few requests, closed as a load is."""
    made = sample.recording()
    with results.trial(made.trial) as into:
        rows = np.zeros(1000, records.record_dtype("requests"))
        rows["due_ns"] = rows["sent_ns"] = np.arange(len(rows))
        rows["done_ns"] = np.where(np.arange(len(rows)) % 7, 5_000, np.iinfo(np.uint64).max)
        rows["status"] = 200
        rows.tofile(into / "requests.bin")
        np.zeros(3, records.record_dtype("connections")).tofile(into / "connections.bin")
        return conducted.close(made, READINGS, 0, into, is_kept=is_kept)


@pytest.mark.parametrize("name", TABLES)
def test_its_rows_are_those_of_a_load_that_is_kept(name: str, tmp_path: Path) -> None:
    kept, unkept = ParquetResults(tmp_path / "kept"), UnkeptResults(tmp_path / "unkept")
    trial = recorded(kept, is_kept=True).trial
    recorded(unkept, is_kept=False)
    packed = ParquetResults.table(kept, trial, name)
    assert unkept.table(trial, name).to_pylist() == packed.to_table().to_pylist()
    assert not list((tmp_path / "unkept").rglob("*.parquet"))


def test_a_table_is_made_once_where_several_threads_ask_for_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        for at in range(20):
            results = UnkeptResults(tmp_path / f"{at}")
            trial = recorded(results, is_kept=False).trial
            asked = [threads.submit(results.table, trial, "requests") for _ in range(8)]
            assert [one.result().num_rows for one in asked] == [1000] * 8


def test_a_table_that_was_not_recorded_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "trials" / "nothing").mkdir(parents=True)
    found = UnkeptResults(tmp_path).table("nothing", "requests")
    assert found.num_rows == 0
    assert "due_ns" in found.column_names


def test_a_folder_that_is_gone_has_no_rows_and_says_so(tmp_path: Path) -> None:
    results = UnkeptResults(tmp_path / "unkept")
    trial = recorded(results, is_kept=False).trial
    shutil.rmtree(results.folder)
    for read in (
        lambda: results.table(trial, "requests"),
        lambda: results.logs(trial),
        results.trial_ids,
    ):
        with pytest.raises(StorageError, match="is gone") as caught:
            read()
        assert "record" in caught.value.hint


def test_its_recording_is_the_one_that_was_made(tmp_path: Path) -> None:
    results = UnkeptResults(tmp_path)
    made = recorded(results, is_kept=False)
    results.known[made.trial] = made
    assert results.recording(made.trial) is made
