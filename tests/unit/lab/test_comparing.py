"""What a comparison refuses before it starts a server."""

from __future__ import annotations

import dataclasses
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.campaign.framework import Framework
from plimsoll.comparison.difference import AT_A_RATE, AT_FULL_SPEED, Metric
from plimsoll.errors import FrameworkError, InputError, Interrupted
from plimsoll.lab import comparing


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
    ],
)
def test_what_is_impossible_is_refused_with_its_option(options: dict[str, Any], where: str) -> None:
    with pytest.raises(InputError) as error:
        plimsoll.compare("reference", "reference", **options)
    assert where in {problem.where for problem in error.value.problems}


def test_a_budget_that_cannot_decide_is_named() -> None:
    plain = Framework("a", "", "", Path(), "", (), "", "", "", ())
    compiled = dataclasses.replace(plain, warm_up_s=10.0)
    turns_and_starts_s = comparing.LEAST_ROUNDS * comparing.ROUND_S + comparing.STARTS_S
    assert comparing.least_s((plain, plain), 1.0) == turns_and_starts_s + 2.0
    assert comparing.least_s((plain, compiled), 1.0) == turns_and_starts_s + 11.0
    assert comparing.least_s((plain, compiled), 0.0) == turns_and_starts_s
    assert comparing.short_budget(6.0, 8.0).startswith("the budget is 6 s, and one group")
    assert "takes 3 groups of processes, about 24 s" in comparing.short_budget(10.0, 8.0)
    assert comparing.short_budget(24.0, 8.0) == ""


@pytest.mark.parametrize("budget_s", [30.0, 35.0, 45.0, 60.0, 120.0])
@pytest.mark.parametrize("beside_s", [3.0, 8.0])
def test_a_budget_of_the_documented_least_holds_the_groups_of_a_decision(
    budget_s: float, beside_s: float
) -> None:
    pace = comparing.Pace(budget_s, comparing.STARTS_S + 2.0)
    took_s: list[float] = []
    for group in range(3):
        took_s.append(beside_s + pace.begin(group) * comparing.ROUND_S)
        pace.end(took_s[-1])
    assert sum(took_s) <= budget_s
    assert pace.rounds >= comparing.LEAST_ROUNDS
    assert pace.rounds == comparing.ROUNDS or budget_s < 60.0
    assert pace.begin(3) == pace.rounds


@pytest.mark.parametrize(
    ("deciding", "rate_per_s", "fewest"),
    [
        (AT_A_RATE, 334.0, 12),
        (AT_A_RATE, 400.0, 11),
        (AT_A_RATE, 900.0, 5),
        (AT_A_RATE, 2000.0, comparing.LEAST_ROUNDS),
        (("p99",), 400.0, 11),
        (("cpu_per_request",), 400.0, comparing.LEAST_ROUNDS),
        (AT_FULL_SPEED, None, comparing.LEAST_ROUNDS),
    ],
)
def test_at_a_rate_a_group_has_the_responses_of_its_p99(
    deciding: tuple[Metric, ...], rate_per_s: float | None, fewest: int
) -> None:
    rounds = comparing.fewest_rounds(deciding, rate_per_s)
    assert rounds == fewest
    if rate_per_s is not None and "p99" in deciding:
        assert rounds * comparing.TURN_S * rate_per_s > 1000
    pace = comparing.Pace(30.0, 8.0, fewest=rounds)
    assert pace.begin(0) == rounds
    assert pace.end(12.0) == 0.0


def test_a_p99_that_cannot_be_measured_is_named() -> None:
    fewest = comparing.fewest_rounds(AT_A_RATE, 400.0)
    assert "p99 takes 3 groups of 1,000 responses, about 39 s" in comparing.without_p99(
        fewest, 30.0, 13.0
    )
    assert comparing.without_p99(fewest, 40.0, 13.0) == ""
    assert comparing.without_p99(comparing.LEAST_ROUNDS, 30.0, 13.0) == ""
    too_low = comparing.fewest_rounds(AT_A_RATE, 333.0)
    assert comparing.without_p99(too_low, 600.0, 13.0).endswith("so 334 requests/s or more")


@pytest.mark.parametrize(
    ("options", "said", "fewest"),
    [
        ({"budget_s": 30.0, "rate_per_s": 400.0}, "p99 takes 3 groups", comparing.LEAST_ROUNDS),
        ({"budget_s": 30.0, "rate_per_s": 200.0}, "334 requests/s", comparing.LEAST_ROUNDS),
        ({"budget_s": 30.0, "rate_per_s": 400.0, "metric": "p99"}, "a decision takes 3", 11),
        ({"budget_s": 60.0, "rate_per_s": 400.0}, "", 11),
        ({"budget_s": 30.0}, "", comparing.LEAST_ROUNDS),
    ],
)
def test_what_a_budget_leaves_out_is_said_before_the_first_group(
    options: dict[str, Any], said: str, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    paces: list[comparing.Pace] = []

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
    assert said in "".join(notices)
    assert [pace.fewest for pace in paces] == [fewest]


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
    def conduct(*_: object) -> tuple[()]:
        os.kill(os.getpid(), number)
        return ()

    monkeypatch.setattr("plimsoll.conduct.turns.conduct", conduct)
    with pytest.raises(Interrupted, match="a signal ended the comparison early"):
        plimsoll.compare("true", "true", commands=True)
