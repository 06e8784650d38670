"""Folders of single loads: one that a killed load left behind is removed, one in use is not."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

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

MAKES_MANY = """
from plimsoll.storage import scratch
for _ in range(100):
    with scratch.folder() as folder:
        (folder / "rows").write_text("1")
        assert (folder / "rows").exists()
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


def killed_while_making(temporary: Path) -> Path:
    """What a process leaves that is killed before its folder has its name."""
    dies = f"""
import os, pathlib, signal
from plimsoll.storage import scratch
pathlib.Path.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with scratch.folder(pathlib.Path({str(temporary)!r})):
    pass
"""
    ran = subprocess.run([sys.executable, "-c", dies], check=False)
    assert ran.returncode == -signal.SIGKILL
    (left,) = temporary.iterdir()
    return left


def test_what_a_load_left_behind_that_was_killed_at_its_start_is_removed(temporary: Path) -> None:
    left = killed_while_making(temporary)
    assert left.name.startswith(".")
    with scratch.folder() as own:
        assert list(temporary.iterdir()) == [own]


def test_a_folder_that_is_held_before_it_has_its_name_stays(temporary: Path) -> None:
    left = killed_while_making(temporary)
    descriptor = os.open(left, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    with scratch.folder():
        assert left.exists()
    os.close(descriptor)


@pytest.mark.parametrize("held", [False, True])
def test_a_folder_that_another_process_takes_before_it_is_held_is_made_again(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, *, held: bool
) -> None:
    """The other process has locked it, or has removed it already."""
    make = tempfile.mkdtemp
    taken: list[int] = []

    def made(**wanted: Any) -> str:
        path = make(**wanted)
        if not taken:
            taken.append(os.open(path, os.O_RDONLY | os.O_DIRECTORY))
            fcntl.flock(taken[0], fcntl.LOCK_EX)
            if not held:
                Path(path).rmdir()
        return path

    monkeypatch.setattr(tempfile, "mkdtemp", made)
    with scratch.folder() as own:
        (own / "rows").write_text("1")
        os.close(taken[0])
        scratch.remove_abandoned(temporary)
        assert (own / "rows").exists(), "it is held"


def test_two_that_begin_at_once_both_have_a_folder(temporary: Path) -> None:
    command = [sys.executable, "-c", MAKES_MANY]
    running = [subprocess.Popen(command) for _ in range(3)]
    assert [one.wait() for one in running] == [0, 0, 0]
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
