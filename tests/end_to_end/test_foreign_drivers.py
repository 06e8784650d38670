"""Campaigns by other tools, as they are typed: refused, missing, failing, or interrupted."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import fake_tools
from command_line import run, start
from plimsoll.recording import Recording
from plimsoll.storage.parquet import ParquetResults
from small_servers import eventually

pytestmark = pytest.mark.timeout(300)

CAMPAIGN = """\
name = "by-others"
frameworks = ["reference"]
endpoints = ["2048"]
driver = "{driver}"
cool_down = "0s"

[[load]]
name = "steady"
timeout = "5s"
stages = [{stages}]
"""
HOLD = '{ kind = "hold", duration = "2s", at = 8 }'
WARM = '{ kind = "warm_up", duration = "1s", at = 8 }, ' + HOLD
RAMP = '{ kind = "ramp", duration = "2s", from = 0, to = 8 }, ' + HOLD
GOLDEN = Path(__file__).parents[1] / "golden" / "published"


def campaign(folder: Path, driver: str, stages: str = HOLD) -> Path:
    path = folder / "campaign.toml"
    path.write_text(CAMPAIGN.format(driver=driver, stages=stages))
    return path


def faked(folder: Path, tool: str, **does: object) -> dict[str, str]:
    """An environment in which a tool is a stand-in."""
    fake_tools.installed(folder / "bin", tool, **does)
    return {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def recorded(folder: Path) -> Recording:
    results = ParquetResults(folder / "results" / "by-others")
    return results.recording(results.trial_ids()[0])


@pytest.mark.parametrize(
    "driver", ["wrk", *(pytest.param(one, marks=pytest.mark.thorough) for one in ("ab", "h2load"))]
)
def test_a_trial_by_another_tool_is_reported_in_every_format_with_its_name(
    driver: str, tmp_path: Path
) -> None:
    if shutil.which(driver) is None:
        pytest.skip(f"{driver} is not installed")
    ran = run("run", campaign(tmp_path, driver, WARM), folder=tmp_path)
    assert ran.code in (0, 1), ran.stderr
    kept = recorded(tmp_path)
    assert kept.ending.kind == "completed"
    assert kept.driver is not None
    assert kept.driver.figures is not None
    assert kept.versions["driver"] == kept.driver.version != ""
    assert f"as counted by {driver}" in ran.stderr
    report = tmp_path / "results" / "by-others" / "report"
    text = (report / "report.md").read_text()
    assert f"{driver} {kept.driver.version}" in text
    assert f"{driver} " in text.partition("Command")[2]
    assert "not drawn: " in text
    assert driver in (report / "index.html").read_text()
    assert (report / "report.pdf").stat().st_size > 1000
    charts = {path.name.split(".")[-2] for path in (report / "charts").glob("trial-*")}
    assert charts >= {"cpu", "memory"}
    assert "connections" not in charts
    assert ("throughput" in charts) == (driver != "wrk")


def test_a_load_that_a_tool_cannot_put_on_is_refused_before_anything_starts(tmp_path: Path) -> None:
    ran = run("run", campaign(tmp_path, "wrk", RAMP), folder=tmp_path)
    assert ran.code == 2
    assert "wrk cannot generate load steady on 2048: `wrk` has no ramps" in ran.said
    assert not (tmp_path / "results").exists()


def test_a_tool_that_is_not_here_ends_the_program_before_anything_starts(tmp_path: Path) -> None:
    environment = {"PATH": str(Path(shutil.which("env") or "").parent / "none")}
    ran = run("run", campaign(tmp_path, "wrk"), folder=tmp_path, environment=environment)
    assert ran.code == 5
    assert "error: `wrk` is not installed on this host" in ran.stderr
    assert "hint: `apt-get install wrk`" in ran.stderr
    assert not (tmp_path / "results").exists()


def test_a_tool_that_fails_is_the_ending_of_its_trial_with_its_last_words(tmp_path: Path) -> None:
    environment = faked(tmp_path, "wrk", exits=1, complains="unable to create thread\n")
    asked = ("run", campaign(tmp_path, "wrk"), "--no-report")
    ran = run(*asked, folder=tmp_path, environment=environment)
    assert ran.code == 5
    assert "`wrk` ended with exit code 1; its last output: unable to create thread" in ran.said
    kept = recorded(tmp_path)
    assert kept.ending.kind == "DriverFailed"
    assert kept.server is not None
    assert kept.server.clean_stop


def test_something_else_than_figures_is_the_ending_too_and_can_be_looked_at(tmp_path: Path) -> None:
    environment = faked(tmp_path, "ab", prints="all is well\n")
    asked = ("run", campaign(tmp_path, "ab"), "--no-report")
    ran = run(*asked, folder=tmp_path, environment=environment)
    assert ran.code == 5
    assert "`ab` exited without results" in ran.said
    trial = next((tmp_path / "results" / "by-others" / "trials").iterdir())
    assert (trial / "ab.txt").read_text() == "all is well\n"


def test_ctrl_c_ends_the_tool_and_its_server_and_keeps_no_half_trial(tmp_path: Path) -> None:
    environment = faked(tmp_path, "wrk", on_signal=(GOLDEN / "wrk-sound.txt").read_text())
    long = HOLD.replace('"2s"', '"200s"')
    running = start(
        "run", campaign(tmp_path, "wrk", long), folder=tmp_path, environment=environment
    )
    assert eventually(lambda: any(tmp_path.rglob("waits")), 120.0), running.stderr
    running.press_ctrl_c()
    ran = running.end()
    assert ran.code == 130
    assert "interrupted; 0 of 1 trials are recorded" in ran.stderr
    assert running.leaves_nothing()
    assert not list((tmp_path / "results" / "by-others" / "trials").glob("[!.]*"))


def test_the_list_shows_the_drivers_and_what_is_missing(tmp_path: Path) -> None:
    environment = faked(tmp_path, "wrk", version="wrk 4.2.0 [epoll]", exits=1)
    ran = run("list", "reference", "--json", folder=tmp_path, environment=environment)
    drivers = {driver["name"]: driver for driver in json.loads(ran.stdout)["drivers"]}
    assert drivers["plimsoll"]["status"] == "ready"
    assert (drivers["wrk"]["status"], drivers["wrk"]["version"]) == ("ready", "4.2.0")
    assert drivers.keys() >= {"ab", "h2load"}
