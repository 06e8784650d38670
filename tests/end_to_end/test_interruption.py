"""However a run ends, nothing of it goes on, what is complete is kept, and it can be resumed."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from pathlib import Path

import pytest

from command_line import TOY, TOYS, Running, eventually, run, start

pytestmark = pytest.mark.timeout(120)

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
    had = complete(folder)
    ran = run(*TWICE, folder=folder)
    assert ran.code == 0, ran.stderr
    if had:
        assert f"2 trials, {len(had)} done before" in ran.stderr or len(had) == 2
    assert complete(folder) == [FIRST, SECOND]
    trials = folder / "results" / "toy" / "trials"
    assert sorted(path.name for path in trials.iterdir()) == [FIRST, SECOND]


def test_ctrl_c_stops_the_server_keeps_what_is_complete_and_says_how_to_go_on(
    tmp_path: Path,
) -> None:
    running = in_its_second_trial(tmp_path)
    running.press_ctrl_c()
    ran = running.end()
    assert ran.code == 130
    assert not running.processes()
    assert "error: interrupted; 1 of 2 trials are recorded" in ran.stderr
    assert "hint: the same command goes on with the next trial" in ran.stderr
    assert complete(tmp_path) == [FIRST]
    resumes(tmp_path)


def test_sigterm_ends_a_run_as_ctrl_c_does(tmp_path: Path) -> None:
    running = in_its_second_trial(tmp_path)
    running.process.send_signal(signal.SIGTERM)
    ran = running.end()
    assert ran.code == 130
    assert not running.processes()
    assert "1 of 2 trials are recorded" in ran.stderr
    assert complete(tmp_path) == [FIRST]


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
    assert time.monotonic() - pressed_s < 8
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
    assert "error: interrupted" in ran.stderr
    assert running.leaves_nothing()


def test_an_engine_that_is_killed_costs_its_trial_and_not_the_campaign(tmp_path: Path) -> None:
    running = start(*TWICE, folder=tmp_path)
    running.wait_until_it_drives()
    os.kill(engine_of(running), signal.SIGKILL)
    ran = running.end()
    assert ran.code == 5
    assert f"error: {FIRST}: the engine was ended by SIGKILL" in ran.stderr
    assert not running.processes()
    endings = [
        json.loads((tmp_path / "results/toy/trials" / trial / "trial.json").read_bytes())["ending"]
        for trial in (FIRST, SECOND)
    ]
    assert [ending["kind"] for ending in endings] == ["EngineFailed", "completed"]


def engine_of(running: Running) -> int:
    """Number of the engine's process."""
    pids = [int(process.rpartition(" ")[2]) for process in running.processes()]
    (engine,) = [
        pid for pid in pids if b"\0plimsoll.engine\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    return engine


def test_a_lab_that_is_killed_under_load_leaves_nothing_running_and_loses_nothing(
    tmp_path: Path,
) -> None:
    running = in_its_second_trial(tmp_path)
    assert len(running.processes()) > 1
    running.process.kill()
    running.end()
    assert running.leaves_nothing()
    assert complete(tmp_path) == [FIRST]
    resumes(tmp_path)


def test_a_lab_that_is_killed_at_any_moment_leaves_nothing_running_and_loses_nothing(
    tmp_path: Path,
) -> None:
    short = ("--set", "repetitions=8", "--set", "load.steady.hold.duration=200ms")
    moments = random.Random(7)
    for _ in range(5):
        had = complete(tmp_path)
        running = start("run", TOY, *TOYS, "--no-report", *short, folder=tmp_path)
        time.sleep(moments.uniform(0.4, 2.5))
        os.killpg(running.process.pid, signal.SIGKILL)
        running.end()
        assert running.leaves_nothing(), running.processes()
        assert set(had) <= set(complete(tmp_path))
    ran = run("run", TOY, *TOYS, "--no-report", *short, folder=tmp_path)
    assert ran.code == 0, ran.stderr
    assert len(complete(tmp_path)) == 8
