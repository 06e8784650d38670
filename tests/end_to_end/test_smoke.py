"""The smoke campaign, all the way from its file to the reports: two frameworks, two endpoints."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from command_line import SMOKE, Ran, run

TRIALS = [
    f"{framework}.{endpoint}.steady.1"
    for framework in ("go", "reference")
    for endpoint in ("2048", "json")
]

INSTALLED = pytest.mark.skipif(shutil.which("go") is None, reason="`go` is not on the PATH")
pytestmark = [pytest.mark.long, pytest.mark.timeout(300), INSTALLED]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("smoke")
    assert run("install", "--campaign", SMOKE, folder=folder).code == 0
    return folder


@pytest.fixture(scope="module")
def first(folder: Path) -> Ran:
    ran = run("run", SMOKE, folder=folder)
    assert ran.code in (0, 1), ran.stderr
    return ran


@pytest.fixture(scope="module")
def results(first: Ran, folder: Path) -> Path:
    return folder / "results" / "smoke"


def test_it_is_known_beforehand_what_will_be_done(folder: Path) -> None:
    ran = run("plan", SMOKE, "--json", folder=folder)
    assert ran.code == 0
    asked = json.loads(ran.stdout)
    assert sorted(trial["id"] for trial in asked["trials"]) == TRIALS
    assert asked["estimate"]["load_s"] == 8


def test_every_trial_is_recorded_with_its_tables(results: Path) -> None:
    assert sorted(path.name for path in (results / "trials").iterdir()) == TRIALS
    for trial in TRIALS:
        names = {path.name for path in (results / "trials" / trial).iterdir()}
        assert names == {
            "trial.json", "SHA256SUMS", "server.log", "driver.log",
            "requests.parquet", "connections.parquet", "usage.parquet",
        }  # fmt: skip


def test_the_campaign_is_kept_as_it_was_given(results: Path) -> None:
    assert (results / "campaign.toml").read_bytes() == SMOKE.read_bytes()
    plan = json.loads((results / "plan.json").read_bytes())
    assert sorted(trial["id"] for trial in plan["trials"]) == TRIALS


def test_every_request_is_a_row_and_right(results: Path) -> None:
    for trial in TRIALS:
        folder = results / "trials" / trial
        known = json.loads((folder / "trial.json").read_bytes())
        assert known["ending"]["kind"] == "completed"
        counted = known["driver"]["outcomes"]
        rows = pq.read_table(folder / "requests.parquet", columns=["outcome"])
        found = {one["values"]: one["counts"] for one in rows["outcome"].value_counts().to_pylist()}
        assert found == {name: count for name, count in counted.items() if count}
        assert set(found) <= {"ok", "unfinished", "cancelled"}
        assert found["ok"] > 0


def test_the_report_is_there_in_every_format(results: Path, first: Ran) -> None:
    report = results / "report"
    page = (report / "index.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>") or page.startswith("<!doctype html>")
    assert (report / "report.pdf").read_bytes().startswith(b"%PDF-")
    text = (report / "report.md").read_text(encoding="utf-8")
    for words in ("go", "reference", "2048", "json"):
        assert words in page
        assert words in text
    for name in ("index.html", "report.pdf", "report.md"):
        assert f"results/smoke/report/{name}" in first.stderr


def test_compliance_is_recorded_once_for_each_framework_and_shown(results: Path) -> None:
    recorded = [
        json.loads((results / "trials" / name / "trial.json").read_text()) for name in TRIALS
    ]
    found = {one["framework"]: one["compliance"] for one in recorded if one["compliance"]}
    assert sorted(found) == ["go", "reference"]
    assert sum(bool(one["compliance"]) for one in recorded) == 2
    assert not [case for case in found["reference"] if case["result"] in ("differs", "not_tried")]
    page = (results / "report" / "index.html").read_text(encoding="utf-8")
    assert '<h2 id="compliance">HTTP compliance</h2>' in page


def test_progress_is_on_stderr_and_the_ranking_on_stdout(first: Ran) -> None:
    assert "4 trials; 8 s of load to run" in first.stderr
    for place in range(1, 5):
        assert f"[{place}/4] " in first.stderr
    for words in ("reference", "go", "2048", "json"):
        assert words in first.stdout
    assert "[1/4]" not in first.stdout
    assert "\x1b" not in first.stdout + first.stderr


def test_the_ranking_fits_a_screen_of_eighty_columns(first: Ran) -> None:
    assert max(map(len, first.stdout.splitlines())) <= 80


def test_the_exit_code_says_whether_a_verdict_is_void(first: Ran, results: Path) -> None:
    judged = run("judge", results, "--json", folder=results)
    levels = [trial["level"] for trial in json.loads(judged.stdout)]
    assert len(levels) == 4
    assert first.code == judged.code == ("void" in levels)


def test_a_second_run_conducts_nothing_and_is_quick(first: Ran, folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("trial.json")}
    second = run("run", SMOKE, "--no-report", folder=folder)
    assert second.code == 0
    assert "4 trials, all complete" in second.stderr
    assert second.duration_s < first.duration_s / 3
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("trial.json")} == before


def test_what_follows_from_recordings_can_be_thrown_away_and_made_again(results: Path) -> None:
    shutil.rmtree(results / "derived")
    shutil.rmtree(results / "report")
    ran = run("report", results, "--format", "markdown", folder=results)
    assert ran.code in (0, 1)
    assert [path.name for path in (results / "report").glob("*.md")] == ["report.md"]
    assert not (results / "report" / "index.html").exists()


def test_a_framework_more_is_measured_without_repeating_the_others(
    first: Ran, folder: Path
) -> None:
    more = ("--set", "frameworks=reference,go,reference:one-acceptor", "--set", "endpoints=2048")
    ran = run("run", SMOKE, "--no-report", *more, folder=folder)
    assert ran.code == 0
    assert "3 trials, 2 complete" in ran.stderr
    assert "[1/1] reference-one-acceptor.2048.steady.1" in ran.stderr
