"""Loads, and how light the modules are that a process of the engine or the CLI needs."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

from plimsoll.campaign.load import Load, Stage

STAGES = (
    Stage("ramp", 240.0, 0.0, 9000.0, 100),
    Stage("hold", 180.0, 9000.0, 9000.0),
    Stage("ramp", 10.0, 9500.0, 0.0),
)

HEAVY = ("pydantic", "pyarrow", "duckdb", "altair", "numpy", "scipy", "rich", "tree_sitter")


def test_a_load_lasts_as_long_as_its_stages() -> None:
    assert Load("climb", "closed", STAGES).duration_s == 430.0


def test_the_most_connections_are_those_of_the_highest_stage_or_of_the_pool() -> None:
    assert Load("climb", "closed", STAGES).peak_connections == 9500
    assert Load("climb", "open", STAGES, connections=64).peak_connections == 64


def test_a_warm_up_is_as_long_as_a_runtime_and_handshakes_take() -> None:
    warm, hold = Stage("warm_up", 0.2, 64.0, 64.0), Stage("hold", 3.0, 64.0, 64.0)
    plain = Load("plain", "closed", (warm, hold))
    secured = Load("https", "closed", (warm, hold), tls=True)
    assert plain.warmed(0.0) == plain
    assert plain.warmed(10.0).stages == (Stage("warm_up", 10.0, 64.0, 64.0), hold)
    assert secured.warmed(0.0).stages == (Stage("warm_up", 0.64, 64.0, 64.0), hold)
    assert secured.warmed(10.0).stages == plain.warmed(10.0).stages
    cold = Load("cold", "closed", (hold,), tls=True)
    assert cold.warmed(10.0) == cold


def test_an_open_load_warms_a_server_up_by_a_closed_one_on_its_connections() -> None:
    stages = (Stage("warm_up", 0.5, 10.0, 10.0), Stage("hold", 3.0, 10.0, 10.0))
    slow = Load("slow", "open", stages, arrivals="poisson", connections=64, tolerance_s=0.001)
    slow = replace(slow, request_limit=30)
    warming = slow.warming(1.0)
    assert (warming.model, warming.connections, warming.peak_connections) == ("closed", 0, 64)
    assert warming.stages == (Stage("warm_up", 1.0, 64.0, 64.0),)
    assert (warming.arrivals, warming.tolerance_s) == ("constant", 0.0)
    assert warming.request_limit is None
    closed = Load("closed", "closed", (Stage("warm_up", 0.5, 1.0, 9.0), *stages[1:]))
    assert closed.warming(1.0).stages == (Stage("warm_up", 1.0, 1.0, 9.0),)


def test_what_says_how_much_and_what_is_light_to_import() -> None:
    modules = "plimsoll.plan, plimsoll.campaign.load, plimsoll.campaign.quantities"
    code = f"import sys, {modules}, plimsoll.campaign.endpoints; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {*HEAVY} & {*done.stdout.split()} == set()
