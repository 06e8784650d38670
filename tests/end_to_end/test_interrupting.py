"""A lab that is interrupted or killed leaves no process behind and no complete trial is lost."""

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import conduct_toys
from plimsoll.conduct import processes
from plimsoll.storage.parquet import Results

FIRST, SECOND = "toy.empty.small.1", "toy.empty.small.2"


class Lab:
    """A lab in a process of its own, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.results = Results(folder)
        self.mark = uuid.uuid4().hex
        self.process: subprocess.Popen[str] | None = None

    def start(self, *, stays: bool) -> "subprocess.Popen[str]":
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if stays:
            environment["FAKE_ENGINE_STAYS"] = "1"
        command = [sys.executable, conduct_toys.__file__, str(self.results.folder), self.mark]
        self.process = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        return self.process

    def hear(self, line: str) -> None:
        """Waits until the lab has said something."""
        assert self.process is not None
        assert self.process.stdout is not None
        while (heard := self.process.stdout.readline()) != f"{line}\n":
            assert heard, f"the lab never said `{line}`"

    def end(self) -> tuple[int, str]:
        """Waits for the lab's end; gives its exit code and what it said at last."""
        assert self.process is not None
        _, said = self.process.communicate(timeout=25)
        return self.process.returncode, said

    def left(self) -> list[int]:
        """Processes of servers and engines that are alive."""
        found = processes.marked(f"TOY_MARK={self.mark}")
        return [process.pid for process in found if not process.zombie]

    def wait_until_nothing_is_left(self, limit_s: float = 15.0) -> None:
        end_s = time.monotonic() + limit_s
        while self.left() and time.monotonic() < end_s:
            time.sleep(0.05)
        assert self.left() == []


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    lab = Lab(tmp_path / "results")
    yield lab
    if lab.process is not None and lab.process.poll() is None:
        os.killpg(lab.process.pid, signal.SIGKILL)
        lab.process.wait()
    lab.wait_until_nothing_is_left()


def under_load(lab: Lab) -> "subprocess.Popen[str]":
    """A lab whose second trial is under load."""
    process = lab.start(stays=True)
    lab.hear("TrialStarted 2")
    lab.hear("Phase driving")
    lab.hear("Progress ")
    assert len(lab.left()) >= 3
    return process


def goes_on(lab: Lab) -> None:
    """Running again conducts the second trial, and the first one not again."""
    first = (lab.results.trials / FIRST / "trial.json").stat().st_mtime_ns
    lab.start(stays=False)
    code, said = lab.end()
    assert code == 0, said
    assert lab.results.trial_ids() == (FIRST, SECOND)
    assert (lab.results.trials / FIRST / "trial.json").stat().st_mtime_ns == first
    assert not list(lab.results.trials.glob(".*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_cleanly(lab: Lab, number: signal.Signals) -> None:
    under_load(lab).send_signal(number)
    code, said = lab.end()
    assert code == 130
    assert "1 of 2 trials" in said
    assert lab.left() == []
    assert lab.results.trial_ids() == (FIRST,)
    goes_on(lab)


def test_two_signals_end_at_once(lab: Lab) -> None:
    process = under_load(lab)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    code, said = lab.end()
    assert code == 130
    assert "Traceback" not in said
    assert lab.left() == []
    goes_on(lab)


def test_a_killed_lab_leaves_no_process_and_goes_on_when_run_again(lab: Lab) -> None:
    under_load(lab).kill()
    lab.wait_until_nothing_is_left()
    assert lab.results.trial_ids() == (FIRST,)
    assert [path.name for path in lab.results.trials.glob(".*")] == [f".{SECOND}.partial"]
    lab.end()
    goes_on(lab)


@pytest.mark.parametrize("phase", ["starting", "checking", "stopping", "writing"])
def test_a_lab_may_be_killed_in_any_phase(lab: Lab, phase: str) -> None:
    process = lab.start(stays=False)
    lab.hear("TrialStarted 2")
    lab.hear(f"Phase {phase}")
    process.kill()
    lab.wait_until_nothing_is_left()
    assert lab.results.trial_ids()[0] == FIRST
    lab.end()
    goes_on(lab)
