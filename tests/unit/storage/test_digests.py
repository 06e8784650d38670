"""A file of a trial that is not what was written is damaged, whatever it can be read as."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from plimsoll import tables
from plimsoll.aggregate.usage import usage
from plimsoll.errors import StorageError
from plimsoll.recording import Ending
from plimsoll.storage import digests
from plimsoll.storage.parquet import ParquetResults
from plimsoll.storage.results import DerivedTrial
from stored_trials import put, recording

ROWS = 5000


@pytest.fixture
def stored(tmp_path: Path) -> ParquetResults:
    """A trial with readings, and what is derived from it."""
    results = ParquetResults(tmp_path / "results")
    readings = {
        "at_ns": list(range(ROWS)),
        "host": ["local"] * ROWS,
        "scope": ["server"] * ROWS,
        "quantity": ["cpu_s"] * ROWS,
        "value": [at / 7 for at in range(ROWS)],
    }
    made = dataclasses.replace(recording(), ending=Ending())
    put(results, made, usage=pa.table(readings, schema=tables.USAGE.schema))
    seconds = pa.table({"second": range(ROWS)})
    results.write_derived_trial("a", DerivedTrial({"seconds": seconds}, {"verdicts": []}))
    return results


def flip(path: Path, at: int) -> None:
    """Changes one bit of a file, which keeps its length and its times."""
    content, times = bytearray(path.read_bytes()), path.stat()
    content[at] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 1))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.7, 0.9])
def test_rows_with_another_bit_are_damaged(stored: ParquetResults, share: float) -> None:
    path = stored.trials / "a" / "usage.parquet"
    stored.table("a", "usage")
    flip(path, int(path.stat().st_size * share))
    with pytest.raises(
        StorageError, match=r"usage\.parquet` (is damaged|cannot be read)"
    ) as caught:
        stored.table("a", "usage")
    assert "run the campaign again" in caught.value.hint


def test_a_recording_with_another_bit_is_damaged(stored: ParquetResults) -> None:
    path = stored.trials / "a" / "trial.json"
    text = path.read_text("utf-8")
    path.write_text(text.replace('"order": 0', '"order": 1'), "utf-8")
    assert path.read_text("utf-8") != text
    with pytest.raises(StorageError, match=r"trial\.json` is damaged"):
        stored.recording("a")


def test_a_recording_that_was_read_before_is_read_again_once_it_has_changed(
    stored: ParquetResults,
) -> None:
    assert stored.recording("a") is stored.recording("a")
    path = stored.trials / "a" / "trial.json"
    (stored.trials / "a" / digests.FILE).unlink()
    path.write_text(path.read_text("utf-8").replace('"order": 0', '"order": 11'), "utf-8")
    assert stored.recording("a").order == 11


@pytest.mark.parametrize("name", ["verdicts.json", "seconds.parquet"])
def test_what_is_derived_is_made_again_where_it_is_damaged(
    stored: ParquetResults, name: str
) -> None:
    assert stored.read_derived_trial("a") is not None
    flip(stored.derived / "a" / name, 5)
    with pytest.raises(StorageError, match=r"is damaged|cannot be read") as caught:
        stored.read_derived_trial("a")
    assert "plimsoll judge" in caught.value.hint


def test_damaged_digests_are_damage(stored: ParquetResults) -> None:
    (stored.trials / "a" / digests.FILE).write_text("")
    with pytest.raises(StorageError, match="is damaged"):
        stored.table("a", "usage")


def test_a_recording_of_an_earlier_version_has_no_digests(stored: ParquetResults) -> None:
    (stored.trials / "a" / digests.FILE).unlink()
    assert stored.recording("a").trial == "a"
    path = stored.trials / "a" / "usage.parquet"
    for at in range(100, path.stat().st_size // 2, 997):
        flip(path, at)
    with pytest.raises(StorageError) as caught:
        usage(stored.table("a", "usage"))
    assert caught.value.hint


def test_the_digests_are_those_of_sha256sum(stored: ParquetResults) -> None:
    ran = subprocess.run(
        ["sha256sum", "--check", digests.FILE],
        cwd=stored.trials / "a", capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert sorted(ran.stdout.splitlines()) == ["trial.json: OK", "usage.parquet: OK"]
