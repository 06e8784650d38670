"""Commands that are run for what they print: how they end, and their processes with them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from subprocess import CompletedProcess, TimeoutExpired

import pytest

from plimsoll.errors import Interrupted
from plimsoll.install import host_answers, requirements, short_commands, waiting
from plimsoll.install.registries import client
from plimsoll.processes import process_table

LASTS_S = 60.0
"""Seconds that a command here would last, whose end nobody waits for."""


def lasting(begun: Path) -> tuple[str, ...]:
    """A command that writes the id of a process of its own to a file, and waits for that."""
    return (
        "sh",
        "-c",
        f"sleep {LASTS_S:.0f} & echo $! > {begun}.new; mv {begun}.new {begun}; wait",
    )


def wait_for(file: Path) -> int:
    """The number in a file, once it is there."""
    end_s = time.monotonic() + LASTS_S / 2
    while not file.exists() and time.monotonic() < end_s:
        time.sleep(0.01)
    return int(file.read_text())


def is_gone(pid: int) -> bool:
    """Whether a process ends within some time; nobody may have waited for it yet."""
    end_s = time.monotonic() + LASTS_S / 4
    while (found := process_table.process(pid)) and not found.zombie:
        if time.monotonic() > end_s:
            return False
        time.sleep(0.01)
    return True


def test_a_command_runs_in_its_folder_and_environment(tmp_path: Path) -> None:
    ran = short_commands.run(
        ("/bin/sh", "-c", 'pwd; echo "$A" >&2; cat; exit 3'),
        timeout_s=LASTS_S, folder=tmp_path, environment={"A": "b"},
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (3, f"{tmp_path}\n".encode(), b"b\n")


def test_all_of_a_long_output_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "LOOK_EVERY_S", 0.01)
    script = "yes | head -c 300000; sleep 0.1; yes | head -c 300000"
    assert short_commands.run(("sh", "-c", script), timeout_s=LASTS_S).stdout == b"y\n" * 300_000


def test_a_command_that_is_not_there_is_an_error_of_the_system() -> None:
    with pytest.raises(FileNotFoundError):
        short_commands.run(("a-program-nobody-has",), timeout_s=LASTS_S)


def test_a_timeout_ends_all_processes_of_a_command(tmp_path: Path) -> None:
    with pytest.raises(TimeoutExpired):
        short_commands.run(lasting(tmp_path / "begun"), timeout_s=1.0)
    assert is_gone(wait_for(tmp_path / "begun"))


def test_an_error_in_the_block_ends_the_commands_of_its_threads(tmp_path: Path) -> None:
    begun_s = time.monotonic()
    stop = threading.Event()
    submitted: list[Future[CompletedProcess[bytes]]] = []
    with pytest.raises(KeyboardInterrupt), short_commands.threads(1, stop) as begun:
        for name in ("a", "b"):
            command = lasting(tmp_path / name)
            submitted.append(begun.submit(short_commands.run, command, timeout_s=LASTS_S))
        wait_for(tmp_path / "a")
        raise KeyboardInterrupt
    assert time.monotonic() - begun_s < LASTS_S / 2
    first, second = submitted
    assert isinstance(first.exception(), Interrupted)
    assert second.cancelled()
    assert stop.is_set()
    assert is_gone(wait_for(tmp_path / "a"))


@pytest.mark.parametrize(
    "asked",
    [
        lambda script: host_answers.output_of(script, timeout_s=LASTS_S),
        requirements.program_version,
        lambda script: client.output_of((script,), Path.cwd(), remedy=""),
    ],
    ids=["answer", "version", "registry"],
)
def test_whatever_is_asked_in_a_thread_ends_with_it(
    asked: Callable[[str], object], tmp_path: Path
) -> None:
    script = tmp_path / "tool"
    script.write_text(f"#!/bin/sh\n{lasting(tmp_path / 'begun')[2]}\n")
    script.chmod(0o755)
    begun_s = time.monotonic()
    submitted: list[Future[object]] = []
    with pytest.raises(KeyboardInterrupt), short_commands.threads(1) as begun:
        submitted.append(begun.submit(asked, str(script)))
        wait_for(tmp_path / "begun")
        raise KeyboardInterrupt
    assert time.monotonic() - begun_s < LASTS_S / 4
    assert isinstance(submitted[0].exception(), Interrupted)
    assert is_gone(wait_for(tmp_path / "begun"))
