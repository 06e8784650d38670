"""Pairs of turns: what B did in a round, divided by what A did in it, on logarithms.

The throughput of a server is the processor time it got each second, divided by what a request costs
it. Other programs take the first factor; the second is the server's own. Processor time *wanted* is
what it got and what it waited for, ready to run (run delay).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import TYPE_CHECKING

from plimsoll.statistics.paired import PairedGroup

if TYPE_CHECKING:
    from plimsoll.recording.turns import Turn

A, B = "A", "B"
"""Entries of the two servers that are compared."""

Quantity = Callable[["Turn"], "tuple[float, float] | None"]
"""Two numbers of a turn whose sums are divided; None where one of them was not measured."""


@dataclass(frozen=True)
class GroupTimes:
    """The 99th percentile of the response times of a group, over all turns of each server.

    Attributes:
        group: Which processes they had.
        a_p99_ns: That of A, in nanoseconds; above 0.
        b_p99_ns: That of B.
    """

    group: int
    a_p99_ns: float
    b_p99_ns: float


def throughput(turn: Turn) -> tuple[float, float] | None:
    """Correct responses, and nanoseconds."""
    return turn.requests, turn.duration_ns


def cpu_per_request(turn: Turn) -> tuple[float, float] | None:
    """Processor time of the server in nanoseconds, and correct responses."""
    return None if turn.server_cpu_ns is None else (turn.server_cpu_ns, turn.requests)


def cpu_obtained(turn: Turn) -> tuple[float, float] | None:
    """Processor time of the server, and time, both in nanoseconds."""
    return None if turn.server_cpu_ns is None else (turn.server_cpu_ns, turn.duration_ns)


def undisturbed(turn: Turn) -> tuple[float, float] | None:
    """Responses if the server had got the processor time that it wanted, and nanoseconds."""
    if turn.server_delay_ns is None or not turn.server_cpu_ns:
        return None
    wanted = 1 + turn.server_delay_ns / turn.server_cpu_ns
    return turn.requests * wanted, turn.duration_ns


def groups(turns: Iterable[Turn], quantity: Quantity) -> list[PairedGroup]:
    """B / A of each group, from the rounds in which both have the quantity above 0.

    Args:
        turns: Turns of A and B.
        quantity: What is compared.
    """
    found: dict[int, list[tuple[float, float, float, float]]] = defaultdict(list)
    for group, one, other in _pairs(turns):
        below, above = quantity(one), quantity(other)
        if below and above and all((*below, *above)):
            found[group].append((*above, *below))
    return [_group(found[number]) for number in sorted(found)]


def mean_rates(turns: Iterable[Turn]) -> tuple[float, float] | None:
    """Throughput of A and of B in responses per second, whose quotient is the paired ratio.

    Each is the geometric mean over groups of the total of its rounds, of the rounds that
    `groups` compares.

    Returns:
        None without a round in which both responded.
    """
    found: dict[int, list[tuple[Turn, Turn]]] = defaultdict(list)
    for group, one, other in _pairs(turns):
        if one.requests and one.duration_ns and other.requests and other.duration_ns:
            found[group].append((one, other))
    if not found:
        return None
    a = [_per_s([one for one, _ in rounds]) for rounds in found.values()]
    b = [_per_s([other for _, other in rounds]) for rounds in found.values()]
    return geometric_mean(a), geometric_mean(b)


def _per_s(turns: Sequence[Turn]) -> float:
    return 1e9 * sum(one.requests for one in turns) / sum(one.duration_ns for one in turns)


def p99(times: Iterable[GroupTimes]) -> list[PairedGroup]:
    """B / A of the 99th percentile of each group."""
    ordered = sorted(times, key=lambda one: one.group)
    return [PairedGroup(math.log(one.b_p99_ns / one.a_p99_ns), ()) for one in ordered]


def _group(rounds: Sequence[tuple[float, float, float, float]]) -> PairedGroup:
    sums = (sum(column) for column in zip(*rounds, strict=True))
    return PairedGroup(_log_ratio(*sums), tuple(_log_ratio(*one) for one in rounds))


def _log_ratio(b: float, per_b: float, a: float, per_a: float) -> float:
    return math.log(b / per_b / (a / per_a))


def failure_ratio(turns: Iterable[Turn], entry: str) -> float:
    """Share of an entry's requests that failed; 0 without any."""
    own = [turn for turn in turns if turn.entry == entry]
    failed = sum(turn.failures for turn in own)
    return failed / max(1, failed + sum(turn.requests for turn in own))


def _pairs(turns: Iterable[Turn]) -> Iterator[tuple[int, Turn, Turn]]:
    """The group, A's turn and B's turn of each round that has both."""
    rounds: dict[tuple[int, int], dict[str, Turn]] = defaultdict(dict)
    for turn in turns:
        rounds[turn.group, turn.round][turn.entry] = turn
    for (group, _), found in rounds.items():
        if A in found and B in found:
            yield group, found[A], found[B]
