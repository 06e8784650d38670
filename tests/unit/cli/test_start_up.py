"""What is loaded before a person sees something happen; no time is asserted, only what takes it."""

from __future__ import annotations

import socket
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

import plimsoll
from plimsoll.cli import VERBS

HEAVY = {"pyarrow", "duckdb", "altair", "pydantic", "scipy", "numpy", "jinja2", "tree_sitter"}

AT_THE_END = """
import atexit, sys
atexit.register(lambda: print("LOADED", *sys.modules))
from plimsoll.cli import main
main(sys.argv[1:])
"""

WHEN_THE_DRIVER_STARTS = """
import os, sys
from plimsoll.processes.supervised import SupervisedProcess
def spy(*_, **__):
    print("LOADED", *sys.modules, flush=True)
    os._exit(0)
SupervisedProcess.__init__ = spy
from plimsoll.cli import main
main(sys.argv[1:])
"""


def loaded(code: str, *typed: str) -> set[str]:
    """Names of the modules that a process has loaded when it says so."""
    ran = subprocess.run(
        [sys.executable, "-c", code, *typed], capture_output=True, text=True, check=False
    )
    (line,) = [line for line in ran.stdout.splitlines() if line.startswith("LOADED ")]
    return set(line.split()[1:])


@pytest.mark.parametrize("verb", VERBS)
def test_help_loads_nothing_that_reads_tables_or_files(verb: str) -> None:
    assert loaded(AT_THE_END, verb, "--help") & HEAVY == set()


def test_what_has_not_changed_is_reported_with_nothing_that_reads_tables(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("elapsed,label,responseCode,success,timeStamp\n5,a,200,true,1700000000000\n")
    plimsoll.import_recording(log, into=tmp_path / "into")
    typed = ("report", str(tmp_path / "into"), "--format", "markdown")
    assert loaded(AT_THE_END, *typed) >= {"pyarrow", "duckdb"}
    assert loaded(AT_THE_END, *typed) & HEAVY == set()


def test_the_first_request_waits_for_nothing_heavy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # the process leaves without tidying up
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        Thread(target=server.handle_request, daemon=True).start()
        address = f"127.0.0.1:{server.server_port}"
        found = loaded(WHEN_THE_DRIVER_STARTS, "load", address, "-n", "1", "-q")
    later = {
        "rich",
        "http.client",
        "ssl",
        "plimsoll.drivers.tools.wrk",
        "plimsoll.campaign.endpoints",
        "plimsoll.serving.contract",
        "plimsoll.conduct.recording",
        "plimsoll.serving.server",
        "plimsoll.findings.gathering",
        "plimsoll.lab.results",
        "plimsoll.report.fact_text",
        "plimsoll.report.level_text",
        "plimsoll.report.load_text",
        "plimsoll.report.trial_numbers",
        "plimsoll.tables",
        "plimsoll.verdicts",
    }
    assert found & (HEAVY | later) == set()
    assert "plimsoll.drivers.tools.plimsoll" in found


def test_a_server_that_does_not_respond_is_told_before_anything_heavy_is_loaded() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    found = loaded(AT_THE_END, "load", address)
    later = {"rich", "plimsoll.conduct.trial", "plimsoll.storage", "plimsoll.sampling.sampler"}
    assert found & (HEAVY | later) == set()


@pytest.mark.parametrize("address", ["127.0.0.1:{free}", "nothing.invalid"])
def test_a_line_of_no_server_is_refused_before_anything_heavy_is_loaded(address: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    found = loaded(AT_THE_END, "line", address.format(free=free), "--p99", "20ms")
    later = {"rich", "plimsoll.conduct.trial", "plimsoll.storage", "plimsoll.lab.line_search"}
    assert found & (HEAVY | later) == set()
    assert "plimsoll.lab.lines" in found


def test_what_installs_and_plans_loads_no_check_and_no_table(tmp_path: Path) -> None:
    campaign = tmp_path / "a.toml"
    load = '[[load]]\nname = "a"\nstages = [{ kind = "hold", duration = "1s", at = 1 }]'
    campaign.write_text(f'name = "a"\nframeworks = ["reference"]\nendpoints = ["2048"]\n{load}')
    for typed in (("install", "reference"), ("plan", str(campaign))):
        found = loaded(AT_THE_END, *typed)
        assert found & {"duckdb", "numpy", "pyarrow", "plimsoll.verdicts.catalogue"} == set()
        assert "plimsoll.lab.selection" in found


def test_the_first_figures_wait_for_no_database_and_no_check() -> None:
    imports = "import sys; from plimsoll.aggregate import first_figures"
    imports += "; from plimsoll.report import screen"
    imports += "; from plimsoll.report import fact_text, level_text, load_text, trial_numbers"
    found = loaded(f"{imports}; print('LOADED', *sys.modules)")
    heavy = {"duckdb", "scipy", "altair", "pydantic", "plimsoll.verdicts.catalogue"}
    assert found & (heavy | {"numpy", "pyarrow"}) == set()


def test_what_a_load_came_to_is_told_without_a_database_and_what_draws_charts() -> None:
    imports = (
        "import sys; from plimsoll.lab import results; from plimsoll.findings import derivation"
        "; from plimsoll.report import screen_doubts"
    )
    found = loaded(f"{imports}; print('LOADED', *sys.modules)")
    drawing = {"altair", "vl_convert", "jinja2", "scipy", "typst", "plimsoll.charts"}
    assert found & (drawing | {"duckdb"}) == set()
    assert {"plimsoll.findings.derivation", "plimsoll.report.load.screen_doubts"} <= found
