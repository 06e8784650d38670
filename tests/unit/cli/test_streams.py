"""Inputs and outputs that are closed, and terminals that are none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WRK = Path(__file__).resolve().parents[2] / "golden" / "published" / "wrk-sound.txt"


def ran(typed: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs what is typed in a shell behind the name of the program."""
    command = ["sh", "-c", f'"$0" -m plimsoll {typed}', sys.executable]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=60,
    )


@pytest.mark.parametrize("verb", ["audit -", "load http://127.0.0.1:1/ -d 1s -b @-"])
def test_a_standard_input_that_is_closed_is_told_with_code_2(verb: str) -> None:
    found = ran(f"{verb} <&-")
    assert found.returncode == 2
    assert "standard input is closed" in found.stderr


@pytest.mark.parametrize("form", ["--json", "--format markdown", "--all"])
def test_a_result_that_is_lost_is_an_error(form: str) -> None:
    assert ran(f"audit {WRK} {form}").returncode == 0
    assert ran(f"audit {WRK} {form} >/dev/full").returncode == 6
    closed = ran(f"audit {WRK} {form} >&-")
    assert closed.returncode == 6
    assert "standard output is closed" in closed.stderr


def test_a_pipe_that_breaks_within_a_verb_is_an_error() -> None:
    broken = "import errno, os; from plimsoll import machine; from unittest.mock import Mock"
    broken += "; machine.facts = Mock(side_effect=BrokenPipeError(errno.EPIPE, 'Broken pipe'))"
    command = f"{broken}; from plimsoll.cli import main; main(['machine'])"
    found = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=False
    )
    assert found.returncode == 6
    assert "error: Broken pipe" in found.stderr


@pytest.mark.parametrize("columns", ["99999999999", "9" * 5000, "10001"])
def test_a_width_that_no_terminal_has_is_ignored(columns: str) -> None:
    wide, plain = ran(f"audit {WRK}", COLUMNS=columns), ran(f"audit {WRK}", COLUMNS="80")
    assert (wide.returncode, wide.stdout) == (plain.returncode, plain.stdout)
