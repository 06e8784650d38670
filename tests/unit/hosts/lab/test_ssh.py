"""How the lab starts an agent over SSH."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.hosts.host import Host, Hosts
from plimsoll.hosts.lab import ssh


def command(monkeypatch: pytest.MonkeyPatch, wait_s: float, program: str = "plimsoll") -> list[str]:
    """The command by which an agent is started."""
    started: list[list[str]] = []

    def process(given: tuple[str, ...], **_: object) -> Any:
        started.append([*given])
        return SimpleNamespace(input=None, stop=lambda: None)

    monkeypatch.setattr(ssh, "SupervisedProcess", process)
    host = Host("one", "driver", ip_address("10.0.0.2"), ssh="bench@one", program=program)
    hosts = Hosts(ip_address("10.0.0.1"), 1, None, wait_s, 1.0, (host,))
    with ssh.RemoteAgents(hosts, Path("certificates"), Path("logs")) as agents:
        agents.tend(["one"])
    return started[0]


@pytest.mark.parametrize(("wait_s", "missed"), [(0.0, 2), (60.0, 12), (121.0, 25)])
def test_a_session_outlives_a_cut_for_which_the_lab_waits(
    monkeypatch: pytest.MonkeyPatch, wait_s: float, missed: int
) -> None:
    given = command(monkeypatch, wait_s)
    assert "ServerAliveInterval=5" in given
    assert f"ServerAliveCountMax={missed}" in given
    assert given[given.index("--") + 1] == "bench@one"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("~/venv/bin/plimsoll", "exec ~/venv/bin/plimsoll host serve "),
        ("~/my venv/plimsoll", "exec ~/'my venv/plimsoll' host serve "),
        ("/opt/my venv/plimsoll", "exec '/opt/my venv/plimsoll' host serve "),
    ],
)
def test_a_program_may_be_named_in_the_home_folder_of_its_host(
    monkeypatch: pytest.MonkeyPatch, program: str, words: str
) -> None:
    assert command(monkeypatch, 60.0, program)[-1].startswith(words)
