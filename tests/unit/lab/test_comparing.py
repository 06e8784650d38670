"""What a comparison refuses before it starts a server, and what it takes from a group."""

from __future__ import annotations

import dataclasses
import os
import signal
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import plimsoll
import plimsoll.conduct.turns as conducted
from plimsoll.campaign.framework import Framework
from plimsoll.comparison import group_rounds
from plimsoll.comparison.group_rounds import ALONE_ONLY, WITH_SIDE_BY_SIDE, GroupRounds, Pace
from plimsoll.errors import DiedUnderLoad, FrameworkError, InputError, Interrupted
from plimsoll.lab import comparing, revisions, selection
from turns import TURN_NS, Pair, turns


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({"connections": 0}, "connections"),
        ({"rate_per_s": 0.0}, "rate_per_s"),
        ({"metric": "speed"}, "metric"),
        ({"budget_s": 0.0}, "budget_s"),
        ({"within": 0.0}, "within"),
        ({"within": 2.0}, "within"),
        ({"max_regression": 0.0}, "max_regression"),
        ({"max_regression": 3.0}, "max_regression"),
        ({"endpoint": "nothing"}, "endpoint"),
        ({"endpoint": "json", "path": "/"}, "endpoint"),
        ({"endpoint": "json", "commands": True}, "endpoint"),
        ({"path": "json"}, "path"),
        ({"metric": "p99", "rate_per_s": 333.0}, "metric"),
    ],
)
def test_what_is_impossible_is_refused_with_its_option(options: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as error:
        plimsoll.compare("reference", "reference", **options)
    assert where in {problem.where for problem in error.value.problems}


@pytest.mark.parametrize(
    ("options", "said", "rounds"),
    [
        ({"budget_s": 30.0, "rate_per_s": 400.0}, "p99 takes 3 groups", ALONE_ONLY),
        ({"budget_s": 30.0, "rate_per_s": 200.0}, "334 requests/s", ALONE_ONLY),
        (
            {"budget_s": 12.0, "rate_per_s": 200.0},
            "334 requests/s or more|the budget is 12 s, and a decision takes 3",
            ALONE_ONLY,
        ),
        (
            {"budget_s": 30.0, "rate_per_s": 400.0, "metric": "p99"},
            "a decision takes 3",
            GroupRounds(11, 12, 12),
        ),
        ({"budget_s": 60.0, "rate_per_s": 400.0}, "", GroupRounds(11, 12, 12)),
        ({"budget_s": 30.0}, "", WITH_SIDE_BY_SIDE),
        ({"budget_s": 30.0, "metric": "throughput"}, "", ALONE_ONLY),
    ],
)
def test_what_a_budget_leaves_out_is_said_before_the_first_group(
    options: dict[str, Any], said: str, rounds: GroupRounds, monkeypatch: pytest.MonkeyPatch
) -> None:
    paces: list[Pace] = []

    def measuring(*given: Any) -> None:
        paces.append(given[4])
        raise FrameworkError("none is started")

    monkeypatch.setattr(comparing, "_measuring", measuring)
    notices: list[str] = []
    with pytest.raises(FrameworkError):
        plimsoll.compare(
            "true", "true", commands=True, on_event=lambda one: notices.append(str(one)), **options
        )
    assert bool(notices) is bool(said)
    assert all(any(part in one for one in notices) for part in filter(None, said.split("|")))
    assert [pace.of_group for pace in paces] == [rounds]


def test_a_p99_that_a_rate_is_too_low_for_is_refused_with_what_helps() -> None:
    with pytest.raises(InputError, match="so 334 requests/s or more") as error:
        plimsoll.compare("true", "true", commands=True, metric="p99", rate_per_s=200.0)
    assert "a higher `rate_per_s=`, or `metric='cpu_per_request'`" in error.value.hint


@pytest.mark.parametrize(("warm_up_s", "left_s"), [(1.0, 30.0 - 11.0), (0.0, 30.0)])
def test_the_time_of_a_group_has_the_warm_up_that_each_framework_asks_for(
    warm_up_s: float, left_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    blank = Framework("a", "", "", Path(), "", (), "", "", "", ())
    plain = dataclasses.replace(blank, endpoints=("plaintext",))
    compiled = dataclasses.replace(plain, warm_up_s=10.0)
    paces: list[Pace] = []

    def measuring(*given: Any) -> None:
        paces.append(given[4])
        raise FrameworkError("none is started")

    monkeypatch.setattr(comparing, "_measuring", measuring)
    monkeypatch.setattr(comparing, "_variant", {"plain": plain, "jvm": compiled}.get)
    monkeypatch.setattr(selection, "make_ready", lambda *_: None)
    with pytest.raises(FrameworkError):
        plimsoll.compare("plain", "jvm", warm_up_s=warm_up_s, budget_s=30.0)
    assert paces[0].left_s - paces[0].beside_s == left_s - group_rounds.STARTS_S


def test_a_command_that_never_listens_ends_within_the_budget_with_what_it_must_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(comparing, "LEAST_START_S", 0.5)
    with pytest.raises(FrameworkError, match=r"within 0\.5 s") as error:
        plimsoll.compare("sleep 60", "sleep 60", commands=True, budget_s=1.0)
    assert "$HOST:$PORT" in error.value.hint
    assert "framework.toml" not in error.value.hint


@pytest.mark.parametrize("name", ["nothing", "go:all"])
def test_a_name_is_one_framework(name: str) -> None:
    with pytest.raises(InputError):
        plimsoll.compare("reference", name)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_comparison_with_an_error_of_plimsoll(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def conduct(*_: object, **__: object) -> dict[str, object]:
        os.kill(os.getpid(), number)
        return {}

    monkeypatch.setattr("plimsoll.conduct.turns.conduct", conduct)
    with pytest.raises(Interrupted, match="a signal ended the comparison early"):
        plimsoll.compare("true", "true", commands=True)


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("see its log, `server.log`", "start it alone to see all of its log"),
        (
            "see its log, `server.log`; if it is not built, run `plimsoll install`",
            "does not keep; if it is not built, run `plimsoll install`",
        ),
        ("the command must listen on `$HOST:$PORT`", "the command must listen on `$HOST:$PORT`"),
    ],
)
def test_a_server_that_failed_is_named_with_a_hint_that_can_be_followed(
    hint: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    endings = [
        SimpleNamespace(kind="completed", message="", hint=""),
        SimpleNamespace(kind="DiedUnderLoad", message="`x` exited with code 1", hint=hint),
    ]
    found = {number: SimpleNamespace(ending=ending) for number, ending in enumerate(endings)}
    monkeypatch.setattr(conducted, "conduct", lambda *_, **__: found)
    with pytest.raises(DiedUnderLoad, match=r"^B: `x` exited with code 1") as error:
        vars(comparing)["_measured"]([], 0, None, None, None)
    assert told in error.value.hint
    assert "server.log" not in error.value.hint


def test_revisions_are_named_with_framework_and_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    blank = Framework("a", "", "", Path(), "", (), "", "", "", ())
    served = dataclasses.replace(blank, endpoints=("plaintext",))
    monkeypatch.setattr(comparing, "_at", lambda *_: served)
    monkeypatch.setattr(comparing, "_measuring", lambda *_: nullcontext())
    monkeypatch.setattr(comparing, "compared", lambda *_, **__: None)
    monkeypatch.setattr(revisions, "commit", lambda revision, _: f"{revision}1234")
    found = plimsoll.compare("main", "HEAD", revisions_of="go")
    assert found.sides.titles == ("go at main (main1234)", "go at HEAD (HEAD1234)")
    assert (found.sides.a, found.sides.b) == ("go at main", "go at HEAD")


def test_turns_alone_have_no_waits_beyond_the_cores_of_the_server_and_who_was_killed_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Four processes on one core wait for each other."""
    waited = dataclasses.replace(turns([Pair()])[0], server_cpu_ns=TURN_NS, server_delay_ns=10**12)
    ending = SimpleNamespace(kind="completed", message="", hint="")
    load = SimpleNamespace(model="closed", server_cores=None)
    ended, killed = (
        SimpleNamespace(
            ending=ending, held_turns=[waited], load=load, server=SimpleNamespace(killed=killed)
        )
        for killed in (0, 2)
    )
    nothing: dict[str, Any] = {"stored": None, "_times": None, "compared_load.doubts": ()}
    for name, found in nothing.items():
        monkeypatch.setattr(f"plimsoll.lab.comparing.{name}", lambda *_, found=found: found)
    monkeypatch.setattr(conducted, "conduct", lambda *_, **__: {"a": ended, "b": killed})
    setting = SimpleNamespace(server_cores=(0, 1))
    trials = [SimpleNamespace(load=load, framework=SimpleNamespace(stop_signal="INT"))] * 2
    measured = vars(comparing)["_measured"](trials, 0, setting, None, None)
    assert [one.server_delay_ns for one in measured.turns] == [TURN_NS, TURN_NS]
    assert [(one.entry, one.stop_signal) for one in measured.killed] == [("B", "SIGINT")]
