"""Campaigns with several drivers, and beside published figures, from the file to the report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command_line import CHECKOUT, Ran, run

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

CAMPAIGNS = sorted((CHECKOUT / "campaigns").glob("*.toml"))
FRAMEWORKS = ("--frameworks", CHECKOUT / "frameworks")
BARE = {"PATH": "/nonexistent"}
"""An environment in which no tool is found."""

DRIVERS = ["plimsoll", *(tool for tool in ("wrk", "ab") if shutil.which(tool))]

CROSSED = f"""
name = "crossed"
driver = {json.dumps(DRIVERS)}
frameworks = ["reference"]
endpoints = ["plaintext"]
cool_down = "0s"
published = "figures.toml"

[[load]]
name = "fixed"
stages = [{{ kind = "hold", duration = "1s", at = 4 }}]
"""

FIGURES = """
title = "How fast the reference is"

[here.subjects]
Reference = "reference"

[[result]]
subject = "Reference"
endpoint = "/plaintext"
connections = 80000
timeout_s = 2
right_ratio = 0.98
throughput_per_s = 8000
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crossed")
    (folder / "crossed.toml").write_text(CROSSED)
    (folder / "figures.toml").write_text(FIGURES)
    return folder


@pytest.fixture(scope="module")
def ran(folder: Path) -> Ran:
    ran = run("run", "crossed.toml", *FRAMEWORKS, folder=folder)
    assert ran.code in (0, 1), ran.stderr
    (folder / "figures.toml").unlink()
    return ran


def trial_id(driver: str) -> str:
    named = f".{driver}" if len(DRIVERS) > 1 else ""
    return f"reference.plaintext.fixed{named}.1"


def judged(folder: Path) -> dict[str, dict[str, object]]:
    ran = run("judge", "results/crossed", "--json", folder=folder)
    assert ran.code in (0, 1), ran.stderr
    return {one["trial"]: one for one in json.loads(ran.stdout)}


@pytest.mark.parametrize("file", CAMPAIGNS, ids=lambda file: file.stem)
def test_every_campaign_has_a_plan_of_what_is_here(file: Path, tmp_path: Path) -> None:
    ran = run("plan", file, "--available", "--json", folder=tmp_path)
    has_reference = file.stem != "database"
    if ran.code == 2 and not has_reference:  # none of its frameworks is built here
        assert "the campaign has no trial to run" in ran.said
        return
    assert ran.code == 0, ran.stderr
    planned = json.loads(ran.stdout)
    assert planned["campaign"]["name"] == file.stem
    frameworks = {trial["framework"] for trial in planned["trials"]}
    assert ("reference" in frameworks) == has_reference


@pytest.mark.usefixtures("ran")
def test_every_driver_puts_on_the_same_trial(folder: Path) -> None:
    found = judged(folder)
    assert sorted(found) == sorted(trial_id(driver) for driver in DRIVERS)
    for driver in DRIVERS:
        known = folder / "results" / "crossed" / "trials" / trial_id(driver) / "trial.json"
        recording = json.loads(known.read_bytes())
        assert recording["ending"]["kind"] == "completed"
        assert recording["driver_name"] == recording["driver"]["name"] == driver


@pytest.mark.skipif(len(DRIVERS) < 2, reason="neither `wrk` nor `ab` is on the PATH")
@pytest.mark.usefixtures("ran")
def test_the_report_says_where_they_disagree_in_every_format(folder: Path) -> None:
    report = folder / "results" / "crossed" / "report"
    page = (report / "index.html").read_text("utf-8")
    text = (report / "report.md").read_text("utf-8")
    assert "Differences between load generators" in page
    section = text.partition("## Differences between load generators")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[0].strip("| ") for line in section.splitlines() if "/s" in line]
    assert rows == ["plimsoll", *sorted(DRIVERS[1:])]
    for one in judged(folder).values():
        beside = one["beside_other_drivers"]
        assert isinstance(beside, dict)
        assert beside["against"] == "plimsoll"


@pytest.mark.usefixtures("ran")
def test_a_report_needs_the_file_of_published_figures_no_longer(folder: Path) -> None:
    shutil.rmtree(folder / "results" / "crossed" / "report")
    ran = run("report", "results/crossed", "--format", "markdown", folder=folder)
    assert ran.code in (0, 1), ran.stderr
    text = (folder / "results" / "crossed" / "report" / "report.md").read_text("utf-8")
    section = text.partition("## Comparison with published results")[2].partition("\n## ")[0]
    assert "How fast the reference is" in section
    assert "× 1.00" in section
    assert "void · Below the timeout floor" in section
    assert "8,000/s" not in section


def test_a_load_that_a_driver_cannot_put_on_is_refused_before_anything_starts(
    tmp_path: Path,
) -> None:
    cengn = CHECKOUT / "campaigns" / "cengn.toml"
    for verb in ("plan", "run"):
        ran = run(
            verb, cengn, "--set", "driver=wrk", "--set", "frameworks=reference", folder=tmp_path
        )
        assert ran.code == 2, ran.stderr
        assert "wrk cannot generate load climb on 2048" in ran.said
        assert "--available" in ran.said
    assert not (tmp_path / "results").exists()


def test_a_driver_that_is_missing_is_an_error_with_what_brings_it(tmp_path: Path) -> None:
    check = CHECKOUT / "campaigns" / "cross-check.toml"
    only = ("--set", "frameworks=reference", "--set", "driver=wrk")
    ran = run("run", check, *only, folder=tmp_path, environment=BARE)
    assert ran.code == 5, ran.stderr
    assert "`wrk` is not installed" in ran.said
    assert not (tmp_path / "results").exists()


def test_of_all_drivers_those_that_are_missing_are_left_out_and_said(tmp_path: Path) -> None:
    check = CHECKOUT / "campaigns" / "cross-check.toml"
    typed = ("plan", check, "--set", "frameworks=reference", "-v")
    ran = run(*typed, folder=tmp_path, environment=BARE)
    assert ran.code == 0, ran.stderr
    planned = [line.split()[1] for line in ran.stdout.splitlines() if ".plaintext." in line]
    assert sorted(planned) == [f"reference.plaintext.fixed.plimsoll.{n}" for n in (1, 2, 3)]
    for tool in ("wrk", "ab", "h2load"):
        assert f"{tool}: `{tool}` is not installed" in ran.said


def test_with_available_a_load_that_a_driver_cannot_put_on_is_left_out_and_said(
    tmp_path: Path,
) -> None:
    cengn = CHECKOUT / "campaigns" / "cengn.toml"
    both = ("--set", "driver=plimsoll,wrk", "--set", "frameworks=reference")
    ran = run("plan", cengn, *both, "--available", "--json", folder=tmp_path)
    assert ran.code == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert {trial["driver"] for trial in found["trials"]} == {"plimsoll"}
    assert {trial["id"].split(".")[3] for trial in found["trials"]} == {"plimsoll"}
    assert {one["driver"] for one in found["refused"]} == {"wrk"}
    assert all(one["reason"] for one in found["refused"])
