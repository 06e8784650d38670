"""A wall clock that jumps by hours, to and fro, while the host's other clocks go on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from command_line import TOY, TOYS, run
from plimsoll.verdicts.role import DISTURBANCES
from preloads import preloaded
from roles import misled_by_any

pytestmark = pytest.mark.timeout(120)

JUMP_S = 3600
OF_COUNTS = {"conservation", "responses_correct", "littles_law", "counters_agree", "clocks_agree"}
"""Checks that a busy host does not fail."""
OF_NEIGHBOURS = misled_by_any(DISTURBANCES) | {
    "hidden_stalls",
    "driver_headroom",
    "driver_uninterrupted",
}
"""Checks that measure nothing where neighbours on the host explain what they see."""
NEAR_S = 300
"""So far beside the jump an instant may be that was taken some time ago."""


def jumped_s(told: str) -> float:
    """How far an instant that was told is from now."""
    return abs(datetime.fromisoformat(told).timestamp() - time.time())


def usage_of(folder: Path) -> list[dict[str, Any]]:
    (usage,) = folder.rglob("usage.parquet")
    return pq.read_table(usage).to_pylist()


def recorded_in(folder: Path) -> dict[str, Any]:
    (trial,) = folder.rglob("trial.json")
    return json.loads(trial.read_text())


def rows_of(folder: Path, table: str) -> int:
    """How many rows a derived table has."""
    (path,) = folder.rglob(f"derived/*/{table}.parquet")
    return pq.read_metadata(path).num_rows


@pytest.fixture(scope="module")
def jumping(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a program whose wall clock jumps."""
    return preloaded("jumping_clock", tmp_path_factory.mktemp("clock"))


def test_the_clock_of_these_tests_jumps_and_others_do_not(jumping: dict[str, str]) -> None:
    program = "\n".join((
        "import time",
        "for _ in range(8):",
        "    print(time.time(), time.monotonic())",
        "    time.sleep(0.1)",
    ))  # fmt: skip
    said = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **jumping},
        capture_output=True,
        text=True,
        check=True,
    )
    wall, steady = zip(
        *(map(float, line.split()) for line in said.stdout.split("\n")[:-1]), strict=True
    )
    assert max(wall) - min(wall) == pytest.approx(2 * JUMP_S, abs=10)
    assert max(steady) - min(steady) < JUMP_S


@pytest.fixture(scope="module")
def loads(
    reference_server: str, jumping: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[Path, dict[str, Any]]:
    """Folder and JSON of a load by the jumping clock, and of one by a steady one."""
    folder = tmp_path_factory.mktemp("loads")
    asked = ("load", f"{reference_server}/2048", "-c", 4, "-d", "3s", "--json", "--record")
    told: dict[Path, dict[str, Any]] = {}
    for name, environment in (("jumping", jumping), ("steady", {})):
        ran = run(*asked, name, folder=folder, environment=environment)
        assert ran.code in (0, 1), ran.stderr
        told[folder / name] = json.loads(ran.stdout)
        ran = run("judge", name, folder=folder, environment=environment)  # which derives tables
        assert ran.code in (0, 1), ran.stderr
    return told


def test_nothing_of_a_load_is_counted_by_the_wall_clock(
    loads: dict[Path, dict[str, Any]],
) -> None:
    found, expected = loads
    assert [told["summary"]["duration_s"] for told in loads.values()] == [3, 3]
    assert jumped_s(recorded_in(found)["zero_utc"]) == pytest.approx(JUMP_S, abs=NEAR_S)
    assert jumped_s(recorded_in(expected)["zero_utc"]) < NEAR_S
    instants_s = [row["at_ns"] / 1e9 for row in usage_of(found)]
    assert -30 < min(instants_s)
    assert max(instants_s) < 60
    assert {(row["scope"], row["quantity"]) for row in usage_of(found)} == {
        (row["scope"], row["quantity"]) for row in usage_of(expected)
    }
    assert {rows_of(folder, "seconds") for folder in loads} <= {3, 4}  # what ended late has its own
    (rows,) = found.rglob("requests.parquet")
    ended_ns = pq.read_table(rows).column("done_ns").drop_null().to_pylist()
    assert 0 < min(ended_ns) <= max(ended_ns) < 30e9


def test_a_clock_that_jumps_leaves_no_check_without_its_numbers(
    loads: dict[Path, dict[str, Any]],
) -> None:
    jumped, steady = (
        {one["check"]: one["measured"] is not None for one in told["verdicts"]}.items()
        - {(check, known) for check in OF_NEIGHBOURS for known in (True, False)}
        for told in loads.values()
    )
    assert jumped == steady
    (told, _) = loads.values()
    assert "void" not in {one["level"] for one in told["verdicts"] if one["check"] in OF_COUNTS}


def test_a_campaign_is_run_by_a_clock_that_jumps(jumping: dict[str, str], tmp_path: Path) -> None:
    ran = run("run", TOY, *TOYS, "--no-report", folder=tmp_path, environment=jumping)
    assert ran.code in (0, 1), ran.stderr
    recorded = recorded_in(tmp_path)
    assert recorded["ending"]["kind"] == "completed", recorded["ending"]
