"""Turns of two simulated servers, for tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from plimsoll.comparison.turn_pairs import A, B
from plimsoll.recording.turns import Turn

TURN_NS = 250_000_000


@dataclass(frozen=True)
class Pair:
    """What B does in the rounds of one group, as multiples of what A does.

    Attributes:
        rate: Throughput.
        cost: CPU time per request; None where it is not measured.
        delay: Run delay of B / its CPU time; None where it is not measured.
        a_delay: The same of A.
        failures: Failed requests of B in each turn.
    """

    rate: float = 1.0
    cost: float | None = 1.0
    delay: float | None = 0.0
    failures: int = 0
    a_delay: float = 0.0


def turns(pairs: Sequence[Pair], rounds: int = 8) -> tuple[Turn, ...]:
    """The turns of a group for each pair; odd rounds are 10 % faster for both."""
    return tuple(turn for group, pair in enumerate(pairs) for turn in _group(group, pair, rounds))


def _group(group: int, pair: Pair, rounds: int) -> Iterator[Turn]:
    for place in range(rounds):
        speed = 1 + 0.1 * (place % 2)
        yield _turn(group, place, A, Pair(speed, 1 / speed, pair.a_delay))
        cost = None if pair.cost is None else pair.cost / speed
        yield _turn(group, place, B, Pair(pair.rate * speed, cost, pair.delay, pair.failures))


def _turn(group: int, place: int, entry: str, own: Pair) -> Turn:
    requests = round(10_000 * own.rate)
    cpu_ns = None if own.cost is None else round(10_000 * own.cost * requests)
    delay_ns = None if own.delay is None or cpu_ns is None else round(own.delay * cpu_ns)
    return Turn(
        group=group,
        round=place,
        entry=entry,
        start_ns=place * 2 * TURN_NS + (entry == B) * TURN_NS,
        duration_ns=TURN_NS,
        requests=requests,
        failures=own.failures,
        server_cpu_ns=cpu_ns,
        driver_cpu_ns=4_000 * requests,
        server_delay_ns=delay_ns,
        driver_delay_ns=0,
        p50_ns=2_000_000,
        p99_ns=4_000_000,
    )
