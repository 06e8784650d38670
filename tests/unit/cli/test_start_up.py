"""What is loaded before a person sees something happen; no time is asserted, only what takes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
from plimsoll.conduct.ward import Ward
def spy(*_, **__):
    print("LOADED", *sys.modules, flush=True)
    os._exit(0)
Ward.__init__ = spy
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


def test_the_first_request_waits_for_nothing_heavy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # the process leaves without tidying up
    found = loaded(WHEN_THE_DRIVER_STARTS, "load", "127.0.0.1:9", "-n", "1", "-q")
    later = {
        "rich",
        "http.client",
        "plimsoll._engine",
        "plimsoll.campaign.endpoints",
        "plimsoll.conduct.contract",
        "plimsoll.conduct.recording",
        "plimsoll.conduct.server",
        "plimsoll.report",
        "plimsoll.tables",
        "plimsoll.verdicts",
    }
    assert found & (HEAVY | later) == set()
    assert "plimsoll.conduct.drivers.plimsoll" in found


def test_what_a_load_came_to_is_told_without_what_draws_charts() -> None:
    imports = "import sys; from plimsoll.report import gathering, screen"
    found = loaded(f"{imports}; print('LOADED', *sys.modules)")
    assert found & {"altair", "vl_convert", "jinja2", "scipy", "pypdf", "plimsoll.charts"} == set()
    assert "duckdb" in found
