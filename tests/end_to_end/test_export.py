"""`plimsoll export`: what it writes, and what a person can do wrong."""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_line import Ran, run
from recordings import write_results

pytestmark = pytest.mark.timeout(120)

GO, NODE = "go.2048.steady.1", "node.2048.steady.1"
FILES = {
    "seconds_success.csv", "seconds_failure.csv", "requests.jtl", "response_time.hlog",
    "service_time.hlog", "trial.json", "requests.parquet", "connections.parquet", "usage.parquet",
    "seconds.parquet", "summaries.parquet", "quantiles.parquet", "latency_buckets.parquet",
    "stages.parquet", "export.json",
}  # fmt: skip


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two trials, one of them with failures."""
    folder = tmp_path_factory.mktemp("export") / "results"
    write_results(folder, {"failures": {"reset_waiting": 0.02}}, {"framework": "node"})
    return folder


def refused(ran: Ran, code: int, sentence: str, hint: str) -> None:
    assert ran.code == code, ran.stderr
    assert f"error: {sentence}" in ran.said
    assert "hint: " in ran.stderr
    assert hint in ran.said


def test_every_trial_has_a_folder_with_every_format(results: Path, tmp_path: Path) -> None:
    ran = run("export", results, "--to", "out", folder=tmp_path)
    assert ran.code == 0, ran.stderr
    assert "exported 2 trials to `out`" in ran.stderr
    assert sorted(path.name for path in (tmp_path / "out").glob("[!.]*")) == [GO, NODE]
    for trial in (GO, NODE):
        assert {path.name for path in (tmp_path / "out" / trial).iterdir()} == FILES
    requests = pq.read_table(results / "trials" / GO / "requests.parquet")
    with (tmp_path / "out" / GO / "seconds_success.csv").open(encoding="utf-8") as file:
        counted = sum(int(row["requests"]) for row in csv.DictReader(file))
    assert counted == requests["outcome"].to_pylist().count("ok")


def test_one_format_of_one_trial(results: Path, tmp_path: Path) -> None:
    asked = ("export", results, "--to", "out", "--trial", NODE)
    assert run(*asked, "--only", "seconds,jtl", folder=tmp_path).code == 0
    assert [path.name for path in (tmp_path / "out").glob("[!.]*")] == [NODE]
    ran = run(*asked, "--format", "hlog", folder=tmp_path)
    assert ran.code == 0, ran.stderr
    kept = {path.name for path in (tmp_path / "out" / NODE).iterdir()}
    assert kept == {name for name in FILES if name.endswith((".csv", ".jtl", ".hlog"))} | {
        "export.json"
    }


def test_an_export_again_is_the_same(results: Path, tmp_path: Path) -> None:
    def content() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in (tmp_path / "out" / GO).iterdir()}

    asked = ("export", results, "--to", "out", "--trial", GO)
    assert run(*asked, folder=tmp_path).code == 0
    before = content()
    assert run(*asked, folder=tmp_path).code == 0
    assert content() == before


def test_what_a_format_cannot_say_is_noted(tmp_path: Path) -> None:
    write_results(tmp_path / "bare", {"tables": False})
    path = tmp_path / "bare" / "trials" / GO / "trial.json"
    recorded = json.loads(path.read_text("utf-8"))
    recorded["driver"]["name"] = "wrk"
    path.write_text(json.dumps(recorded), "utf-8")
    ran = run("export", "bare", "--to", "out", "--only", "jtl,parquet", folder=tmp_path)
    assert ran.code == 0, ran.stderr
    sentence = "nothing to export: `wrk` logged no requests"
    assert f"note: jtl: {sentence}" in ran.said
    told = json.loads((tmp_path / "out" / GO / "export.json").read_text())
    assert told["formats"] == {"jtl": [sentence], "parquet": []}


def test_a_folder_that_holds_no_recording_is_refused(tmp_path: Path) -> None:
    ran = run("export", ".", "--to", "out", folder=tmp_path)
    refused(ran, 2, "`.` contains no recording", "give a results folder")
    ran = run("export", "nowhere", "--to", "out", folder=tmp_path)
    refused(ran, 2, "`nowhere` is not a folder", "give a results folder")
    assert not (tmp_path / "out").exists()


def test_a_target_is_asked_for(results: Path, tmp_path: Path) -> None:
    refused(run("export", results, folder=tmp_path), 2, "missing option `--to`", "--help")


@pytest.mark.parametrize("target", ["", "mysql://root@localhost/x"])
def test_a_target_that_is_none_is_refused(results: Path, tmp_path: Path, target: str) -> None:
    ran = run("export", results, "--to", target, folder=tmp_path)
    refused(ran, 2, "--to: the target is neither a folder nor a PostgreSQL URL", "postgresql://")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_is_refused_with_the_one_that_was_meant(
    results: Path, tmp_path: Path
) -> None:
    ran = run("export", results, "--to", "out", "--only", "jtl,secnds", folder=tmp_path)
    refused(ran, 2, "invalid value for `--format` / `--only`", "did you mean `seconds`?")
    assert not (tmp_path / "out").exists()


def test_an_unknown_trial_is_refused_with_the_ones_there_are(results: Path, tmp_path: Path) -> None:
    ran = run("export", results, "--to", "out", "--trial", "go.2048.steady.2", folder=tmp_path)
    refused(ran, 2, f"--trial: `{results}` has no trial `go.2048.steady.2`", f"`{GO}`, `{NODE}`")
    assert not (tmp_path / "out").exists()


def test_a_file_in_place_of_the_folder_is_refused(results: Path, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    ran = run("export", results, "--to", "out", folder=tmp_path)
    refused(ran, 6, "cannot write results to `out`", "`--to`")
    assert (tmp_path / "out").read_text() == "mine"


def test_a_folder_with_other_things_in_it_is_refused(results: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    ran = run("export", results, "--to", ".", folder=tmp_path)
    refused(ran, 6, "`.` contains files that are not an export (`thesis.tex`)", "`--to`")


def test_results_are_not_exported_into_themselves(results: Path, tmp_path: Path) -> None:
    ran = run("export", results, "--to", results, folder=tmp_path)
    refused(ran, 6, f"`{results}` contains files that are not an export", "`--to`")


def test_a_database_takes_no_formats(results: Path, tmp_path: Path) -> None:
    target = "postgresql://somebody@127.0.0.1:1/nothing"
    ran = run("export", results, "--to", target, "--only", "jtl", folder=tmp_path)
    refused(ran, 2, "--format: a database export has no formats", "remove `--format`")


def test_a_recording_that_is_damaged_is_named(results: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(results, tmp_path / "results")
    (copied / "trials" / GO / "requests.parquet").write_bytes(b"not parquet at all")
    ran = run("export", "results", "--to", "out", folder=tmp_path)
    assert ran.code == 6, ran.stderr
    assert "requests.parquet` cannot be read" in ran.said
    assert not (tmp_path / "out" / GO).exists()


@pytest.mark.root
def test_a_disk_that_is_full_leaves_whole_trials_only(
    results: Path, small_disk: Path, tmp_path: Path
) -> None:
    out = small_disk / "out"
    asked = ("export", results, "--to", out)
    assert run(*asked, "--trial", GO, folder=tmp_path).code == 0
    (small_disk / "ballast").write_bytes(b"\0" * (shutil.disk_usage(small_disk).free - 60_000))
    for formats in ((), ("--only", "jtl"), ("--only", "parquet")):
        ran = run(*asked, "--trial", NODE, *formats, folder=tmp_path)
        refused(ran, 6, "no space left for results in `disk/out`", "`--to`")
        assert [path.name for path in out.iterdir() if path.name != ".lock"] == [GO]
    assert {path.name for path in (out / GO).iterdir()} == FILES


@pytest.mark.root
def test_a_file_system_that_is_read_only_is_refused(
    results: Path, small_disk: Path, tmp_path: Path
) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    ran = run("export", results, "--to", small_disk / "out", folder=tmp_path)
    refused(ran, 6, "cannot write results to `disk/out`: Read-only", "`--to`")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused(results: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o500)
    ran = run("export", results, "--to", "out", folder=tmp_path)
    refused(ran, 6, "cannot write results to `out`: Permission denied", "`--to`")
