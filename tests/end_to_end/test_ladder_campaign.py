"""Campaigns of kind `ladder` against servers whose requests differ by a known processor time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from command_line import LENIENT, run, start

pytestmark = [pytest.mark.alone, pytest.mark.timeout(300)]

APP = Path(__file__).parents[1] / "toy" / "app.py"
LIGHT_S, HEAVY_S = 0.005, 0.035
"""Processor time of a request; the most of both needs less than a third of a core."""

FRAMEWORK = f"""\
name = "works"
language = "Python"
version = "echo 1"
start = 'exec "$PYTHON" -I {APP}'
start_timeout = "20s"
endpoints = ["empty"]
environment = {{ TOY_WORKS_S = "{LIGHT_S}" }}

[variant.heavy]
environment = {{ TOY_WORKS_S = "{HEAVY_S}" }}
"""
CAMPAIGN = """\
name = "costs"
kind = "ladder"
frameworks = ["works", "works:heavy"]
endpoints = ["empty"]
cool_down = "0s"
idle = "0s"

[ladder]
rates = [4, 8]
warm_up = "0s"
hold = "1s"
arrivals = "constant"
connections = 8
"""


def files(folder: Path) -> tuple[str, ...]:
    """A campaign and its framework; arguments of `run`."""
    own = folder / "frameworks" / "works"
    own.mkdir(parents=True)
    (own / "framework.toml").write_text(FRAMEWORK)
    path = folder / "costs.toml"
    path.write_text(CAMPAIGN)
    return (str(path), "--frameworks", str(own.parent), "--no-report", *LENIENT)


def steps(folder: Path) -> dict[str, float]:
    """The rate of each step that is recorded, by its id."""
    found = (json.loads(path.read_text()) for path in folder.glob("trials/[!.]*/trial.json"))
    return {
        one["trial"]: one["load"]["stages"][-1]["start"]
        for one in found
        if one["load"]["name"] != "peak"
    }


def test_the_cost_of_a_request_is_that_of_its_work_and_goes_on_after_a_kill(tmp_path: Path) -> None:
    results = tmp_path / "results" / "costs"
    arguments = files(tmp_path)
    planned = run("plan", *arguments[:3], "--json", folder=tmp_path)
    running = start("run", *arguments, folder=tmp_path)
    running.wait_until(lambda: bool(steps(results)))
    running.process.kill()
    running.process.wait()
    assert running.leaves_nothing()
    before = steps(results)
    ran = run("run", *arguments, folder=tmp_path)
    assert ran.code in (0, 1), ran.said  # 1: a peak may be void where others took its cores
    after = steps(results)
    assert before.items() <= after.items()
    names = [
        f"works{variant}.empty.step-{number}.1" for variant in ("", "-heavy") for number in (1, 2)
    ]
    assert sorted(after) == sorted(names)
    ids = {one["id"] for one in json.loads(planned.stdout)["trials"]}
    assert ids == {*names, "works.empty.peak.1", "works-heavy.empty.peak.1"}
    assert all(after[name] == 4.0 * int(name[-3]) for name in names)

    judged = run("judge", "results/costs", "--json", "--accept", "undisturbed", folder=tmp_path)
    ladders: dict[str, Any] = {
        one["framework"]: one["ladder"] for one in json.loads(judged.stdout) if one["ladder"]
    }
    light, heavy = (
        ladders[name]["cpu_s_per_request"]["value"] for name in ("works", "works heavy")
    )
    # The kernel counts CPU time in ticks of 10 ms; four light requests have two of them.
    assert light > 0
    assert 0.75 < (heavy - light) / (HEAVY_S - LIGHT_S) < 1.33
