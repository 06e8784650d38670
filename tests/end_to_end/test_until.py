"""Campaigns that go on until their intervals are narrow, or until the budget is spent."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import plimsoll
from command_line import HERE, LENIENT, TOYS, eventually, run, start
from plimsoll.comparison.further_blocks import MOST, CampaignProgress
from plimsoll.lab.results import CampaignResults

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

STEADY = """\
name = "pair"
frameworks = ["toy", "toy:starts-slowly"]
endpoints = ["plaintext"]
repetitions = 2
cool_down = "0s"
until = "5%"

[[load]]
name = "steady"
model = "open"
connections = 8
stages = [
  { kind = "warm_up", duration = "100ms", at = 100 },
  { kind = "hold", duration = "400ms", at = 100 },
]
"""
"""Arrivals at a fixed rate: both servers answer as many, so their ratio is known at once."""

CLOSED = (
    STEADY.replace('model = "open"\nconnections = 8\n', "")
    .replace("at = 100", "at = 4")
    .replace("until", 'turns = "100ms"\nuntil')
)
"""As many answers as the servers can give, in turns: no ratio is ever known to a millionth."""

NEVER = "until=0.0001%"
SERVERS = ("toy", "toy-starts-slowly")


def campaign(folder: Path, text: str = STEADY) -> Path:
    path = folder / "pair.toml"
    path.write_text(text)
    return path


def conducted(folder: Path, *settings: str, text: str = CLOSED) -> CampaignResults:
    return plimsoll.run(
        campaign(folder, text),
        into=folder / "results" / "pair",
        frameworks=HERE / "frameworks",
        settings=settings,
    )


def progress(results: CampaignResults) -> CampaignProgress:
    found = results.findings.progress
    assert found is not None
    return found


def trials(blocks: int) -> set[str]:
    """Every trial of so many whole blocks."""
    numbers = range(1, blocks + 1)
    return {f"{name}.plaintext.steady.{number}" for name in SERVERS for number in numbers}


def test_narrow_intervals_end_a_campaign_before_its_budget(tmp_path: Path) -> None:
    wide = ("--set", "until=50%", "--set", "budget=3m")
    typed = ("run", campaign(tmp_path), *TOYS, *LENIENT, *wide, "--no-report")
    assert run(*typed, folder=tmp_path).code == 0
    reported = run("report", "results/pair", "--format", "markdown", folder=tmp_path)
    assert "all intervals are within ±50 %" in reported.stdout
    with plimsoll.read(tmp_path / "results" / "pair") as results:
        found = progress(results)
        assert found.end == "decided"
        assert found.spent_s < found.rule.budget_s
        assert {one.id for one in results.trials} == trials(found.tables[0].blocks)


def test_a_budget_ends_a_campaign_after_whole_blocks_and_a_greater_one_continues_it(
    tmp_path: Path,
) -> None:
    with conducted(tmp_path, NEVER, "budget=2100ms") as results:
        first = progress(results)
        assert first.end == "budget"
        (table,) = first.tables
        assert {one.id for one in results.trials} == trials(table.blocks)
        before = {one.id: one.recording for one in results.trials}
    greater_s = first.spent_s + 1.5 * table.block_s
    with conducted(tmp_path, NEVER, f"budget={greater_s}s") as results:
        second = progress(results)
        assert second.end == "budget"
        assert second.tables[0].blocks > table.blocks
        assert {one.id for one in results.trials} == trials(second.tables[0].blocks)
        assert {one.id: one.recording for one in results.trials if one.id in before} == before
        assert second.spent_s + second.tables[0].block_s > greater_s
    report = run("report", "results/pair", "--format", "markdown", folder=tmp_path)
    assert "s spent; still " in report.stdout


def test_a_killed_campaign_finishes_the_block_that_it_began(tmp_path: Path) -> None:
    file = campaign(tmp_path, CLOSED)
    running = start(
        "run", file, *TOYS, "--set", NEVER, "--set", "budget=10m", "--no-report", folder=tmp_path
    )
    running.wait_until_it_says("repetition 3: 2 servers in turns")
    plan = tmp_path / "results" / "pair" / "plan.json"
    assert eventually(lambda: len(json.loads(plan.read_bytes())["trials"]) == 6, 20.0)
    running.process.kill()
    running.end()
    with conducted(tmp_path, NEVER, "budget=2100ms") as results:
        assert {one.id for one in results.trials} == trials(3)
        assert progress(results).end == "budget"


def test_a_plan_says_how_many_blocks_there_may_be(tmp_path: Path) -> None:
    ran = run("plan", campaign(tmp_path), *TOYS, "--set", "budget=2m", folder=tmp_path)
    assert ran.code == 0
    blocks = r"blocks 2 to (\d+) of each table, at most 120 s, until all intervals are within ±5 %"
    found = re.search(blocks, " ".join(ran.stdout.split()))
    assert found, ran.stdout
    assert 2 < int(found[1]) <= MOST


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("until=0%",), "`until` must be above 0% and below 100%"),
        (("budget=1s",), "`budget` is 1 s, and the loads of 2 blocks take 2 s"),
        (("frameworks=toy",), "`until` needs two frameworks to compare"),
    ],
)
def test_a_rule_that_cannot_be_kept_is_refused_before_anything_starts(
    tmp_path: Path, settings: tuple[str, ...], message: str
) -> None:
    options = [part for setting in settings for part in ("--set", setting)]
    for verb in ("plan", "run"):
        ran = run(verb, campaign(tmp_path), *TOYS, *options, folder=tmp_path)
        assert ran.code == 2
        assert message in ran.stderr
    assert not (tmp_path / "results").exists()


def test_a_budget_without_until_is_refused(tmp_path: Path) -> None:
    file = campaign(tmp_path, STEADY.replace('until = "5%"', 'budget = "5m"'))
    ran = run("plan", file, *TOYS, folder=tmp_path)
    assert ran.code == 2
    assert "pair.toml:6: `budget` needs `until`" in ran.said


def test_until_cannot_be_taken_back_from_results(tmp_path: Path) -> None:
    with conducted(tmp_path, "budget=2100ms"):
        pass
    file = campaign(tmp_path, CLOSED.replace('until = "5%"\n', ""))
    ran = run("run", file, *TOYS, folder=tmp_path)
    assert ran.code == 6
    assert "was run with `until`" in ran.stderr
