"""Pairs of turns: what B did in a round, divided by what A did in it, on logarithms.

The throughput of a server is the processor time it got each second, divided by what a request costs
it. Other programs take the first factor; the second is the server's own. Processor time *wanted* is
what it got and what it waited for, ready to run (run delay), at most all the time of its cores.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean
from typing import TYPE_CHECKING

from plimsoll.statistics.paired import PairedGroup

if TYPE_CHECKING:
    from plimsoll.recording.turns import Turn

A, B = "A", "B"
"""Entries of the two servers that are compared."""

Quantity = Callable[["Turn"], "tuple[float, float] | None"]
"""Two numbers of a turn whose sums are divided; None where one of them was not measured."""

_Round = tuple[float, float, float, float]
"""The two numbers of B's turn, then those of A's."""


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


def within_cores(turn: Turn, cores: int) -> Turn:
    """The turn without waits for cores that its cores could not have ended.

    Waits are a sum over threads, which also wait for each other: four on one core wait three times
    as long as they work. Together they want no more than all its time.

    Args:
        turn: The turn.
        cores: How many cores the server has.
    """
    if turn.server_delay_ns is None or turn.server_cpu_ns is None:
        return turn
    most_ns = max(0, cores * turn.duration_ns - turn.server_cpu_ns)
    return replace(turn, server_delay_ns=min(turn.server_delay_ns, most_ns))


def undisturbed(turn: Turn) -> tuple[float, float] | None:
    """Responses if the server had got the processor time that it wanted, and nanoseconds."""
    if turn.server_delay_ns is None or turn.server_cpu_ns is None:
        return None
    if not turn.requests:
        return 0, turn.duration_ns
    if not turn.server_cpu_ns:
        return None
    wanted = 1 + turn.server_delay_ns / turn.server_cpu_ns
    return turn.requests * wanted, turn.duration_ns


def cpu_wanted(turn: Turn) -> tuple[float, float] | None:
    """Processor time that the server wanted, and time, both in nanoseconds."""
    if turn.server_cpu_ns is None or turn.server_delay_ns is None:
        return None
    return turn.server_cpu_ns + turn.server_delay_ns, turn.duration_ns


def undisturbed_at_cost(alone: Sequence[Turn], side_by_side: Sequence[Turn]) -> list[PairedGroup]:
    """B / A of `undisturbed` in each group, as processor time wanted / what a request costs.

    Its first factor is that of turns in which a server works alone, the second that of turns in
    which both do, which knows it better. Rounds are those of the second.
    """
    wanted = _by_group(alone, cpu_wanted)
    return [
        PairedGroup(own.total - cost.total, tuple(own.total - one for one in cost.rounds))
        for group, cost in _by_group(side_by_side, cpu_per_request).items()
        if (own := wanted.get(group)) is not None
    ]


def groups(turns: Iterable[Turn], quantity: Quantity) -> list[PairedGroup]:
    """B / A of each group, from the rounds in which both have a turn with the quantity.

    A turn in which a server returned nothing counts in the total, else one that hangs would lose
    nothing by it. It has no ratio of its own. A group has none where most of its rounds lack the
    quantity: those that have it may be the odd ones.

    Args:
        turns: Turns of A and B.
        quantity: What is compared.
    """
    return [*_by_group(turns, quantity).values()]


def _by_group(turns: Iterable[Turn], quantity: Quantity) -> dict[int, PairedGroup]:
    """The same by the number of the group, in its order."""
    found: dict[int, list[_Round]] = defaultdict(list)
    unknown: dict[int, int] = defaultdict(int)
    for group, one, other in _pairs(turns):
        below, above = quantity(one), quantity(other)
        if below and above:
            found[group].append((*above, *below))
        else:
            unknown[group] += 1
    return {
        number: _group(rounds)
        for number, rounds in sorted(found.items())
        if len(rounds) > unknown[number] and all(_sums(rounds))
    }


def uncounted(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Of which servers CPU time is unknown in at least half of the turns of a group."""
    found: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for turn in turns:
        found[turn.entry, turn.group].append(turn.server_cpu_ns is None)
    entries = {
        entry
        for (entry, _), are_unknown in found.items()
        if 2 * sum(are_unknown) >= len(are_unknown)
    }
    return tuple(entry for entry in (A, B) if entry in entries)


def silent(turns: Iterable[Turn]) -> tuple[str, ...]:
    """Which servers returned nothing in all their turns of a group, which has no ratio then."""
    found: dict[tuple[str, int], int] = defaultdict(int)
    for turn in turns:
        found[turn.entry, turn.group] += turn.requests
    entries = {entry for (entry, _), requests in found.items() if not requests}
    return tuple(entry for entry in (A, B) if entry in entries)


def rounds(turns: Iterable[Turn]) -> int:
    """In how many rounds both have a turn."""
    return sum(1 for _ in _pairs(turns))


def mean_rates(turns: Iterable[Turn]) -> tuple[float, float] | None:
    """Throughput of A and of B in responses per second, whose quotient is the paired ratio.

    Each is the geometric mean over groups of the total of its rounds, of those that `groups`
    compares.

    Returns:
        None without a group in which both responded.
    """
    found: dict[int, list[tuple[Turn, Turn]]] = defaultdict(list)
    for group, one, other in _pairs(turns):
        found[group].append((one, other))
    both = [tuple(map(_per_s, zip(*pairs, strict=True))) for pairs in found.values()]
    kept = [(a, b) for a, b in both if a and b]
    if not kept:
        return None
    return geometric_mean([a for a, _ in kept]), geometric_mean([b for _, b in kept])


def _per_s(turns: Sequence[Turn]) -> float:
    """Throughput over all turns; 0 where they had no time."""
    duration_ns = sum(one.duration_ns for one in turns)
    return 1e9 * sum(one.requests for one in turns) / duration_ns if duration_ns else 0.0


def p99(times: Iterable[GroupTimes]) -> list[PairedGroup]:
    """B / A of the 99th percentile of each group."""
    ordered = sorted(times, key=lambda one: one.group)
    return [PairedGroup(math.log(one.b_p99_ns / one.a_p99_ns), ()) for one in ordered]


def _group(found: Sequence[_Round]) -> PairedGroup:
    single = tuple(_log_ratio(*one) for one in found if all(one))
    return PairedGroup(_log_ratio(*_sums(found)), single)


def _sums(found: Sequence[_Round]) -> _Round:
    b, per_b, a, per_a = (sum(column) for column in zip(*found, strict=True))
    return b, per_b, a, per_a


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
