"""Results that cannot be written, belong to somebody else, or do not fit: exit code 6."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from command_line import TOY, TOYS, Ran, run, start

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

FULL = "error: no space left for results in `"

QUICK = ("--no-report", *TOYS)


def refused(ran: Ran, sentence: str, hint: str) -> None:
    assert ran.code == 6, ran.stderr
    assert f"error: {sentence}" in ran.stderr
    assert "hint: " in ran.stderr
    assert hint in ran.stderr


def copied(toy_run: tuple[Path, Ran], into: Path) -> Path:
    """A folder of results of its own."""
    return shutil.copytree(toy_run[0] / "results" / "toy", into / "results")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("mine")
    ran = run("run", TOY, *QUICK, "--into", "results", folder=tmp_path)
    refused(ran, "cannot write results to `results`", "`--into`")
    assert (tmp_path / "results").read_text() == "mine"


@pytest.mark.parametrize("place", ["mine", "mine/results"])
@pytest.mark.parametrize("verb", [("judge",), ("report",), ("export", "--to", "out")])
def test_a_file_is_no_folder_of_results(verb: tuple[str, ...], place: str, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    ran = run(verb[0], place, *verb[1:], folder=tmp_path)
    assert ran.code == 2, ran.stderr
    assert f"`{place}`" in ran.stderr
    assert "hint: " in ran.stderr
    assert "Errno" not in ran.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.root
def test_a_file_system_that_is_read_only_is_refused(small_disk: Path, tmp_path: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    ran = run("run", TOY, *QUICK, "--into", small_disk / "results", folder=tmp_path)
    refused(ran, "cannot write results to `disk/results`: Read-only", "`--into`")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir(mode=0o500)
    ran = run("run", TOY, *QUICK, "--into", "results", folder=tmp_path)
    refused(ran, "cannot write results to `results`: Permission denied", "`--into`")


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.tex").write_text("mine")
    ran = run("run", TOY, *QUICK, "--into", "precious", folder=tmp_path)
    refused(ran, "`precious` contains files that are not results (`thesis.tex`)", "`--into`")


def test_results_of_another_campaign_are_not_mixed_with_new_ones(
    toy_run: tuple[Path, Ran], tmp_path: Path
) -> None:
    results = copied(toy_run, tmp_path)
    (tmp_path / "other.toml").write_text(TOY.read_text().replace('"1s"', '"2s"'))
    before = sorted(results.rglob("*"))
    ran = run("run", "other.toml", *QUICK, "--into", results, folder=tmp_path)
    refused(ran, f"`{results}` has results of another campaign", "`--into`")
    assert sorted(path for path in results.rglob("*") if path.name != ".lock") == [
        path for path in before if path.name != ".lock"
    ]


def test_results_made_with_other_settings_are_not_mixed_with_new_ones(
    toy_run: tuple[Path, Ran], tmp_path: Path
) -> None:
    results = copied(toy_run, tmp_path)
    longer = ("--set", "load.steady.hold.duration=2s")
    ran = run("run", TOY, *QUICK, *longer, "--into", results, folder=tmp_path)
    refused(ran, f"`{results}` was run with other settings: `load` of trial", "`--into`")


def test_two_runs_at_once_in_one_folder_do_not_disturb_each_other(tmp_path: Path) -> None:
    first = start("run", TOY, *QUICK, folder=tmp_path)
    first.wait_until_it_says("[1/1]")
    second = run("run", TOY, *QUICK, folder=tmp_path)
    refused(second, "another run is using `results/toy`", "wait until it has finished")
    assert first.end().code == 0


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("trial.json", b"{", "trial.json` cannot be read"),
        ("trial.json", b'{"format": 99}', "has format 99, this version of Plimsoll reads up to"),
        ("trial.json", b'{"format": 1}', "is not a recording"),
        ("requests.parquet", b"not parquet at all", "requests.parquet` cannot be read"),
    ],
)
def test_a_recording_that_is_damaged_is_named(
    toy_run: tuple[Path, Ran], tmp_path: Path, name: str, content: bytes, sentence: str
) -> None:
    results = copied(toy_run, tmp_path)
    (results / "trials" / "toy.plaintext.steady.1" / name).write_bytes(content)
    ran = run("judge", results, folder=tmp_path)
    assert ran.code == 6, ran.stderr
    assert sentence in ran.stderr


def test_derived_tables_that_are_damaged_are_made_anew(
    toy_run: tuple[Path, Ran], tmp_path: Path
) -> None:
    results = copied(toy_run, tmp_path)
    assert run("judge", results, folder=tmp_path).code in (0, 1)
    damaged = [path for path in (results / "derived").rglob("*") if path.is_file()]
    for path in damaged:
        path.write_bytes(b"no table")
    report = run("report", results, folder=tmp_path)
    assert report.code == 6, report.stderr
    assert "cannot be read" in report.stderr
    assert "hint: run `plimsoll judge` to recompute it" in report.stderr
    assert run("judge", results, folder=tmp_path).code in (0, 1)


@pytest.mark.root
@pytest.mark.parametrize(("kept", "where"), [(True, "`--record`"), (False, "`TMPDIR`")])
def test_a_load_that_fills_the_disk_says_which_and_what_to_do(
    reference_server: str,
    small_disk: Path,
    tmp_path: Path,
    *,
    kept: bool,
    where: str,
) -> None:
    elsewhere = {} if kept else {"TMPDIR": str(small_disk)}
    free = shutil.disk_usage(small_disk).free
    (small_disk / "ballast").write_bytes(b"\0" * (free - 50_000))
    record = ("--record", small_disk / "mine") if kept else ()
    ran = run(
        "load", reference_server, "-n", 20_000, *record, folder=tmp_path, environment=elsewhere
    )
    refused(ran, "no space left for results in `disk/", where)
    assert "resume" not in ran.stderr
    assert [path.name for path in small_disk.iterdir()] == ["ballast"]


def test_a_full_disk_ends_the_campaign_and_keeps_what_is_complete(
    small_disk: Path, tmp_path: Path
) -> None:
    results = small_disk / "results"
    asked = ("run", TOY, *QUICK, "--into", results, "--set", "repetitions=2")
    assert run(*asked, "--set", "repetitions=1", folder=tmp_path).code == 0
    free = small_disk / "ballast"
    free.write_bytes(b"\0" * (shutil.disk_usage(small_disk).free - 30_000))
    full = run(*asked, folder=tmp_path)
    assert full.code == 6, full.stderr
    assert FULL in full.stderr, full.stderr
    assert "hint: free disk space" in full.stderr
    assert [path.name for path in (results / "trials").iterdir()] == ["toy.plaintext.steady.1"]

    report = run("judge", results, folder=tmp_path)
    assert report.code in (0, 1, 6), report.stderr

    free.unlink()
    subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
    resumed = run(*asked, folder=tmp_path)
    assert resumed.code == 0, resumed.stderr
    assert "2 trials, 1 complete" in resumed.stderr
    judged = run("judge", results, "--json", folder=tmp_path)
    completed = [trial["ending"]["kind"] for trial in json.loads(judged.stdout)]
    assert completed == ["completed", "completed"]


@pytest.mark.root
def test_a_disk_that_is_full_before_anything_is_started_is_said(
    small_disk: Path, tmp_path: Path
) -> None:
    (small_disk / "ballast").write_bytes(b"\0" * (shutil.disk_usage(small_disk).free))
    ran = run("run", TOY, *QUICK, "--into", small_disk / "results", folder=tmp_path)
    refused(ran, "no space left for results in `disk/results`", "free disk space")


@pytest.mark.root
def test_a_report_that_does_not_fit_is_said(
    small_disk: Path, tmp_path: Path, toy_run: tuple[Path, Ran]
) -> None:
    results = copied(toy_run, small_disk)
    (small_disk / "ballast").write_bytes(b"\0" * (shutil.disk_usage(small_disk).free - 20_000))
    ran = run("report", results, folder=tmp_path)
    # What is derived lies beside the folder of the report, and meets the full disk first or second.
    refused(ran, "no space left for results in `disk/results", "free disk space")
    assert "--into" not in ran.stderr


def test_output_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    ran = run(
        "list", *TOYS, "--json", folder=tmp_path, before=("sh", "-c", '"$@" >/dev/full', "sh")
    )
    refused(ran, "No space left on device", "check free disk space")
