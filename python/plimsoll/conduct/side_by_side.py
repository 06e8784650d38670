"""Servers work side by side: at the same time, on the same cores, each under a load of its own.

The kernel changes from one to the other every few milliseconds, so whatever the machine does costs
all of them alike. What a request costs one / what it costs another is therefore known better than
from turns in which each works alone (decision 157). Each has only a part of the cores, so their
throughput and response times mean nothing here.

Loads last longer than all turns, so that a request without a response times out in its turn and is
a failure. The end of the load would else cut it short, which is none.

Source:
    L. Bulej et al., Duet benchmarking, ICPE 2020.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import repeat
from random import Random
from typing import TYPE_CHECKING

from plimsoll.conduct.group_member import turn_of
from plimsoll.conduct.turn_length import turn_s
from plimsoll.drivers.turning import DriverUse
from plimsoll.errors import DriverError, FrameworkError, HostLost
from plimsoll.recording.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from plimsoll.conduct.group_member import GroupMember, ServerAtTurn
    from plimsoll.conduct.shared_server import SharedServer
    from plimsoll.drivers.job import DriverResult
    from plimsoll.drivers.turning import EngineTurn, TurningLoad

TURN_S = 0.25
"""Length of a turn of all, in seconds, unless they respond slowly."""

OPENING_S = 0.05
"""Length of the turn before the first that counts, in which connections open, in seconds.

It counts only where requests failed in it, or had no response."""


@dataclass
class SideBySide:
    """Turns of all servers of a group at the same time.

    Attributes:
        length_s: Length of all turns together, in seconds.
        turns: What each server did, by the id of its first trial, in the order of rounds.
    """

    length_s: float
    turns: dict[str, list[Turn]] = field(default_factory=dict[str, list[Turn]])

    def measure(self, servers: Sequence[SharedServer]) -> None:
        """Has servers work at the same time; nothing, where fewer than two are left.

        A server or load generator that fails ends its own trial, and the turns of all.

        Args:
            servers: The servers; each has had its own turns.
        """
        # Loads are stopped first: whoever waits for a turn of one has then nothing to wait for.
        with ThreadPoolExecutor(len(servers)) as pool, ExitStack() as loads:
            sides = [side for one in servers if (side := one.beside(self.length_s, loads))]
            if len(sides) < 2:  # noqa: PLR2004
                return
            each_s = self._turn_s(sides)
            lengths_s = [OPENING_S, *[each_s] * max(1, round(self.length_s / each_s))]
            passed_s = 0.0
            for number, length_s in enumerate(lengths_s):
                found = _taken(sides, number, length_s, pool)
                taken = [turn for turn in found if turn is not None]
                if len(taken) < len(found):
                    return
                is_silent = not all(turn.requests for turn in taken)
                if number or is_silent or any(turn.failures for turn in taken):
                    self._keep(sides, taken)
                passed_s += max(turn.duration_ns for turn in taken) / 1e9
                if is_silent or (number and passed_s >= self.length_s):
                    break
            for side in sides:
                side.finish()

    def _turn_s(self, sides: Sequence[Side]) -> float:
        """Length of a turn. Who shares cores with others responds as late as all of them."""
        response_s = sum(side.member.response_s for side in sides)
        return turn_s(response_s, TURN_S, self.length_s)

    def _keep(self, sides: Sequence[Side], taken: Sequence[Turn]) -> None:
        for side, turn in zip(sides, taken, strict=True):
            self.turns.setdefault(side.member.known.trial.id, []).append(turn)


@dataclass(frozen=True)
class Side:
    """One server that works beside others.

    Attributes:
        member: Its trial, of which nothing more is recorded.
        start: The server.
        load: Its load.
        ended: Has the loads that have ended, as its load generators tell them.
    """

    member: GroupMember
    start: ServerAtTurn
    load: TurningLoad
    ended: list[DriverResult]

    def begin(self) -> bool:
        """Has the server work; whether it does."""
        try:
            self.start.turns.begin(thorough=False)
        except HostLost as error:
            self.member.fail(error)
            return False
        return True

    def work(self, length_s: float) -> EngineTurn | None:
        """Loads it; None where that failed."""
        try:
            return self.load.turn(round(length_s * 1e9))
        except (DriverError, HostLost) as error:
            self.member.fail(error)
            return None

    def end(self, turn: EngineTurn | None, number: int) -> Turn | None:
        """Has it rest; what it did, None where it or its load failed."""
        try:
            served = self.start.turns.end(thorough=False)
            self.start.server.check_alive()
        except (FrameworkError, HostLost) as error:
            self.member.fail(error)
            return None
        if turn is None:
            return None
        return turn_of(self.member.known.trial, number, turn, served, DriverUse(None, None))

    def finish(self) -> None:
        """Ends its load."""
        try:
            self.ended.append(self.load.finish())
        except (DriverError, HostLost) as error:
            self.member.fail(error)


def load_s(length_s: float, timeout_s: float) -> float:
    """Length of a load that outlasts its turns and the timeout of the last one, in seconds.

    Args:
        length_s: Length of all turns together, but for the first one; no turn is longer.
        timeout_s: A request fails after this long.
    """
    return OPENING_S + 2 * length_s + timeout_s + 1.0


def _taken(
    sides: Sequence[Side], number: int, length_s: float, pool: Executor
) -> list[Turn | None]:
    """A turn of all; None for whom it failed.

    Whoever begins first also ends first, so that all are read over the same length. Who that is, is
    drawn for each round.
    """
    seed = f"{sides[0].member.known.trial.seed}/side by side/{number}"
    order = Random(seed).sample(range(len(sides)), len(sides))  # noqa: S311 - it is repeatable
    begun = [sides[place].begin() for place in order]
    if not all(begun):
        return [None] * len(sides)
    worked = [*pool.map(Side.work, sides, repeat(length_s))]
    ended = {place: sides[place].end(worked[place], number) for place in order}
    return [ended[place] for place in range(len(sides))]
