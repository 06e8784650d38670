"""Folders of single loads: one that a killed load left behind is removed, one in use is not."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from plimsoll.storage import scratch

HOLDS = """
import sys
from plimsoll.storage import scratch
with scratch.folder() as folder:
    (folder / "rows").write_text("1")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_what_a_killed_load_left_behind_is_removed_by_the_next(temporary: Path) -> None:
    command = [sys.executable, "-c", HOLDS]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as load:
        assert load.stdout is not None
        folder = Path(load.stdout.readline().strip())
        with scratch.folder() as own:
            assert own != folder
            assert (folder / "rows").exists(), "its owner lives"
        load.send_signal(signal.SIGKILL)
        load.wait()
    assert folder.exists()
    with scratch.folder() as own:
        assert list(temporary.iterdir()) == [own]
    assert list(temporary.iterdir()) == []


def test_what_is_no_folder_of_a_load_stays(temporary: Path) -> None:
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    (temporary / f"{scratch.PREFIX}link").symlink_to(elsewhere)
    (temporary / f"{scratch.PREFIX}file").write_text("")
    before = {*temporary.iterdir()}
    with scratch.folder():
        pass
    assert {*temporary.iterdir()} == before
