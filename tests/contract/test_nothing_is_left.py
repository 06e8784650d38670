"""However the lab ends, no process of its servers is left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import plimsoll
from small_servers import eventually, living

pytestmark = pytest.mark.timeout(300)

_HERE = Path(__file__).parent
_PATHS = (str(Path(plimsoll.__file__).parent.parent), str(_HERE.parent))

Starter = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def marker(tmp_path: Path) -> str:
    return f"PLIMSOLL_TEST={tmp_path.name}-{os.getpid()}"


@pytest.fixture
def start_lab(tmp_path: Path, marker: str) -> Iterator[Starter]:
    """Starts labs in process groups of their own; all they start carries the marker."""
    labs: list[subprocess.Popen[str]] = []

    def start(program: str, grace_s: float = 10.0) -> subprocess.Popen[str]:
        name, _, value = marker.partition("=")
        folder = tmp_path / str(len(labs))
        lab = subprocess.Popen(
            [sys.executable, str(_HERE / "lab.py"), str(folder), program, str(grace_s)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(_PATHS), name: value},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        labs.append(lab)
        return lab

    yield start
    for lab in labs:
        lab.kill()
        lab.communicate()


def _wait_until_ready(lab: subprocess.Popen[str]) -> None:
    assert lab.stdout is not None
    assert lab.stdout.readline() == "ready\n"


def test_a_lab_killed_while_its_server_runs_leaves_nothing(start_lab: Starter, marker: str) -> None:
    lab = start_lab("EVERY_TRICK")
    _wait_until_ready(lab)
    assert len(living(marker)) == 9
    lab.kill()
    assert eventually(lambda: not living(marker))


def test_a_lab_killed_at_any_moment_leaves_nothing(start_lab: Starter, marker: str) -> None:
    moments = random.Random(20)
    for _ in range(12):
        lab = start_lab("EVERY_TRICK")
        time.sleep(moments.uniform(0.05, 0.6))
        lab.kill()
    assert eventually(lambda: not living(marker))


def test_a_lab_killed_while_it_stops_its_server_leaves_nothing(
    start_lab: Starter, marker: str
) -> None:
    lab = start_lab("EVERY_TRICK")
    _wait_until_ready(lab)
    lab.send_signal(signal.SIGINT)
    time.sleep(0.2)
    lab.kill()
    assert eventually(lambda: not living(marker))


def test_the_whole_process_group_killed_leaves_nothing(start_lab: Starter, marker: str) -> None:
    lab = start_lab("EVERY_TRICK")
    _wait_until_ready(lab)
    os.killpg(lab.pid, signal.SIGKILL)
    assert eventually(lambda: not living(marker))


def test_ctrl_c_stops_the_server_cleanly(start_lab: Starter, marker: str) -> None:
    lab = start_lab("GOOD")
    _wait_until_ready(lab)
    os.killpg(lab.pid, signal.SIGINT)
    output, _ = lab.communicate(timeout=20)
    assert "clean=True" in output
    assert "killed=0" in output
    assert not living(marker)


def test_ctrl_c_twice_does_not_wait_for_a_server_that_does_not_stop(
    start_lab: Starter, marker: str
) -> None:
    lab = start_lab("EVERY_TRICK", grace_s=600.0)
    _wait_until_ready(lab)
    os.killpg(lab.pid, signal.SIGINT)
    time.sleep(0.3)
    os.killpg(lab.pid, signal.SIGINT)
    lab.communicate(timeout=20)
    assert not living(marker)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_lab_that_ends_by_a_signal_it_does_not_handle_leaves_nothing(
    start_lab: Starter, marker: str, number: signal.Signals
) -> None:
    lab = start_lab("EVERY_TRICK")
    _wait_until_ready(lab)
    os.killpg(lab.pid, number)
    assert eventually(lambda: not living(marker))
