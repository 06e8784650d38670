"""Stages told from how many users were active."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import pytest

from plimsoll.intake import stages
from plimsoll.recording.readings import Reading

S = 1_000_000_000


def users(*levels: float, host: str = "a", first: int = 0) -> list[Reading]:
    return [
        Reading((first + second) * S + S // 2, "driver", "users_active", level, host)
        for second, level in enumerate(levels)
    ]


def told(
    readings: list[Reading],
    seconds: int,
    warm_up_s: float | None = None,
    begun: Mapping[int, int] = MappingProxyType({}),
) -> list[str]:
    found = stages.derived(readings, seconds * S - 1, warm_up_s, begun).stages
    return [f"{one.kind} {one.start_ns / S:g}–{one.end_ns / S:g} to {one.end:g}" for one in found]


def test_without_users_the_whole_load_is_one_hold() -> None:
    assert told([], 10) == ["hold 0–10 to 0"]
    assert stages.derived([], 10 * S, None).sentence == ""


def test_a_load_at_one_level_is_one_hold() -> None:
    assert told(users(*[20.0] * 10), 10) == ["hold 0–10 to 20"]


def test_the_way_up_is_a_ramp_and_the_way_down_is_no_stage() -> None:
    readings = users(5, 10, 15, *[20.0] * 10, 12, 6, 3)
    assert told(readings, 16) == ["ramp 0–3 to 20", "hold 3–13 to 20"]
    sentence = stages.derived(readings, 16 * S - 1, None).sentence
    assert "20 active users" in sentence
    assert "first 3 s" in sentence
    assert "last 3 s" in sentence


def test_users_that_are_first_known_when_all_are_active_did_not_rise() -> None:
    assert told(users(*[10.0] * 3, first=1), 4) == ["hold 0–4 to 10"]
    readings = users(*[10.0] * 7, 5, first=1)
    assert told(readings, 9) == ["hold 0–8 to 10"]
    assert "rose" not in stages.derived(readings, 9 * S - 1, None).sentence
    assert told(users(5, *[10.0] * 7, first=1), 9) == ["ramp 0–2 to 10", "hold 2–9 to 10"]


@pytest.mark.parametrize(
    ("begun", "expected"),
    [
        ({0: 4, 1: 8, 2: 20, 3: 20}, ["ramp 0–2 to 20", "hold 2–14 to 20"]),
        ({0: 20, 1: 20, 2: 20, 3: 20}, ["hold 0–14 to 20"]),
        ({0: 4, 1: 8, 2: 8, 3: 8}, ["ramp 0–4 to 20", "hold 4–14 to 20"]),
        ({0: 90, 1: 99, 2: 99, 3: 99}, ["hold 0–14 to 20"]),
        ({}, ["hold 0–14 to 20"]),
    ],
    ids=["ramp", "none", "think first", "several at once", "not known"],
)
def test_before_the_first_response_requests_that_began_tell_the_ramp(
    begun: dict[int, int], expected: list[str]
) -> None:
    assert told(users(*[20.0] * 10, first=4), 14, begun=begun) == expected
    assert told([], 14, begun=begun) == ["hold 0–14 to 0"]


def test_a_load_that_never_stays_is_one_hold() -> None:
    assert told(users(*map(float, range(1, 101))), 100) == ["hold 0–100 to 100"]


def test_users_of_several_engines_are_summed_while_they_are_at_work() -> None:
    readings = [*users(*[10.0] * 10), *users(*[10.0] * 8, host="b", first=2)]
    assert told(readings, 10) == ["ramp 0–2 to 20", "hold 2–10 to 20"]


def test_a_second_without_a_request_is_no_second_without_users() -> None:
    readings = [one for one in users(*[10.0] * 10) if one.at_ns // S not in (4, 5)]
    assert told(readings, 10) == ["hold 0–10 to 10"]


@pytest.mark.parametrize(
    ("warm_up_s", "expected"),
    [
        (0.0, ["hold 0–16 to 20"]),
        (4.0, ["warm_up 0–4 to 20", "hold 4–16 to 20"]),
        (99.0, ["warm_up 0–16 to 20", "hold 16–16 to 20"]),
    ],
)
def test_a_warm_up_that_is_asked_for_overrules_the_users(
    warm_up_s: float, expected: list[str]
) -> None:
    assert told(users(5, 10, 15, *[20.0] * 13), 16, warm_up_s) == expected
