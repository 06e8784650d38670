"""The benches run as `make bench` runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from postgres_server import Server

pytestmark = pytest.mark.long

BENCHES = Path(__file__).parents[2] / "benches"


def run(name: str, *options: str, patience_s: float = 25) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHES / name), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience_s)


def test_one_second_of_one_tool_gives_a_table(tmp_path: Path) -> None:
    short = ("--seconds", "1", "--repetitions", "1", "--connections", "4", "--tools", "plimsoll")
    ran = run("load_tools.py", *short, "--json", str(tmp_path / "runs.json"))
    assert ran.returncode == 0, ran.stderr
    row = next(line for line in ran.stdout.splitlines() if line.startswith("| plimsoll"))
    (one,) = json.loads((tmp_path / "runs.json").read_text(encoding="utf-8"))
    assert f"{one['cpu_s'] / one['requests'] * 1e6:.2f}" in row
    assert one["complaint"] == ""
    assert one["requests"] > 0
    assert one["peak_rss_bytes"] > 2**20


def test_a_tool_that_nobody_knows_is_named_with_those_that_there_are() -> None:
    ran = run("load_tools.py", "--tools", "plimsoll,siege")
    assert ran.returncode == 1
    assert "no tool `siege`" in ran.stderr
    assert "plimsoll, no-rows, load, ceiling, wrk" in ran.stderr


@pytest.mark.thorough
@pytest.mark.timeout(180)
def test_a_short_file_is_imported_both_ways_and_counted_alike(postgres: Server) -> None:
    assert postgres.port
    ran = run("importing.py", "--rows", "20000", patience_s=170)
    assert ran.returncode == 0, ran.stderr
    assert "20,000 requests" in ran.stdout
    steps = (
        "unzip, convert, COPY",
        "seconds of failures",
        "import",
        "export of seconds",
        "judging, which does not count",
    )
    assert all(f" {step} " in ran.stdout for step in steps)


@pytest.mark.timeout(180)
def test_the_verdict_on_a_new_trial_costs_the_same_beside_many_others() -> None:
    ran = run("per_trial.py", "--trials", "2,100", "--repetitions", "5", patience_s=170)
    assert ran.returncode in (0, 1), ran.stderr
    rows = [line.strip("| ").split(" | ") for line in ran.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == ["2", "100"]
    # Were every trial derived again, the ratio would be about 50.
    assert float(rows[1][-1]) < 3
