"""What is required before a load is put on."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.errors import InputError, StorageError
from plimsoll.lab import loads


def recorded(folder: Path, trial: str) -> Path:
    """A folder in which a trial is recorded, or was being recorded."""
    (folder / "trials" / trial).mkdir(parents=True)
    (folder / "trials" / trial / "requests.bin").write_bytes(b"rows")
    (folder / ".lock").touch()
    return folder


def test_what_a_killed_load_left_does_not_take_its_name(tmp_path: Path) -> None:
    loads.require_place(recorded(tmp_path, ".load.partial"), "")


@pytest.mark.parametrize("other", ["trials/load/trial.json", "notes.txt"])
def test_whatever_else_is_in_the_folder_is_kept(tmp_path: Path, other: str) -> None:
    recorded(tmp_path, ".load.partial")
    (tmp_path / other).parent.mkdir(exist_ok=True)
    (tmp_path / other).touch()
    with pytest.raises(StorageError, match=f"is not empty: it holds `{other}`"):
        loads.require_place(tmp_path, "")


def test_rows_that_stay_on_hosts_need_a_recording_that_says_where(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="need a recording by which they are found") as told:
        plimsoll.load("http://10.0.0.9/", hosts=tmp_path / "hosts.toml", keep_rows="remote")
    assert told.value.problems[0].hint == "add `record=`"


def test_what_a_killed_load_left_is_named_where_its_report_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="contains no complete recording: it was killed") as told:
        plimsoll.read(recorded(tmp_path, ".load.partial"))
    assert told.value.hint == "repeat the `load` or `run` that wrote it"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_sigterm_reaches_the_program_whose_load_raises(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failed(*given: Any) -> None:
        interruption = given[-1]
        with interruption.listening(), interruption.deferred():
            os.kill(os.getpid(), number)
        raise StorageError("no space left", "")

    told: list[int] = []
    monkeypatch.setattr(loads, "loaded", failed)
    before = signal.signal(signal.SIGTERM, lambda found, _: told.append(found))
    try:
        with pytest.raises(StorageError):
            plimsoll.load("http://127.0.0.1:1/")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert told == ([number] if number == signal.SIGTERM else [])
