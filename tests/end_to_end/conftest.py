"""What the tests of the command line share: a server that runs, and campaigns that were run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import chromium
import command_line
import small_disks
from command_line import LENIENT, TOY, TOYS, Ran


@pytest.fixture(scope="session")
def reference_server() -> Iterator[str]:
    """Address and port of a reference server, started by hand."""
    server = subprocess.Popen(
        [sys.executable, "-m", "plimsoll.reference", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOST": "127.0.0.1"},
    )
    try:
        assert server.stdout is not None
        yield json.loads(server.stdout.readline())["address"]
    finally:
        server.terminate()
        server.communicate(timeout=20)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without windows, for the tests of one file."""
    with chromium.launched() as found:
        yield found


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of six mebibytes."""
    with small_disks.small_disk(tmp_path / "disk", 6) as folder:
        yield folder


@pytest.fixture(scope="session")
def toy_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ran]:
    """A folder with `results/toy`, the recording of one trial, and what was said meanwhile."""
    folder = tmp_path_factory.mktemp("toy")
    ran = command_line.run("run", TOY, *TOYS, "--no-report", folder=folder)
    assert ran.code == 0, ran.stderr
    return folder, ran


@pytest.fixture(scope="session")
def counting_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `results/toy`, the recording of one trial that counts."""
    folder = tmp_path_factory.mktemp("counting")
    ran = command_line.run("run", TOY, *TOYS, *LENIENT, "--no-report", folder=folder)
    assert ran.code == 0, ran.stderr
    return folder
