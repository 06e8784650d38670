"""Ctrl-C while the program is being loaded."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.cli import early_interrupt

PRESSED = "import os, signal; os.kill(os.getpid(), signal.SIGINT)\n"
"""A module that presses the key while it is imported, so that the moment is exact."""


@pytest.mark.parametrize("module", ["click", "difflib", "fractions"])
def test_ctrl_c_within_an_import_ends_with_a_word_and_no_traceback(
    module: str, tmp_path: Path
) -> None:
    (tmp_path / f"{module}.py").write_text(PRESSED)
    command = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from plimsoll.cli import main"
    ran = subprocess.run(
        [sys.executable, "-c", f"{command}; main(['load', '--help'])"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (130, "error: interrupted\n")


def test_afterwards_ctrl_c_is_what_it_was() -> None:
    before = signal.getsignal(signal.SIGINT)
    begun = early_interrupt.begin()
    try:
        assert begun is (before is signal.default_int_handler)
        assert not early_interrupt.begin(), "it has begun already"
    finally:
        early_interrupt.end(begun=begun)
    assert signal.getsignal(signal.SIGINT) is before


def test_where_ctrl_c_is_ignored_it_stays_so() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert not early_interrupt.begin()
        early_interrupt.end(begun=False)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
