"""Verdicts on a campaign of the reference server: shown as trials end, made again, exit code 1."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from command_line import Ran, markdown_alone, run, text_of

pytestmark = pytest.mark.timeout(240)

CAMPAIGN = """
name = "climbing"
frameworks = ["reference"]
endpoints = ["2048"]
repetitions = 2
cool_down = "0s"
limits = { failures_explained = { failed_ratio_void = -1.0 } }

[[load]]
name = "steps"
stages = [
  { kind = "ramp", duration = "2s", from = 0, to = 24, steps = 2 },
  { kind = "hold", duration = "1s", at = 24 },
]
"""
"""Its changed limit voids every trial, however fast this machine is."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("climbing")
    (folder / "climbing.toml").write_text(CAMPAIGN)
    return folder


@pytest.fixture(scope="module")
def ran(folder: Path) -> Ran:
    with markdown_alone():
        return run("run", "climbing.toml", folder=folder)


def trial(folder: Path, block: int) -> dict[str, Any]:
    path = folder / f"results/climbing/trials/reference.2048.steps.{block}/trial.json"
    return json.loads(path.read_bytes())


def test_a_campaign_with_a_void_trial_ends_with_exit_code_1(ran: Ran) -> None:
    assert ran.code == 1, ran.stderr


def test_what_the_checks_say_of_a_trial_is_shown_before_the_next_one_begins(ran: Ran) -> None:
    before, found, _ = ran.stderr.partition("[2/2]")
    assert found
    assert "void" in before.partition("[1/2]")[2]


def test_the_reference_server_is_a_witness_of_its_own(ran: Ran, folder: Path) -> None:
    for block in (1, 2):
        known = trial(folder, block)
        counted, driver = known["server"]["counted"], known["driver"]
        assert counted["responses_sent"] >= driver["outcomes"]["ok"] > 0
        assert counted["connections_accepted"] >= driver["opened"]
        assert counted["sent_bytes"] > 2048 * driver["outcomes"]["ok"]


@pytest.fixture(scope="module")
def again(ran: Ran, folder: Path) -> list[dict[str, Any]]:
    """The trials as they are judged again, after all that was derived has been thrown away."""
    shutil.rmtree(folder / "results/climbing/derived")
    judged = run("judge", "results/climbing", "--json", folder=folder)
    assert judged.code == 1
    assert (folder / "results/climbing/derived/campaign_verdicts.json").exists()
    return json.loads(judged.stdout)


def of(judged: dict[str, Any], check: str) -> dict[str, Any]:
    return next(one for one in judged["verdicts"] if one["check"] == check)


def test_judging_again_finds_the_same_and_says_which_limit_was_changed(
    again: list[dict[str, Any]],
) -> None:
    assert [one["level"] for one in again] == ["void", "void"]
    for one in again:
        verdict = of(one, "failures_explained")
        assert verdict["level"] == "void"
        assert "changed by this campaign, default: doubtful 0.001, void 0.01" in verdict["source"]


def test_driver_kernel_and_server_agree_and_the_law_holds_in_every_step(
    again: list[dict[str, Any]],
) -> None:
    for one in again:
        for check in ("counters_agree", "littles_law", "conservation", "responses_correct"):
            verdict = of(one, check)
            assert verdict["level"] == "sound", text_of(verdict)


def test_which_side_was_the_limit_is_told_of_every_trial(again: list[dict[str, Any]]) -> None:
    for one in again:
        told = text_of(of(one, "bottleneck_identified"))
        assert "busy" in told
        assert "limit" in told or "saturated" in told
