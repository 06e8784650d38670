"""Remedies of errors of the disk name an argument only where one selects the place."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from plimsoll.errors import StorageError
from plimsoll.storage.parquet import ParquetResults, keep
from plimsoll.storage.results import DerivedTrial

DERIVED = DerivedTrial({}, {"verdicts": []})

WHAT_IS_READ: dict[str, Callable[[ParquetResults], object]] = {
    "derived trial": lambda found: found.write_derived_trial(
        "a", DerivedTrial({}, {"verdicts": []})
    ),
    "derived table": lambda found: found.write_derived("a", pa.table({"x": [1]})),
    "derived document": lambda found: found.write_derived_json("a", {}),
    "report": lambda found: keep(found.folder / "report" / "report.html", b""),
}
"""What verbs write into results that they read, which have no option for another place."""


def refuse(number: int) -> Callable[..., None]:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return refused


@pytest.mark.parametrize("what", WHAT_IS_READ)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_results_that_are_read_have_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, number: int
) -> None:
    monkeypatch.setattr(Path, "mkdir", refuse(number))
    with pytest.raises(StorageError) as caught:
        WHAT_IS_READ[what](ParquetResults(tmp_path))
    assert caught.value.hint
    assert "=`" not in caught.value.hint


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_results_that_are_made_may_go_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    results = ParquetResults(tmp_path)
    monkeypatch.setattr(Path, "mkdir", refuse(number))
    with pytest.raises(StorageError) as caught, results.trial("a"):
        pass
    assert "with `into=`" in caught.value.hint


@pytest.mark.parametrize(("option", "is_named"), [("into", True), (None, False)])
def test_a_folder_in_use_names_another_one_where_there_may_be_one(
    tmp_path: Path, option: str | None, *, is_named: bool
) -> None:
    with ParquetResults(tmp_path).locked(), pytest.raises(StorageError) as caught:
        with ParquetResults(tmp_path).locked(option):
            pass
    assert caught.value.hint.startswith("wait until it has finished")
    assert ("`into=`" in caught.value.hint) is is_named
