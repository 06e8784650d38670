"""A file of a finished trial that was changed, touched or copied: found by whoever reports it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import plimsoll
from command_line import TOY, TOYS, Ran, run, start
from plimsoll.errors import StorageError
from plimsoll.findings import gathering
from plimsoll.findings.findings import Findings

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

REPORT = ("report", "results", "--format", "markdown")

VERBS = {
    "report": REPORT,
    "threshold": (*REPORT, "--fail-if", "p99>1s"),
    "judge": ("judge", "results"),
    "export": ("export", "results", "--to", "out", "--format", "jtl"),
    "history": ("history", "add", "results", "--history", "history.jsonl"),
    "run": ("run", TOY, *TOYS, "--into", "results"),
}
"""Every verb that says something of the rows of a trial."""


@pytest.fixture(scope="module")
def judged(toy_run: tuple[Path, Ran], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `results`, which were judged and reported."""
    folder = tmp_path_factory.mktemp("judged")
    shutil.copytree(toy_run[0] / "results" / "toy", folder / "results")
    reported(folder)
    return folder


@pytest.fixture
def folder(judged: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return shutil.copytree(judged, tmp_path / "copy")


def reported(folder: Path) -> Ran:
    """What a report says, after which every file is verified."""
    ran = run(*REPORT, folder=folder)
    assert ran.code in (0, 1), ran.stderr
    return ran


def recorded(folder: Path, name: str = "requests.parquet") -> Path:
    """A file of the only trial."""
    (found,) = (folder / "results" / "trials").glob(f"*/{name}")
    return found


def flip(path: Path, *, restores_time: bool) -> None:
    """Changes one byte in the middle of a file in place."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(before.st_size // 2)
        byte = file.read(1)[0]
        file.seek(before.st_size // 2)
        file.write(bytes([byte ^ 1]))
    if restores_time:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert path.stat().st_mtime_ns == before.st_mtime_ns


def is_told_as_damaged(ran: Ran) -> bool:
    """Whether a command refused a table of rows and said what to do."""
    return (
        ran.code == 6
        and "requests.parquet` is damaged: its digest in `SHA256SUMS`" in ran.said
        and "hint: restore it from a copy" in ran.said
    )


@pytest.mark.parametrize("restores_time", [False, True])
@pytest.mark.parametrize("verb", VERBS)
def test_a_flipped_byte_is_found_by_every_verb(
    folder: Path, verb: str, *, restores_time: bool
) -> None:
    reported(folder)
    flip(recorded(folder), restores_time=restores_time)
    ran = run(*VERBS[verb], folder=folder)
    assert is_told_as_damaged(ran), ran.stderr
    flip(recorded(folder), restores_time=restores_time)
    assert run(*VERBS[verb], folder=folder).code in (0, 1, 7)


@pytest.mark.parametrize("restores_time", [False, True])
def test_a_flipped_byte_is_found_by_programs(folder: Path, *, restores_time: bool) -> None:
    reported(folder)
    with plimsoll.read(folder / "results") as found:
        assert found.summaries.num_rows == 1
    flip(recorded(folder), restores_time=restores_time)
    with plimsoll.read(folder / "results") as found:
        for read in (lambda: found.trials[0].summary, lambda: found.report(["markdown"])):
            with pytest.raises(StorageError, match=r"requests\.parquet` is damaged"):
                read()


def test_a_flipped_byte_is_found_by_a_page(folder: Path) -> None:
    reported(folder)
    flip(recorded(folder), restores_time=True)
    watching = start("watch", "results", "--port", 0, folder=folder)
    assert is_told_as_damaged(watching.end())


@pytest.mark.parametrize("name", ["usage.parquet", "requests.parquet"])
def test_a_table_that_was_removed_is_missing(folder: Path, name: str) -> None:
    reported(folder)
    recorded(folder, name).unlink()
    ran = run(*REPORT, folder=folder)
    assert ran.code == 6, ran.stderr
    assert f"{name}` is missing" in ran.said


@pytest.fixture
def unread(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A report of which nothing may be judged or drawn any more."""
    reported(folder)

    def untouched(*_: object, **__: object) -> Findings:
        raise AssertionError("the trials were judged")

    monkeypatch.setattr(gathering, "gather", untouched)
    return folder


def page_written(folder: Path) -> int:
    """When the page of a report was written."""
    return (folder / "results" / "report" / "report.md").stat().st_mtime_ns


def test_the_same_bytes_with_other_times_are_no_change(unread: Path) -> None:
    said, written = reported(unread).said, page_written(unread)
    for path in (unread / "results").rglob("*"):
        if path.is_file() and "report" not in path.parts:
            os.utime(path)
    assert reported(unread).said == said
    assert page_written(unread) == written


@pytest.mark.parametrize("way", [("cp", "-r"), ("cp", "-a")])
def test_a_copy_is_verified_once_and_its_report_stays(
    unread: Path, way: tuple[str, ...], tmp_path: Path
) -> None:
    said = reported(unread).said
    subprocess.run([*way, unread, tmp_path / "elsewhere"], check=True)
    copied = tmp_path / "elsewhere"
    written = page_written(copied)
    before = (copied / "results" / ".verified.json").read_text()
    assert reported(copied).said == said
    after = (copied / "results" / ".verified.json").read_text()
    assert after != before
    assert reported(copied).said == said
    assert (copied / "results" / ".verified.json").read_text() == after
    assert page_written(copied) == written


def test_damage_on_the_way_to_a_copy_is_found(folder: Path, tmp_path: Path) -> None:
    reported(folder)
    subprocess.run(["cp", "-a", folder, tmp_path / "elsewhere"], check=True)
    flip(recorded(tmp_path / "elsewhere"), restores_time=True)
    assert is_told_as_damaged(run(*REPORT, folder=tmp_path / "elsewhere"))
    assert run(*REPORT, folder=folder).code in (0, 1)


@pytest.mark.parametrize("restores_time", [False, True])
def test_a_load_that_was_kept_is_verified_too(
    reference_server: str, tmp_path: Path, *, restores_time: bool
) -> None:
    ran = run("load", reference_server, "-n", 2_000, "--record", "results", folder=tmp_path)
    assert ran.code in (0, 1), ran.stderr
    reported(tmp_path)
    flip(recorded(tmp_path), restores_time=restores_time)
    assert is_told_as_damaged(run(*REPORT, folder=tmp_path))
