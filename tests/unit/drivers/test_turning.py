"""A load that takes turns: the engine against the reference server, and words it must not say."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import toy_trials
from plimsoll.campaign.load import Load, Stage
from plimsoll.drivers import records, turning
from plimsoll.drivers.job import DriverJob
from plimsoll.drivers.tools import plimsoll as engine
from plimsoll.drivers.turning import EngineLoad
from plimsoll.errors import EngineFailed
from plimsoll.processes import cpu_clock, process_table
from plimsoll.processes.tree import ProcessTree

pytestmark = pytest.mark.timeout(120)

MS = 1_000_000
LOAD = Load("x", "closed", (Stage("hold", 0.3, 4, 4),), timeout_s=5.0)


@pytest.fixture(scope="module")
def reference() -> Iterator[str]:
    """Address of a reference server."""
    command = [sys.executable, "-m", "plimsoll.reference", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["address"]
        process.kill()


@pytest.fixture
def job(reference: str, tmp_path: Path) -> DriverJob:
    return DriverJob(
        load=LOAD,
        exchanges=toy_trials.EMPTY.exchanges,
        address=reference,
        cores=(),
        seed=5,
        body_sample_ratio=0.0,
        into=tmp_path,
    )


def rows(job: DriverJob) -> int:
    return (job.into / "requests.bin").stat().st_size // records.record_dtype("requests").itemsize


def is_gone(pid: int) -> bool:
    found = process_table.process(pid)
    return found is None or found.zombie


def test_turns_add_up_to_the_load_whatever_lies_between_them(job: DriverJob) -> None:
    turns: list[turning.EngineTurn] = []
    with turning.started(job) as load:
        assert load.zero_ns == 0
        while not load.has_ended:
            turns.append(load.turn(100 * MS))
            time.sleep(0.05)
        zero_ns = load.zero_ns
        result = load.finish()
    driver = result.driver
    assert driver.ended_by == "schedule"
    assert [(s.kind, s.start_ns, s.end_ns) for s in result.stages] == [("hold", 0, 300 * MS)]
    assert sum(turn.requests for turn in turns) == driver.outcomes["ok"] > 0
    assert [turn.failures for turn in turns] == [0] * len(turns)
    assert rows(job) == driver.sent == sum(driver.outcomes.values())
    assert (driver.opened, driver.refused, driver.requests_lost_by_recorder) == (4, 0, 0)
    assert result.zero_monotonic_ns == zero_ns == turns[0].start_monotonic_ns
    for turn, following in pairwise(turns):
        assert turn.end_ns == following.start_ns
        rest_ns = following.start_monotonic_ns - turn.start_monotonic_ns - turn.end_ns
        assert rest_ns + turn.start_ns >= 50 * MS
        assert turn.progress.in_flight == 0
    assert turns[0].start_ns == 0
    assert turns[-1].end_ns >= 300 * MS


def test_its_readings_have_the_time_of_the_load(job: DriverJob) -> None:
    with turning.started(job) as load:
        ends_ns: list[int] = []
        while not load.has_ended:
            ends_ns.append(load.turn(100 * MS).end_ns)
            time.sleep(0.1)
        result = load.finish()
    sent = [one for one in result.readings if one.quantity == "requests_sent"]
    finished = json.loads((job.into / "finish.json").read_text())
    # A thread whose turn ended just before the schedule did passes its end when no turn follows.
    times_ns = [load.zero_ns + end_ns for end_ns in ends_ns]
    assert [one.at_ns for one in sent[: len(times_ns)]] == times_ns
    assert sent[-1].at_ns == load.zero_ns + finished["ended_ns"] < times_ns[-1] + 100 * MS
    assert sent[-1].value == result.driver.sent
    assert [one.value for one in sent] == sorted(one.value for one in sent)


def test_between_turns_it_uses_next_to_no_processor_time(job: DriverJob) -> None:
    with turning.started(replace(job, load=lasting(60.0))) as load:
        started = cpu_clock.of(load.processes())
        load.turn(300 * MS)
        worked = cpu_clock.of(load.processes())
        time.sleep(0.6)
        rested = cpu_clock.of(load.processes())
    at_rest, at_turn = cpu_clock.grown(worked, rested), cpu_clock.grown(started, worked)
    assert at_rest is not None
    assert at_turn is not None
    assert at_rest < 0.2 * at_turn


def test_what_it_used_can_be_read_after_its_last_turn(job: DriverJob) -> None:
    """It ends no sooner than it is told to, and none of its threads does, long as one waits."""
    with turning.started(job) as load:
        tree = ProcessTree(load.process, with_root=False)
        tree.refresh()
        first, threads = tree.spent.cpu_s, dict(tree.threads("schedstat"))
        while not load.has_ended:
            load.turn(100 * MS)
        time.sleep(0.5)
        tree.refresh()
        last, still = tree.spent.cpu_s, dict(tree.threads("schedstat"))
        load.finish()
        assert load.processes() == ()
    assert last > first
    assert still.keys() >= threads.keys()


def lasting(duration_s: float, **changes: Any) -> Load:
    return replace(LOAD, stages=(Stage("hold", duration_s, 4, 4),), **changes)


def test_a_load_that_is_finished_early_ends_where_its_last_turn_did(job: DriverJob) -> None:
    with turning.started(replace(job, load=lasting(60.0))) as load:
        turn = load.turn(50 * MS)
        assert not load.has_ended
        result = load.finish()
        pids = load.processes()
    assert result.driver.ended_by == "interrupt"
    assert result.driver.outcomes == {"ok": turn.requests}
    assert result.stages[-1].end_ns < 60_000 * MS
    assert pids == ()


def test_a_load_that_had_no_turn_has_no_result_and_is_stopped(job: DriverJob) -> None:
    with turning.started(job) as load:
        (*_, pid) = load.processes()
    assert is_gone(pid)


def test_a_load_of_a_number_of_requests_has_ended_when_they_are_sent(job: DriverJob) -> None:
    turns: list[turning.EngineTurn] = []
    with turning.started(replace(job, load=lasting(60.0, request_limit=50))) as load:
        while not load.has_ended:
            turns.append(load.turn(20 * MS))
        result = load.finish()
    assert result.driver.ended_by == "request_limit"
    assert sum(turn.requests for turn in turns) == result.driver.outcomes["ok"] == 50
    assert rows(job) == result.driver.sent


def test_an_engine_that_was_killed_is_an_error_at_its_next_turn(job: DriverJob) -> None:
    with turning.started(job) as load:
        load.turn(20 * MS)
        for pid in load.processes():
            found = process_table.process(pid)
            assert found is not None
            process_table.send(found, signal.SIGKILL)
        with pytest.raises(EngineFailed, match="killed by SIGKILL"):
            load.turn(20 * MS)


def test_a_server_that_is_gone_costs_failures_and_not_the_load(job: DriverJob) -> None:
    with turning.started(replace(job, address="127.0.0.1:9")) as load:
        turn = load.turn(100 * MS)
        load.finish()
    assert turn.requests == 0
    assert turn.failures > 0


SAYS = """
import json, sys, time
for line in {lines!r}:
    print(json.dumps(line), flush=True)
print(*{last!r}, file=sys.stderr)
sys.exit({code})
"""


@pytest.fixture
def says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Has a program that says what it is given stand in for the engine."""

    def does(*lines: dict[str, Any], code: int = 0, last: tuple[str, ...] = ()) -> None:
        program = tmp_path / "engine.py"
        program.write_text(SAYS.format(lines=lines, code=code, last=last))
        monkeypatch.setattr(engine, "COMMAND", (sys.executable, str(program)))

    return does


def test_an_engine_that_does_not_start_says_why(job: DriverJob, says: Callable[..., None]) -> None:
    says(code=5, last=(json.dumps({"error": "no such thing", "hint": "x"}),))
    with pytest.raises(EngineFailed, match="no such thing"), turning.started(job):
        pass


def test_an_engine_that_ends_without_a_word_is_an_error(
    job: DriverJob, says: Callable[..., None]
) -> None:
    says({"event": "ready"})
    with (
        turning.started(job) as load,
        pytest.raises(EngineFailed, match="without its final report"),
    ):
        load.turn(MS)


@pytest.fixture
def finished(job: DriverJob) -> Generator[EngineLoad]:
    with turning.started(job) as load:
        while not load.has_ended:
            load.turn(100 * MS)
        load.finish()
        yield load


def test_what_has_finished_may_be_stopped_again(finished: EngineLoad) -> None:
    assert finished.processes() == ()
