"""A broken framework cannot look fast: PHP behind queues that are too short answers with errors.

nginx answers 502 at once to a request that finds no place in the queue of PHP-FPM, which is quicker
than any right answer.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from command_line import CHECKOUT, Ran, markdown_alone, run
from plimsoll.campaign.framework import read
from plimsoll.install import install
from plimsoll.install.requirements import missing

pytestmark = pytest.mark.timeout(300)

PHP = CHECKOUT / "frameworks" / "php"
TOO_FEW = {
    "pm.max_children = ${WORKERS}": "pm.max_children = 1",
    "listen.backlog = 4096": "listen.backlog = 4",
}
"""What the pools of PHP-FPM are told, and what they are told here."""

CAMPAIGN = """
name = "too-few"
frameworks = ["php"]
endpoints = ["plaintext"]
cool_down = "0s"

[[load]]
name = "steady"
timeout = "5s"
stages = [{ kind = "hold", duration = "2s", at = 400 }]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a campaign, and with a PHP of too few children and too short queues."""
    plain = read(PHP)[0]
    if needs := missing(plain):
        absent = install.not_installed(plain, needs)
        pytest.skip(f"{absent.message}: {absent.hint}")
    folder = tmp_path_factory.mktemp("too-few")
    broken = folder / "frameworks" / "php"
    shutil.copytree(PHP, broken, ignore=shutil.ignore_patterns(".build*"))
    pool = broken / "pool.conf"
    text = pool.read_text(encoding="utf-8")
    for told, instead in TOO_FEW.items():
        assert text.count(told) == 1
        text = text.replace(told, instead)
    pool.write_text(text, encoding="utf-8")
    (folder / "campaign.toml").write_text(CAMPAIGN, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def ran(folder: Path) -> Ran:
    with markdown_alone():
        return run("run", "campaign.toml", "--frameworks", "frameworks", folder=folder)


@pytest.fixture(scope="module")
def judged(ran: Ran, folder: Path) -> dict[str, Any]:
    """The trial with its summary and verdicts."""
    assert ran.code == 1, ran.stderr
    (trial,) = json.loads(run("judge", "results/too-few", "--json", folder=folder).stdout)
    return trial


def test_errors_quickly_served_make_the_trial_void(judged: dict[str, Any]) -> None:
    assert judged["ending"]["kind"] == "completed"
    assert judged["level"] == "void"
    levels = {verdict["check"]: verdict["level"] for verdict in judged["verdicts"]}
    assert levels["responses_correct"] == "void"


def test_the_sentence_says_how_many_answers_were_wrong_and_how(judged: dict[str, Any]) -> None:
    (verdict,) = (one for one in judged["verdicts"] if one["check"] == "responses_correct")
    said = verdict["sentences"][0]
    assert f"of {judged['summary']['completed']:,} responses" in said["text"]
    assert "were wrong: status 5" in said["text"]
    assert "they count as throughput, not as goodput" in said["text"]


def test_errors_do_not_count_as_right_answers(judged: dict[str, Any]) -> None:
    summary = judged["summary"]
    assert summary["failure_ratio"] > 0.1
    assert summary["goodput_per_s"] < 0.9 * summary["throughput_per_s"]


def test_it_has_no_rank(ran: Ran) -> None:
    assert "php" in ran.said
    assert "rank" not in ran.said
    assert "void" in ran.said


def test_the_log_of_the_server_says_what_was_too_short(ran: Ran, folder: Path) -> None:
    log = folder / "results/too-few/trials/php.plaintext.steady.1/server.log"
    assert "(11: Resource temporarily unavailable) while connecting to upstream" in log.read_text()
