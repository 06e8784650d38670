"""A file of a trial that is not what was written is damaged, whatever it can be read as."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from plimsoll import tables
from plimsoll.aggregate.usage import usage
from plimsoll.errors import StorageError
from plimsoll.recording import Ending
from plimsoll.storage import digests, verified
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


def test_what_was_derived_from_a_file_that_is_damaged_does_not_count(
    stored: ParquetResults,
) -> None:
    assert stored.read_derived_trial("a") is not None
    path = stored.trials / "a" / "usage.parquet"
    flip(path, 100)
    with pytest.raises(StorageError, match=r"usage\.parquet` is damaged") as caught:
        stored.read_derived_trial("a")
    assert "restore it from a copy" in caught.value.hint
    flip(path, 100)
    assert stored.read_derived_trial("a") is not None


def test_what_was_derived_from_a_file_that_is_gone_does_not_count(stored: ParquetResults) -> None:
    (stored.trials / "a" / "usage.parquet").unlink()
    with pytest.raises(StorageError, match=r"usage\.parquet` is missing"):
        stored.read_derived_trial("a")


def test_a_folder_is_read_again_only_once_a_file_of_it_has_changed(
    stored: ParquetResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    verify = digests.changed

    def noted(files: Sequence[Path], known: str | None) -> Path | None:
        read.extend(path.name for path in files)
        return verify(files, known)

    before = stored.state()
    monkeypatch.setattr(digests, "changed", noted)
    again = ParquetResults(stored.folder)
    assert again.state() == before
    assert read == []
    (stored.trials / "a" / "usage.parquet").touch()
    (stored.trials / "a" / "server.log").write_text("nothing is computed from logs")
    assert again.state() == before
    assert {"trial.json", "usage.parquet"} == {*read}
    read.clear()
    assert ParquetResults(stored.folder).state() == before
    assert read == []


@pytest.mark.parametrize("content", ["", "{", "[]", '{"trials/a": 1}', '{"trials/a": ["", ""]}'])
def test_what_was_verified_is_found_anew_where_that_is_damaged(
    stored: ParquetResults, content: str
) -> None:
    before = stored.state()
    (stored.folder / verified.FILE).write_text(content)
    assert ParquetResults(stored.folder).state() == before
    flip(stored.trials / "a" / "usage.parquet", 100)
    assert ParquetResults(stored.folder).state() != before


def test_of_trials_that_are_gone_nothing_is_kept(stored: ParquetResults) -> None:
    stored.state()
    shutil.rmtree(stored.derived / "a")
    again = ParquetResults(stored.folder)
    (stored.trials / "a" / "trial.json").touch()
    again.state()
    assert [*json.loads((stored.folder / verified.FILE).read_text())] == ["trials/a"]


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
