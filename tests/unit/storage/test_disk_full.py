"""A disk that is full: a small file system of its own, which only root can make."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import fake_engine
import small_disks
import toy_trials
from plimsoll import tables
from plimsoll.conduct import campaign, recording
from plimsoll.conduct.run_config import RunConfig
from plimsoll.drivers import records
from plimsoll.drivers.tools import plimsoll as driver
from plimsoll.errors import StorageError
from plimsoll.events import Event, TrialStarted
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.parquet import ParquetResults, writing

pytestmark = pytest.mark.root


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one mebibyte."""
    with small_disks.small_disk(tmp_path / "disk", 1) as folder:
        yield folder


def test_a_trial_that_does_not_fit_leaves_nothing_behind(
    small_disk: Path,
) -> None:
    results = ParquetResults(small_disk / "results")
    dtype = records.record_dtype("connections")
    noise = np.random.default_rng(1).integers(0, 256, dtype.itemsize * 15_000, np.uint8)
    made = noise.view(dtype)
    made["outcome"] = made["resumed"] = made["alert"] = 0
    with (
        pytest.raises(StorageError, match="no space left") as caught,
        results.trial("a") as into,
        writing(results.folder),
    ):
        made.tofile(into / "connections.bin")
        recording.convert(tables.CONNECTIONS, into)
    assert "run again" in caught.value.hint
    assert list(results.trials.iterdir()) == []


def test_a_derived_table_that_does_not_fit_keeps_the_earlier_one(small_disk: Path) -> None:
    results = ParquetResults(small_disk)
    results.write_derived("seconds", pa.table({"x": [1]}))
    noise = np.random.default_rng(1).random(200_000)
    with pytest.raises(StorageError, match="no space left"):
        results.write_derived("seconds", pa.table({"x": noise}))
    kept = results.read_derived("seconds")
    assert kept is not None
    assert kept.num_rows == 1


def test_a_full_disk_ends_the_campaign_and_running_again_goes_on(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = ParquetResults(small_disk / "results")
    trials = [toy_trials.trial(1), toy_trials.trial(2)]
    monkeypatch.setattr(driver, "COMMAND", (sys.executable, fake_engine.__file__))

    def fill_in_the_second(event: Event) -> None:
        if isinstance(event, TrialStarted):
            monkeypatch.setenv("FAKE_ENGINE", json.dumps({"fill": event.number == 2}))

    with pytest.raises(StorageError) as caught:
        campaign.conduct(trials, RunConfig(), results, CampaignFiles(""), tell=fill_in_the_second)
    assert caught.value.exit_code == 6
    assert caught.value.hint
    assert results.trial_ids() == (trials[0].id,)
    assert [path.name for path in results.trials.iterdir()] == [trials[0].id]

    monkeypatch.setenv("FAKE_ENGINE", "{}")
    ended = campaign.conduct(trials, RunConfig(), results, CampaignFiles(""))
    assert (ended.completed, ended.failed) == (2, ())
