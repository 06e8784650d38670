"""A meter at the wall is asked beside a trial, and nothing that it does holds the trial up."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field

from plimsoll import machine
from plimsoll.errors import MeterFailed
from plimsoll.sampling import meters, wall
from plimsoll.sampling.wall import WallMeter, watched

WAIT_S = 30.0
"""The longest wait for an event on a busy machine."""


@dataclass
class Scripted:
    """A meter that answers as it is told, and then waits until it is closed."""

    answers: list[float | Exception]
    interval_s: float = 0.0
    asked: threading.Event = field(default_factory=threading.Event)
    closed: threading.Event = field(default_factory=threading.Event)
    cores: set[int] = field(default_factory=set[int])

    def watts(self) -> float:
        self.cores = os.sched_getaffinity(0)
        if not self.answers:
            self.asked.set()
            self.closed.wait(WAIT_S)
            raise MeterFailed("it was closed")
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.closed.set()


def run(meter: WallMeter, scripted: Scripted) -> None:
    thread = threading.Thread(target=meter.run)
    thread.start()
    assert scripted.asked.wait(WAIT_S)
    meter.end()
    thread.join(WAIT_S)
    assert not thread.is_alive()


def test_what_a_meter_says_is_recorded_as_it_is() -> None:
    scripted = Scripted([50.0, -3.0, 50.0])
    meter = WallMeter(scripted)
    run(meter, scripted)
    assert [one.value for one in meter.readings] == [50.0, -3.0, 50.0]
    assert {(one.scope, one.quantity) for one in meter.readings} == {("machine", wall.LOADED)}
    instants = [one.at_ns for one in meter.readings]
    assert instants == sorted(instants)
    assert (meter.failed, meter.problem) == (0, "")


def test_a_meter_that_fails_is_asked_again_and_its_first_failure_is_noted(monkeypatch) -> None:
    monkeypatch.setattr(wall, "RETRY_S", 0.0)
    scripted = Scripted([MeterFailed("it is away"), 50.0, ValueError("odd"), 51.0])
    meter = WallMeter(scripted)
    run(meter, scripted)
    assert [one.value for one in meter.readings] == [50.0, 51.0]
    assert (meter.failed, meter.problem) == (2, "it is away")


def test_a_meter_is_asked_on_the_cores_that_it_is_given() -> None:
    core = machine.allowed_cores()[-1]
    scripted = Scripted([50.0])
    run(WallMeter(scripted, (core,)), scripted)
    assert scripted.cores == {core}


def test_a_meter_that_does_not_let_go_holds_up_no_trial(monkeypatch) -> None:
    monkeypatch.setattr(wall, "PATIENCE_S", 0.05)
    stuck = Scripted([])
    monkeypatch.setattr(stuck, "close", lambda: None)
    monkeypatch.setattr(meters, "opened", lambda _: stuck)
    with watched("exec:true", ()) as meter:
        assert meter is not None
        assert stuck.asked.wait(WAIT_S)
    assert not stuck.closed.is_set()
    stuck.closed.set()


def test_without_a_meter_nothing_is_asked() -> None:
    before = threading.active_count()
    with watched("", ()) as meter:
        assert meter is None
        assert threading.active_count() == before
