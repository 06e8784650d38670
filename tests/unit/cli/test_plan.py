"""What `plimsoll plan` says besides the trials."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from plimsoll import lab
from plimsoll.cli import plan, plimsoll
from plimsoll.errors import InputError
from plimsoll.estimates import PlanEstimate


@pytest.fixture(autouse=True)
def quiet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nothing ran, and that nobody else uses."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(lab.paces, "OWN_TIMES", tmp_path / "schedstat")


LINES = """
name = "lines"
kind = "line"
frameworks = ["go", "spring"]
endpoints = ["json"]

[line]
p99 = "20ms"
"""


def test_a_plan_of_load_lines_says_what_warm_ups_take_besides_the_budget(tmp_path: Path) -> None:
    file = tmp_path / "lines.toml"
    file.write_text(LINES, encoding="utf-8")
    ran = CliRunner().invoke(plimsoll, ["plan", str(file)])
    said = " ".join(ran.output.split())
    assert said.startswith("trials 2, without the tries of searches load ")
    searches = "2 searches of at most 90 s each, plus 8 s of warm-up for each try of spring"
    assert f"after them {searches}" in said


def test_the_total_time_of_a_plan_of_load_lines_has_the_searches(tmp_path: Path) -> None:
    file = tmp_path / "lines.toml"
    file.write_text(LINES, encoding="utf-8")
    found = json.loads(CliRunner().invoke(plimsoll, ["plan", str(file), "--json"]).output)
    estimate = found["estimate"]
    assert estimate["searches_s"] >= 2 * 90
    assert estimate["duration_s"] > estimate["searches_s"] + estimate["load_s"]
    assert estimate["least_s"] <= estimate["duration_s"] <= estimate["most_s"]
    said = " ".join(CliRunner().invoke(plimsoll, ["plan", str(file)]).output.split())
    minutes = round(estimate["duration_s"] / 60)
    assert f"in total at most about {minutes} min" in said
    file.write_text(LINES + 'budget = "40s"\n', encoding="utf-8")
    short = json.loads(CliRunner().invoke(plimsoll, ["plan", str(file), "--json"]).output)
    assert short["estimate"]["duration_s"] < estimate["duration_s"] - 2 * 50
    file.write_text(LOADS, encoding="utf-8")
    loads = json.loads(CliRunner().invoke(plimsoll, ["plan", str(file), "--json"]).output)
    assert loads["estimate"]["searches_s"] == 0


def test_a_limit_that_nothing_exceeds_is_null_in_json(tmp_path: Path) -> None:
    file = tmp_path / "lines.toml"
    file.write_text(LINES, encoding="utf-8")
    typed = ["plan", str(file), "--json", "--set", "limits.steady.silent_ratio_void=inf"]
    found = json.loads(CliRunner().invoke(plimsoll, typed).output)
    assert found["campaign"]["limits"] == {"steady": {"silent_ratio_void": None}}


def test_a_plan_counts_what_is_left_out_and_lists_it_where_that_is_wanted(tmp_path: Path) -> None:
    file = tmp_path / "omitted.toml"
    file.write_text(LOADS.replace('["go"]', '["reference"]').replace('["json"]', '["json", "db"]'))
    brief = CliRunner().invoke(plimsoll, ["plan", str(file)]).output
    listed = CliRunner().invoke(plimsoll, ["plan", str(file), "-v"]).output
    assert "left out    1 combination; `-v` lists them with the reasons" in brief.splitlines()
    assert "does not serve db: " not in brief
    assert "   –  reference does not serve db: " in listed
    assert max(map(len, brief.splitlines())) <= 80


def test_a_plan_begins_with_what_it_takes_and_lists_trials_where_that_is_wanted(
    tmp_path: Path,
) -> None:
    file = tmp_path / "lines.toml"
    file.write_text(LINES, encoding="utf-8")
    brief = CliRunner().invoke(plimsoll, ["plan", str(file)]).output
    listed = CliRunner().invoke(plimsoll, ["plan", str(file), "-v"]).output
    assert brief.splitlines()[0] == "trials      2, without the tries of searches"
    assert brief.splitlines()[0] == listed.splitlines()[0]
    ids = ("go.json.peak.1", "spring.json.peak.1")
    assert [name for name in ids if name in brief] == []
    assert [name for name in ids if name in listed] == [*ids]


@pytest.mark.parametrize(
    ("least_s", "most_s", "words"),
    [
        (290.0, 310.0, "about 5 min"),
        (240.0, 620.0, "about 5 min (4 min to 10 min by earlier runs)"),
    ],
)
def test_a_plan_names_its_range_where_earlier_runs_differ(
    least_s: float, most_s: float, words: str
) -> None:
    found = PlanEstimate(3, 60.0, 300.0, 1, 48, 48, 0, least_s=least_s, most_s=most_s)
    assert dict(plan.spoken(found, 0))["in total"] == words


HOSTS = """
[lab]
address = "10.0.0.1"

[[host]]
name = "one"
address = "10.0.0.2"
cores = [2, 3]

[[host]]
name = "two"
address = "10.0.0.3"
"""

LOADS = """
name = "loads"
frameworks = ["go"]
endpoints = ["json"]

[[load]]
name = "few"
stages = [{ kind = "hold", duration = "5s", at = 10 }]
"""

ARRIVALS = """
[[load]]
name = "open"
model = "open"
connections = 100
stages = [{ kind = "hold", duration = "5s", at = 30 }]
"""


@pytest.mark.parametrize("as_json", [(), ("--json",)], ids=["text", "json"])
def test_a_plan_without_a_trial_is_refused_as_a_run_is(
    tmp_path: Path, as_json: tuple[str, ...]
) -> None:
    file = tmp_path / "loads.toml"
    file.write_text(LOADS.replace("json", "ws"), encoding="utf-8")
    arguments = ["plan", str(file), "--set", "frameworks=python-http-server", *as_json]
    ran = CliRunner().invoke(plimsoll, arguments, standalone_mode=False)
    assert isinstance(ran.exception, InputError)
    assert ran.exception.problems[0].message == "the campaign has no trial to run"
    assert "note: python-http-server does not serve ws" in ran.stderr
    assert not ran.stdout


def hosts_of_a_plan(folder: Path, campaign: str) -> dict[str, str]:
    """What the plan of a campaign says of each host."""
    (folder / "hosts.toml").write_text(HOSTS, encoding="utf-8")
    (folder / "campaign.toml").write_text(campaign, encoding="utf-8")
    arguments = ["plan", str(folder / "campaign.toml"), "--hosts", str(folder / "hosts.toml")]
    ran = CliRunner().invoke(plimsoll, arguments)
    listed = ran.output.partition("Hosts:\n")[2].splitlines()
    return {line.split()[0]: line.partition(") ")[2] for line in listed if line.startswith("  ")}


def test_a_plan_says_which_connections_a_host_opens(tmp_path: Path) -> None:
    told = hosts_of_a_plan(tmp_path, LOADS)
    assert told["one"] == "generates load with 2 threads on cores 2,3: 7 of 10 connections (70 %)"
    assert told["two"] == "generates load with 1 thread: 3 of 10 connections (30 %)"


def test_a_plan_says_which_arrivals_of_open_loads_a_host_has(tmp_path: Path) -> None:
    told = hosts_of_a_plan(tmp_path, LOADS + ARRIVALS)
    assert told["two"] == (
        "generates load with 1 thread: 33 of 100 connections (33 %), 3 of 10 connections (30 %), "
        "arrivals of open loads in proportion to connections"
    )


def test_tries_of_a_load_line_are_open_loads(tmp_path: Path) -> None:
    told = hosts_of_a_plan(tmp_path, LINES)
    assert told["one"].endswith("arrivals of open loads in proportion to connections")
