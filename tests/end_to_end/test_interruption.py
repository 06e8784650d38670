"""However a run ends, nothing of it goes on, what is complete is kept, and it can be resumed.

First the whole command with the real engine; then a lab whose driver and server do as they are
told, so that the moment can be chosen exactly and the server has a child of its own.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import conduct_toys
from command_line import TOY, TOYS, Running, eventually, run, start
from plimsoll.processes import process_table, supervisor
from plimsoll.storage.parquet import ParquetResults

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]

TWICE = ("run", TOY, *TOYS, "--no-report", "--set", "repetitions=2")
FIRST, SECOND = (f"toy.plaintext.steady.{number}" for number in (1, 2))


def complete(folder: Path) -> list[str]:
    """Ids of the trials that are complete, each with all of its tables."""
    found = sorted(path.parent for path in folder.glob("results/toy/trials/[!.]*/trial.json"))
    for trial in found:
        json.loads((trial / "trial.json").read_bytes())
        assert {"requests.parquet", "connections.parquet", "usage.parquet"} <= {
            path.name for path in trial.iterdir()
        }
    return [trial.name for trial in found]


def in_its_second_trial(folder: Path) -> Running:
    """A run that has completed a trial and puts on the load of another."""
    running = start(*TWICE, folder=folder)
    running.wait_until_it_says("[2/2]")
    assert eventually(lambda: any(folder.glob(f"results/toy/trials/.{SECOND}*/requests.bin")))
    return running


def resumes(folder: Path) -> None:
    """The same command conducts what is missing, and leaves nothing half done."""
    had, trials = complete(folder), folder / "results" / "toy" / "trials"
    written_ns = {trial: (trials / trial / "trial.json").stat().st_mtime_ns for trial in had}
    ran = run(*TWICE, folder=folder)
    assert ran.code == 0, ran.stderr
    for trial, at_ns in written_ns.items():
        assert (trials / trial / "trial.json").stat().st_mtime_ns == at_ns, "conducted again"
    if had:
        assert f"2 trials, {len(had)} complete" in ran.stderr or len(had) == 2
    assert complete(folder) == [FIRST, SECOND]
    assert sorted(path.name for path in trials.iterdir()) == [FIRST, SECOND]


@pytest.mark.parametrize(
    "how",
    [
        "ctrl-c",
        pytest.param("SIGINT to the lab", marks=pytest.mark.thorough),
        "SIGTERM to the lab",
    ],
)
def test_one_signal_stops_the_server_keeps_what_is_complete_and_says_how_to_go_on(
    how: str, tmp_path: Path
) -> None:
    running = in_its_second_trial(tmp_path)
    if how == "ctrl-c":
        running.press_ctrl_c()
    else:
        running.process.send_signal(signal.Signals[how.partition(" ")[0]])
    ran = running.end()
    assert ran.code == 130
    assert not running.processes()
    assert "error: interrupted; 1 of 2 trials are recorded" in ran.stderr
    assert "hint: run the same command again to resume" in ran.stderr
    assert complete(tmp_path) == [FIRST]
    resumes(tmp_path)


def test_ctrl_c_twice_does_not_wait_for_a_server_that_does_not_stop(tmp_path: Path) -> None:
    stubborn = "frameworks=toy:ignores-the-stop-signal"
    running = start("run", TOY, *TOYS, "--no-report", "--set", stubborn, folder=tmp_path)
    running.wait_until_it_drives()
    running.press_ctrl_c()
    time.sleep(0.5)
    assert running.process.poll() is None
    pressed_s = time.monotonic()
    running.press_ctrl_c()
    ran = running.end()
    assert ran.code == 130
    assert time.monotonic() - pressed_s < supervisor.GRACE_S
    assert "interrupted" in ran.stderr
    assert running.leaves_nothing()


def test_ctrl_c_while_a_server_starts_ends_at_once(tmp_path: Path) -> None:
    slow = ("--set", "frameworks=toy:starts-slowly")
    running = start("run", TOY, *TOYS, "--no-report", *slow, folder=tmp_path)
    running.wait_until_it_says("[1/1]")
    time.sleep(0.3)
    running.press_ctrl_c()
    ran = running.end()
    assert ran.code == 130
    assert "0 of 1 trials are recorded" in ran.stderr
    assert not running.processes()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_verb_that_only_reads_is_interrupted_with_a_word(
    number: signal.Signals, tmp_path: Path
) -> None:
    running = start("check", "toy:starts-slowly", *TOYS, folder=tmp_path)
    assert eventually(lambda: len(running.processes()) > 1)
    os.killpg(running.process.pid, number)
    ran = running.end()
    assert ran.code == 130
    assert "error: a signal ended the check early" in ran.stderr
    assert running.leaves_nothing()


SLOW = """\
name = "{name}"
language = "Python"
build = "touch begun && exec sleep 600"
start = "true"
version = "echo 1"
endpoints = ["empty"]

[not_implemented]
2048 = "none"
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_signal_ends_all_builds_and_begins_no_other(
    number: signal.Signals, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("one", "two", "three")]
    for folder in folders:
        folder.mkdir()
        (folder / "framework.toml").write_text(SLOW.format(name=folder.name))
    words = ("install", "--all", "--jobs", "2", "--frameworks", str(tmp_path))
    running = start(*words, folder=tmp_path)
    running.wait_until(lambda: sum((one / "begun").exists() for one in folders) == 2)
    os.killpg(running.process.pid, number)
    ran = running.end()
    assert ran.code == 130
    assert "error: interrupted" in ran.stderr
    assert sum((one / "begun").exists() for one in folders) == 2
    assert running.leaves_nothing()


def test_an_engine_that_is_killed_costs_its_trial_and_not_the_campaign(tmp_path: Path) -> None:
    running = start(*TWICE, folder=tmp_path)
    running.wait_until_it_drives()
    os.kill(running.engine(), signal.SIGKILL)
    ran = running.end()
    assert ran.code == 5
    assert f"error: {FIRST}: the engine was killed by SIGKILL" in ran.stderr
    assert not running.processes()
    endings = [
        json.loads((tmp_path / "results/toy/trials" / trial / "trial.json").read_bytes())["ending"]
        for trial in (FIRST, SECOND)
    ]
    assert [ending["kind"] for ending in endings] == ["EngineFailed", "completed"]


def test_a_lab_that_is_killed_under_load_leaves_nothing_running_and_loses_nothing(
    tmp_path: Path,
) -> None:
    running = in_its_second_trial(tmp_path)
    assert len(running.processes()) > 1
    running.process.kill()
    running.end()
    assert running.leaves_nothing()
    assert complete(tmp_path) == [FIRST]
    trials = tmp_path / "results" / "toy" / "trials"
    assert [path.name for path in trials.glob(".*")] == [f".{SECOND}.partial"]
    resumes(tmp_path)


def test_a_lab_that_is_killed_at_any_moment_leaves_nothing_running_and_loses_nothing(
    tmp_path: Path,
) -> None:
    short = ("--set", "repetitions=5", "--set", "load.steady.hold.duration=200ms")
    moments = random.Random(7)
    for _ in range(3):
        had = complete(tmp_path)
        running = start("run", TOY, *TOYS, "--no-report", *short, folder=tmp_path)
        time.sleep(moments.uniform(0.4, 2.5))
        os.killpg(running.process.pid, signal.SIGKILL)
        running.end()
        assert running.leaves_nothing(), running.processes()
        assert set(had) <= set(complete(tmp_path))
    ran = run("run", TOY, *TOYS, "--no-report", *short, folder=tmp_path)
    assert ran.code == 0, ran.stderr
    assert len(complete(tmp_path)) == 5


EMPTY_FIRST, EMPTY_SECOND = "toy.empty.small.1", "toy.empty.small.2"


class Lab:
    """A lab in a process of its own, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.results = ParquetResults(folder)
        self.mark = uuid.uuid4().hex
        self.process: subprocess.Popen[str] | None = None

    def start(self, *, stays: bool = False, child: bool = True) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if stays:
            environment["FAKE_ENGINE_STAYS"] = "1"
        if child:  # which is given two seconds to end with its parent
            environment["SECOND_HAS_CHILD"] = "1"
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
        found = process_table.marked(f"TOY_MARK={self.mark}")
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


def under_load(lab: Lab) -> subprocess.Popen[str]:
    """A lab whose second trial is under load."""
    process = lab.start(stays=True)
    lab.hear("TrialStarted 2")
    lab.hear("Phase driving")
    lab.hear("Progress ")
    assert len(lab.left()) >= 3
    return process


def goes_on(lab: Lab) -> None:
    """Running again conducts the second trial, and the first one not again."""
    first = (lab.results.trials / EMPTY_FIRST / "trial.json").stat().st_mtime_ns
    lab.start(child=False)
    code, said = lab.end()
    assert code == 0, said
    assert lab.results.trial_ids() == (EMPTY_FIRST, EMPTY_SECOND)
    assert (lab.results.trials / EMPTY_FIRST / "trial.json").stat().st_mtime_ns == first
    assert not list(lab.results.trials.glob(".*"))


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.thorough)]
)
def test_one_signal_ends_a_server_and_its_child(lab: Lab, number: signal.Signals) -> None:
    under_load(lab).send_signal(number)
    code, said = lab.end()
    assert code == 130
    assert "1 of 2 trials" in said
    assert lab.left() == []
    assert lab.results.trial_ids() == (EMPTY_FIRST,)
    goes_on(lab)


def test_two_signals_end_a_server_and_its_child_at_once(lab: Lab) -> None:
    process = under_load(lab)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    code, said = lab.end()
    assert code == 130
    assert "Traceback" not in said
    assert lab.left() == []
    goes_on(lab)


def test_a_killed_lab_leaves_neither_a_server_nor_its_child(lab: Lab) -> None:
    under_load(lab).kill()
    lab.wait_until_nothing_is_left()
    assert lab.results.trial_ids() == (EMPTY_FIRST,)
    assert [path.name for path in lab.results.trials.glob(".*")] == [f".{EMPTY_SECOND}.partial"]
    lab.end()
    goes_on(lab)


PHASES = ("starting", "checking", "stopping", "writing")
OFTEN = ("starting", "writing")
"""A first and a last phase; `make thorough` also looks at those between them."""


@pytest.mark.parametrize(
    "phase",
    [pytest.param(one, marks=() if one in OFTEN else pytest.mark.thorough) for one in PHASES],
)
def test_a_lab_may_be_killed_in_any_phase(lab: Lab, phase: str) -> None:
    process = lab.start()
    lab.hear("TrialStarted 2")
    lab.hear(f"Phase {phase}")
    process.kill()
    lab.wait_until_nothing_is_left()
    assert lab.results.trial_ids()[0] == EMPTY_FIRST
    lab.end()
    goes_on(lab)
