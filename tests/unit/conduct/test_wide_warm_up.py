"""A server that may use every core until most of its warm-up is over."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

import toy_trials
from plimsoll.campaign.load import Stage
from plimsoll.conduct.run_config import RunConfig
from plimsoll.conduct.trial_state import TrialState
from plimsoll.conduct.wide_warm_up import widened
from plimsoll.processes import affinity
from plimsoll.processes.tree import ProcessTree
from plimsoll.sampling.scope import Scope
from small_servers import eventually

EVERY = os.sched_getaffinity(0)
OWN = min(EVERY)
WARM_UP = Stage("warm_up", 0.2, 4.0, 4.0)
HOLD = Stage("hold", 1.0, 4.0, 4.0)

pytestmark = pytest.mark.skipif(len(EVERY) < 2, reason="the host has one core")


@pytest.fixture
def server() -> Iterator[tuple[Scope, int]]:
    """A process below another one, confined to one core, and the scope that finds it."""
    command = ["sh", "-c", "sleep 600 & echo $!; wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as root:
        assert root.stdout is not None
        pid = int(root.stdout.readline())
        affinity.confine([pid], [OWN])
        yield Scope("server", ProcessTree(root.pid, with_root=False)), pid
        os.killpg(root.pid, signal.SIGKILL)


def state(*stages: Stage) -> TrialState:
    trial = toy_trials.trial(asked=replace(toy_trials.load(), stages=stages))
    return TrialState(trial, RunConfig(server_cores=(OWN,)))


def test_a_server_is_back_on_its_cores_before_its_warm_up_is_over(
    server: tuple[Scope, int],
) -> None:
    scope, pid = server
    known = state(replace(WARM_UP, duration_s=600.0), HOLD)
    with widened(known, scope) as begun:
        assert os.sched_getaffinity(pid) == EVERY
        begun(time.monotonic_ns() - 500 * 10**9)
        assert eventually(lambda: os.sched_getaffinity(pid) == {OWN})
    assert known.confined_late_s == 0
    assert known.recording().notes == ()


def test_a_server_that_came_back_late_is_noted(server: tuple[Scope, int]) -> None:
    scope, pid = server
    known = state(WARM_UP, HOLD)
    with widened(known, scope) as begun:
        begun(time.monotonic_ns() - 3 * 10**9)
        assert eventually(lambda: known.confined_late_s > 0)
    assert os.sched_getaffinity(pid) == {OWN}
    assert known.confined_late_s > 2
    (note,) = known.recording().notes
    assert "could use every core for" in note


def test_a_load_that_never_began_leaves_the_server_on_its_cores(
    server: tuple[Scope, int],
) -> None:
    scope, pid = server
    with widened(state(WARM_UP, HOLD), scope):
        assert os.sched_getaffinity(pid) == EVERY
    assert os.sched_getaffinity(pid) == {OWN}


@pytest.mark.parametrize("stages", [(HOLD,), (replace(WARM_UP, kind="ramp"), HOLD)])
def test_a_load_without_a_warm_up_moves_nothing(
    server: tuple[Scope, int], stages: tuple[Stage, ...]
) -> None:
    scope, pid = server
    with widened(state(*stages), scope) as begun:
        begun(time.monotonic_ns())
        assert os.sched_getaffinity(pid) == {OWN}
