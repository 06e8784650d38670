"""What `export` says before it writes anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll import tables
from plimsoll.cli import plimsoll
from plimsoll.errors import StorageError
from plimsoll.recording import Ending, HostClock, HostDriver, KeptRows
from plimsoll.storage.parquet import ParquetResults
from stored_trials import NO_ROWS, put, recording

KEPT = KeptRows("/rows/1", 800, {"requests.bin": "9f"})
NOBODY = "postgresql://nobody@127.0.0.1:1/results"
"""A database that does not run: an export into it would end with another sentence."""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Three trials; the rows of two stayed on hosts."""
    folder = tmp_path / "results"
    clock = HostClock(0, 0.0, 0, 0)
    with ParquetResults(folder).locked():
        for order, (trial, hosts) in enumerate({"a": ("one", "two"), "b": ("three",)}.items()):
            drivers = tuple(HostDriver(one, 0.5, clock, 0, 10, None, kept=KEPT) for one in hosts)
            put(
                ParquetResults(folder),
                replace(recording(trial, order), ending=Ending(), hosts=drivers),
            )
        rows = {**NO_ROWS, "usage": tables.USAGE.schema.empty_table()}
        put(ParquetResults(folder), replace(recording("c", 2), ending=Ending()), **rows)
    return folder


def exported(results: Path, *options: str) -> Result:
    return CliRunner().invoke(plimsoll, ["export", str(results), *options])


@pytest.mark.parametrize("target", ["FOLDER", NOBODY])
def test_rows_that_stayed_are_named_with_their_hosts_whatever_the_target(
    results: Path, target: str
) -> None:
    into = results.parent / "exported"
    error = exported(results, "--to", target.replace("FOLDER", str(into))).exception
    assert isinstance(error, StorageError)
    assert error.message == "the rows of `a` and 1 more trial are on `one`, `two`, `three`"
    assert error.hint == f"fetch them with `plimsoll host rows {results} --hosts FILE`"
    assert not into.exists()


def test_other_trials_can_be_chosen(results: Path) -> None:
    into = results.parent / "exported"
    ran = exported(results, "--to", str(into), "--trial", "c", "--only", "parquet")
    assert ran.exit_code == 0, ran.output
    assert (into / "c").is_dir()
