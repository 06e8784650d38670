"""`line` against servers that really run; ratios only."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import jsonschema
import pytest

import plimsoll
from command_line import CHECKOUT, run, start
from plimsoll.report.results import line_result

pytestmark = pytest.mark.timeout(300)

SCHEMA = CHECKOUT / "docs" / "schemas" / "line-1.json"
SHORT = ("--budget", "25s", "--warm-up", "200ms")
"""A search that decides it has time enough, with the shortest tries that there are."""


@contextmanager
def reference(*options: str) -> Generator[str]:
    """A reference server with one worker."""
    command = [sys.executable, "-m", "plimsoll.reference", "--port", "0", "--workers", "1"]
    with Popen([*command, *options], stdout=PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield json.loads(server.stdout.readline())["address"]
        finally:
            server.terminate()


def found(*arguments: object, folder: Path, code: int | None = None) -> dict[str, Any]:
    ran = run("line", *arguments, "--json", folder=folder)
    assert code is None or ran.code == code, ran.said
    document = json.loads(ran.stdout)
    jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
    return document


@pytest.mark.alone
@pytest.mark.thorough
def test_a_longer_latency_carries_more_and_less_than_the_peak(tmp_path: Path) -> None:
    with reference("--service-time", "2ms", "--one-at-a-time") as address:
        line = found(
            f"{address}/empty", "--p50", "4ms", "--p90", "150ms", "--budget", "50s",
            "--record", "kept", folder=tmp_path,
        )  # fmt: skip
    peak = line["closed_peak_per_s"]
    short, long = (one["rate_per_s"] / peak for one in line["lines"])
    assert 0 < short < long < 1.2
    assert line["low"] <= line["rate_per_s"] <= line["high"]
    kept = plimsoll.read(tmp_path / "kept")
    assert len(kept.trials) == 1 + len(line["tries"])
    assert json.loads((tmp_path / "kept" / "derived" / "line.json").read_text()) == line
    (again,) = kept.findings.lines
    assert again.found is not None
    assert line_result.document(again.found)["lines"] == line["lines"]
    (page,) = kept.report(["markdown"])
    text = page.read_text("utf-8")
    kept.close()
    headings = [one for one in text.splitlines() if one.startswith("#")]
    assert headings[1] == "## Load lines"
    assert line["sentence"] in text


def test_a_limit_below_the_floor_of_the_server_is_missed(tmp_path: Path) -> None:
    with reference("--service-time", "5ms") as address:
        line = found(f"{address}/empty", "--p99", "2ms", *SHORT, folder=tmp_path, code=7)
    assert (line["rate_per_s"], line["lines"][0]["state"]) == (None, "below")


def test_a_server_that_fails_at_every_rate_has_no_line(tmp_path: Path) -> None:
    with reference() as address:
        ran = run(
            "line", f"{address}/empty", "--p99", "20ms", "--expect-status", "201", *SHORT,
            folder=tmp_path,
        )  # fmt: skip
    assert ran.code == 4
    assert "fails at every rate" in ran.stderr


@pytest.mark.alone
@pytest.mark.thorough
def test_the_closed_load_leaves_no_backlog_to_the_first_try(tmp_path: Path) -> None:
    """256 connections leave a queue of almost eight seconds; a try warms up for half of one."""
    with reference("--service-time", "30ms", "--one-at-a-time") as address:
        line = found(f"{address}/empty", "--p50", "250ms", *SHORT, folder=tmp_path)
    first = line["tries"][0]
    assert first["rate_per_s"] < 0.5 * line["closed_peak_per_s"]
    assert first["limits"]["p50"]["state"] != "failed"


def test_tries_that_are_not_recorded_have_their_rows() -> None:
    with (
        reference() as address,
        plimsoll.line(f"{address}/empty", "p99=100ms", budget_s=5, within=0.4) as found,
    ):
        stored = found.campaign.stored
        rows = {trial: stored.table(trial, "requests").to_pylist() for trial in stored.trial_ids()}
    assert len(rows) > len(found.tries)
    assert all(rows.values())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere.invalid", "--p99", "20ms"], 4, "cannot resolve `nowhere.invalid`"),
        ([":1", "--p99", "20ms"], 4, "refuses connections"),
        ([":1"], 2, "a load line needs a latency limit"),
        ([":1", "--p99", "20"], 2, "`20` has no unit of time"),
        ([":1", "--p99", "20ms", "--limit", "p99=9ms"], 2, "`p99` has two limits"),
        ([":1", "--p99", "20ms", "--errors", "0"], 2, "is not a share between 0 and 1"),
        ([":1", "--p99", "20ms", "-c", "0"], 2, "`0` is too small"),
    ],
)
def test_what_cannot_be_measured_is_said_in_a_sentence(
    arguments: list[str], code: int, said: str, tmp_path: Path
) -> None:
    ran = run("line", *arguments, folder=tmp_path)
    assert ran.code == code
    assert said in ran.stderr
    assert "hint: " in ran.stderr


def test_ctrl_c_ends_the_search_and_leaves_nothing_running(tmp_path: Path) -> None:
    with reference() as address:
        running = start("line", f"{address}/empty", "--p99", "20ms", folder=tmp_path)
        running.wait_until_it_says("try 1")
        running.press_ctrl_c()
        assert running.end().code == 130
        assert running.leaves_nothing()


def test_nothing_listens_where_a_listener_has_gone(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    assert run("line", f":{port}", "--p99", "20ms", folder=tmp_path).code == 4
