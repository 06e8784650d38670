"""Tools that are installed write a file of their requests, which is imported and compared.

What counts is what the server has counted itself.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import command_line

REQUESTS = 2000
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "ab": ("ab", "-q", "-k", "-n", f"{REQUESTS}", "-c", "8", "-g", "rows", "{url}"),
    "h2load": ("h2load", "--h1", "-n", f"{REQUESTS}", "-c", "8", "--log-file", "rows", "{url}"),
    "oha": (
        "oha", "--no-tui", "-n", f"{REQUESTS}", "-c", "8", "--output-format", "csv",
        "--output", "rows", "{url}",
    ),
    "k6": ("k6", "run", "-q", "--out", "csv=rows", "script.js"),
}  # fmt: skip
SCRIPT = """
import http from 'k6/http';
export const options = {{ vus: 8, iterations: {requests} }};
export default function () {{ http.get('{url}'); }}
"""


@dataclass
class Served:
    """A reference server.

    Attributes:
        url: What it is asked for.
        counts: What it has counted itself, once it has stopped.
    """

    url: str
    counts: dict[str, Any] = field(default_factory=dict[str, Any])


@contextmanager
def serving(path: str) -> Iterator[Served]:
    server = subprocess.Popen(
        [sys.executable, "-m", "plimsoll.reference", "--host", "127.0.0.1", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        served = Served(f"http://{json.loads(server.stdout.readline())['address']}{path}")
        yield served
        server.terminate()
        served.counts.update(json.loads(server.communicate(timeout=20)[0]))
    finally:
        server.kill()
        server.wait()


def drive(tool: str, url: str, folder: Path) -> None:
    (folder / "script.js").write_text(SCRIPT.format(requests=REQUESTS, url=url))
    command = [part.format(url=url) for part in COMMANDS[tool]]
    environment = {**os.environ, "K6_NO_USAGE_REPORT": "true"}
    subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, timeout=60
    )


def imported(folder: Path) -> dict[str, Any]:
    """What came of it; so short a load on a busy machine may well be found not to be steady."""
    ran = command_line.run("import", "rows", "--json", folder=folder)
    assert ran.code in (0, 1), ran.said
    return json.loads(ran.stdout)


@pytest.mark.timeout(180)
@pytest.mark.parametrize("tool", COMMANDS)
def test_what_a_tool_wrote_has_every_request_that_the_server_counted(
    tool: str, tmp_path: Path
) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    with serving("/2048") as served:
        drive(tool, served.url, tmp_path)
    found = imported(tmp_path)
    assert found["summary"]["completed"] == served.counts["responses_sent"] == REQUESTS
    assert found["summary"]["failed"] == 0
    assert found["driver"]["name"] == tool


@pytest.mark.timeout(180)
@pytest.mark.parametrize("tool", sorted({"h2load", "oha", "k6"}))
def test_answers_that_a_tool_knows_to_be_wrong_are_wrong_here(tool: str, tmp_path: Path) -> None:
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    with serving("/nothing-is-here") as served:
        drive(tool, served.url, tmp_path)
    found = imported(tmp_path)
    assert found["level"] == "void"
    assert [(one["outcome"], one["count"]) for one in found["failures"]] == [
        ("wrong_status", REQUESTS)
    ]
