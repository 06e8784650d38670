"""What an agent does with servers, without a network between it and the lab."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import powercap
from plimsoll.campaign import framework as frameworks
from plimsoll.campaign.framework import Framework
from plimsoll.databases import installed
from plimsoll.errors import DatabaseFailed, DiedUnderLoad, HostLost, NotInstalled, StartFailed
from plimsoll.hosts.agent import agent
from plimsoll.hosts.agent.agent import Agent
from plimsoll.hosts.agent.server import ServedHere
from plimsoll.hosts.answers import StepState
from plimsoll.hosts.orders import DatabaseOrder, OrderedFramework, ServerOrder
from plimsoll.processes import ports
from plimsoll.sampling import idle
from plimsoll.sampling.samplers import energy
from small_servers import eventually

TOYS = Path(__file__).parents[3] / "end_to_end" / "frameworks"
LOOPBACK = ip_address("127.0.0.1")


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> Framework:
    """The toy, which is also where an agent looks for it."""
    monkeypatch.setenv(frameworks.VARIABLE, str(TOYS))
    return one("toy")


def one(reference: str) -> Framework:
    (found,) = frameworks.choose(TOYS, [reference])
    return found


def order(toy: Framework) -> ServerOrder:
    return ServerOrder(OrderedFramework.of(toy), LOOPBACK, LOOPBACK, (), None, {}, 0)


def done(served: ServedHere, step: str, *arguments: object) -> StepState:
    served.begin(step, arguments)
    assert eventually(lambda: served.state().step.has_ended, 60.0)
    return served.state().step


def given(served: ServedHere, step: str, *arguments: object) -> Any:
    state = done(served, step, *arguments)
    assert state.error is None, state.error
    return state.given


def test_a_server_is_started_read_and_stopped(tmp_path: Path, toy: Framework) -> None:
    served = ServedHere(tmp_path)
    assert given(served, "absent", OrderedFramework.of(toy)) is None
    started = given(served, "start", order(toy))
    assert served.state().is_alive
    assert given(served, "at_rest").rest_rss_bytes > 0
    assert {one.quantity for one in given(served, "control")} >= {"control_compute_s"}
    given(served, "sample")
    served.align(0)
    readings, problems = given(served, "sampled")
    assert {one.scope for one in readings} == {"server", "machine"}, problems
    given(served, "check_alive")
    stopped = given(served, "stop", started.side)
    assert stopped.clean_stop
    assert (served.is_busy, served.state().is_alive) == (False, False)
    assert ports.is_free(started.place.port)


def test_energy_without_load_is_read_where_the_server_runs(
    tmp_path: Path, toy: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    powercap.every_trap(tmp_path / "powercap", 5_000_000, 1_000_000)
    monkeypatch.setenv(energy.ROOT_VARIABLE, str(tmp_path / "powercap"))
    monkeypatch.setattr(idle, "SETTLE_S", 0.0)
    served = ServedHere(tmp_path)
    given(served, "start", order(toy))
    machine, with_server = (
        [(one.scope, one.quantity) for one in given(served, step, 0.1)]
        for step in ("idle", "idle_with_server")
    )
    served.abandon()
    assert machine == [("machine", "idle_energy_j")]
    assert with_server == [*machine, *(("server", f"idle_{name}") for name in idle.OF_SERVER)]


def test_a_server_that_does_not_start_gives_its_error(tmp_path: Path, toy: Framework) -> None:
    served = ServedHere(tmp_path)
    error = done(served, "start", order(replace(one("toy:exits-at-once"), folder=toy.folder))).error
    assert isinstance(error, StartFailed)
    assert not served.is_busy


def test_a_step_without_a_server_says_why_there_is_none(tmp_path: Path, toy: Framework) -> None:
    served = ServedHere(tmp_path)
    given(served, "start", order(toy))
    served.abandon()
    error = done(served, "check_alive").error
    assert isinstance(error, HostLost)
    assert "lost contact with the lab" in error.message


@pytest.mark.usefixtures("toy")
def test_a_folder_that_is_not_the_labs_is_named_with_what_differs(tmp_path: Path) -> None:
    shutil.copytree(TOYS / "toy", tmp_path / "toy")
    (tmp_path / "toy" / "app.py").write_text("pass\n")
    (changed,) = frameworks.choose(tmp_path, ["toy"])
    error = done(ServedHere(tmp_path), "make_ready", OrderedFramework.of(changed)).error
    assert isinstance(error, NotInstalled)
    assert error.message == "`toy` is not the lab's: `app.py` changed"


def test_a_framework_that_is_not_there_is_named(tmp_path: Path, toy: Framework) -> None:
    ordered = OrderedFramework.of(replace(toy, name="no-such-toy"))
    error = given(ServedHere(tmp_path), "absent", ordered)
    assert isinstance(error, NotInstalled)
    assert "`no-such-toy` is not there" in error.message


@pytest.fixture
def postgres() -> DatabaseOrder:
    """The order to start PostgreSQL, where there is one."""
    if (missing := installed.missing()) is not None:
        pytest.skip(missing.message)
    return DatabaseOrder(LOOPBACK, ())


def test_a_database_is_started_read_and_stopped(tmp_path: Path, postgres: DatabaseOrder) -> None:
    served = ServedHere(tmp_path)
    running = given(served, "start_database", postgres)
    assert served.is_busy
    assert running.execute("SELECT 1") == [(1,)]
    given(served, "sample_database")
    served.align(0)
    readings, problems = given(served, "sampled_database")
    assert {one.scope for one in readings} == {"database", "machine"}, problems
    given(served, "stop_database")
    assert not served.is_busy
    with pytest.raises(DatabaseFailed):
        running.execute("SELECT 1")


def test_an_agent_that_hears_nothing_stops_its_database(
    tmp_path: Path, postgres: DatabaseOrder, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Agent(tmp_path, tmp_path / "rows")
    host.begin(0, "start_database", (postgres,))
    assert eventually(lambda: host.server(0).step.has_ended, 60.0)
    running: Any = host.server(0).step.given
    monkeypatch.setattr(agent, "SILENCE_S", 0.2)
    assert eventually(lambda: ports.is_free(urlsplit(running.url).port or 0), 60.0)


def test_an_agent_that_hears_nothing_stops_every_server(
    tmp_path: Path, toy: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = Agent(tmp_path, tmp_path / "rows")
    started: list[Any] = []
    for slot in (0, 1):
        host.begin(slot, "start", (order(toy),))
        assert eventually(lambda slot=slot: host.server(slot).step.has_ended, 60.0)
        started.append(host.server(slot).step.given)
        assert host.server(slot).is_alive
    monkeypatch.setattr(agent, "SILENCE_S", 0.2)
    for one in started:
        assert eventually(lambda one=one: ports.is_free(one.place.port), 60.0)


def test_a_server_takes_turns_and_is_read_at_both_ends_of_them(
    tmp_path: Path, toy: Framework
) -> None:
    served = ServedHere(tmp_path)
    started = given(served, "start", order(toy))
    given(served, "take_turns")
    given(served, "widen")
    given(served, "narrow")
    assert given(served, "settle") is False
    served.at_turn("begin_turn", (True,))
    turn = served.at_turn("end_turn", (False,))
    for readings in (turn.before, turn.after):
        assert {one.scope for one in readings} == {"server", "machine"}, turn.problems
    assert turn.cpu_ns is not None
    assert turn.is_alive
    assert given(served, "stop", started.side).clean_stop
    with pytest.raises(HostLost):
        served.at_turn("wake", ())


def test_a_server_that_dies_in_its_turn_is_seen_to_be_gone(tmp_path: Path, toy: Framework) -> None:
    served = ServedHere(tmp_path)
    given(served, "start", order(toy))
    given(served, "take_turns")
    served.at_turn("begin_turn", (False,))
    served.kill()
    assert eventually(lambda: not served.state().is_alive)
    turn = served.at_turn("end_turn", (False,))
    assert (turn.is_alive, turn.cpu_ns) == (False, None)
    assert isinstance(done(served, "check_alive").error, DiedUnderLoad)
    served.abandon()


def test_a_server_that_was_frozen_stops_cleanly(tmp_path: Path, toy: Framework) -> None:
    busy = one("toy:works-at-rest")
    served = ServedHere(tmp_path)
    started = given(served, "start", order(replace(busy, folder=toy.folder)))
    given(served, "take_turns")
    served.at_turn("rest", ())
    time.sleep(0.5)
    served.at_turn("wake", ())
    served.at_turn("begin_turn", (True,))
    turn = served.at_turn("end_turn", (True,))
    assert turn.freezes
    assert given(served, "stop", started.side).clean_stop
