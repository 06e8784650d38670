"""A process that may have little address space says so before a library aborts it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from command_line import PROGRAM
from plimsoll.cli import memory


def limited(mebibytes: int, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = f'ulimit -v {mebibytes << 10} && exec "$@"'
    typed = ["sh", "-c", command, "sh", str(PROGRAM), *arguments]
    return subprocess.run(typed, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("verb", memory.NEEDED_BYTES)
@pytest.mark.parametrize("mebibytes", [500, 1000, 4095])
def test_too_little_address_space_is_a_sentence(tmp_path: Path, verb: str, mebibytes: int) -> None:
    ran = limited(mebibytes, verb, "x", folder=tmp_path)
    assert ran.returncode == 3, ran.stderr
    assert f"the address space is limited to {mebibytes:,} MiB" in ran.stderr
    assert "ulimit -v unlimited" in ran.stderr


def test_enough_of_it_is_enough(tmp_path: Path) -> None:
    rows = "".join(f"{1_700_000_000_000 + at},5,home,200,true\n" for at in range(1000))
    (tmp_path / "a.jtl").write_text(f"timeStamp,elapsed,label,responseCode,success\n{rows}")
    most = memory.ROWS_BYTES >> 20
    ran = limited(most, "import", "a.jtl", "--into", "r", folder=tmp_path)
    assert ran.returncode in (0, 1), ran.stderr
    ran = limited(most, "judge", "r", folder=tmp_path)
    assert ran.returncode in (0, 1), ran.stderr


def test_help_needs_none_of_it(tmp_path: Path) -> None:
    assert limited(500, "load", "--help", folder=tmp_path).returncode == 0
