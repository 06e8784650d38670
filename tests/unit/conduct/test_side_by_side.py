"""Servers at the same time: what hangs is a failure, whichever turn it hangs in."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.conduct.side_by_side import OPENING_S, Side, SideBySide, load_s
from plimsoll.drivers.turning import EngineTurn
from plimsoll.serving.server_turns import ServerTurn

TIMEOUT_S = 10.0
Work = tuple[int, int, float]
"""Responses and failures of a turn, and how long it waits for the last of them, in seconds."""


@dataclass
class ToyServer:
    """A server whose turns are given; the last one goes on.

    Attributes:
        name: Name of its trial.
        works: What it does in each turn.
        turns_s: Lengths of its turns so far.
    """

    name: str
    works: Sequence[Work]
    turns_s: list[float] = field(default_factory=list[float])
    now_ns: int = 0
    has_finished: bool = False

    def beside(self, length_s: float, loads: ExitStack) -> Any:
        trial = SimpleNamespace(
            id=self.name, seed=1, repetition=0, framework=SimpleNamespace(title=self.name)
        )
        member: Any = SimpleNamespace(known=SimpleNamespace(trial=trial), response_s=0.001)
        served = ServerTurn([], [], 1_000_000, is_alive=True, freezes=False, problems={})
        start: Any = SimpleNamespace(
            turns=SimpleNamespace(begin=lambda **_: None, end=lambda **_: served),
            server=SimpleNamespace(check_alive=lambda: None),
        )
        load: Any = SimpleNamespace(turn=self.turn, finish=self.finish)
        return Side(member, start, load, [])

    def turn(self, duration_ns: int) -> EngineTurn:
        requests, failures, waits_s = self.works[min(len(self.turns_s), len(self.works) - 1)]
        self.turns_s.append(duration_ns / 1e9)
        begin_ns, self.now_ns = self.now_ns, self.now_ns + duration_ns + round(waits_s * 1e9)
        progress: Any = None
        return EngineTurn(begin_ns, self.now_ns, begin_ns, requests, failures, progress)

    def finish(self) -> Any:
        self.has_finished = True
        return None


WORKS: Work = (1000, 0, 0.001)
HANGS: Work = (0, 4, TIMEOUT_S)


def measured(b: Sequence[Work]) -> tuple[list[tuple[int, int]], ToyServer]:
    """Responses and failures of B's turns that count, beside an A that works."""
    servers: Any = [ToyServer("A.0", [WORKS]), ToyServer("B.0", b)]
    found = SideBySide(2.0)
    found.measure(servers)
    assert len(found.turns["A.0"]) == len(found.turns["B.0"])
    assert all(one.has_finished for one in servers)
    return [(one.requests, one.failures) for one in found.turns["B.0"]], servers[1]


def test_a_turn_in_which_connections_open_does_not_count() -> None:
    turns, server = measured([WORKS])
    assert turns == [(1000, 0)] * 8
    assert server.turns_s == [OPENING_S, *[0.25] * 8]


def test_a_server_that_hangs_from_the_first_turn_on_has_one_without_a_response() -> None:
    turns, server = measured([HANGS])
    assert turns == [(0, 4)]
    assert server.turns_s == [OPENING_S]


def test_what_fails_in_the_first_turn_counts() -> None:
    turns, _ = measured([(900, 1, TIMEOUT_S), WORKS])
    assert turns == [(900, 1), (1000, 0)]


def test_a_request_that_hangs_ends_the_turns_when_their_time_is_over() -> None:
    turns, _ = measured([WORKS, WORKS, (700, 1, TIMEOUT_S), WORKS])
    assert turns == [(1000, 0), (700, 1)]


@pytest.mark.parametrize("length_s", [0.5, 2.0])
def test_a_load_outlasts_whatever_times_out_in_its_turns(length_s: float) -> None:
    latest_begin_s = OPENING_S + length_s
    assert load_s(length_s, TIMEOUT_S) > latest_begin_s + length_s + TIMEOUT_S
