"""`GET /fibonacci/N`: the N-th Fibonacci number, computed by the application."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Pairs, Request, of_type

if TYPE_CHECKING:
    from random import Random

N = 10_000
"""The number requested under load if values are fixed; the result has 2,090 digits."""

_UNDER_LOAD = range(8_000, 12_001)
"""The range of drawn numbers under load: on average as much work as `N`, within 2 %."""

NOT_PROVEN = "that N - 1 additions were made: faster algorithms give the same digits"
"""What correct digits do not prove."""

_LEAST = 1
_MOST = 14_000
_DRAWN = 3
_NEAR = 300
"""Numbers with at most this difference need equal work."""

_PAIRS = 64
"""Number of pairs, such that no kind repeats a number."""


def fibonacci(n: int) -> int:
    """The n-th Fibonacci number.

    Args:
        n: Its place, 0 or more: F(0) = 0 and F(1) = 1.

    Returns:
        F(n).

    Source:
        Fast doubling: F(2k) = F(k) · (2 F(k+1) - F(k)) and F(2k+1) = F(k)² + F(k+1)².
    """
    current, following = 0, 1
    for bit in f"{n:b}":
        doubled = current * (2 * following - current)
        after = current * current + following * following
        current, following = (after, doubled + after) if bit == "1" else (doubled, after)
    return current


def _exchange(n: int) -> Exchange:
    digits = str(fibonacci(n)).encode()
    return Exchange(
        Request("fibonacci", "GET", f"/fibonacci/{n}"),
        Expected(length_bytes=len(digits), body=digits, check=of_type("text/plain")),
    )


def _probes(random: Random) -> tuple[Exchange, ...]:
    """The two ends of the range, then numbers drawn from it."""
    drawn = (random.randint(_LEAST, _MOST) for _ in range(_DRAWN))
    return tuple(_exchange(n) for n in (_LEAST, _MOST, *drawn))


def _under_load(random: Random, count: int) -> tuple[Exchange, ...]:
    """One number from each of `count` equal parts of the range, so that seeds need equal work."""
    edges = [_UNDER_LOAD.start + len(_UNDER_LOAD) * at // count for at in range(count + 1)]
    return tuple(
        _exchange(random.randrange(least, above)) for least, above in itertools.pairwise(edges)
    )


def _laborious(random: Random) -> tuple[Pairs, ...]:
    """Numbers unlikely to have been requested before; then each again, or one of the load."""
    fresh = random.sample(range(_MOST - _NEAR, _MOST), _PAIRS)
    above = random.sample(range(_UNDER_LOAD.stop, _UNDER_LOAD.stop + _NEAR), _PAIRS)
    known = random.sample(_UNDER_LOAD[-_NEAR:], _PAIRS)
    again = tuple((_exchange(n), _exchange(n)) for n in fresh)
    of_load = tuple((_exchange(n), _exchange(m)) for n, m in zip(above, known, strict=True))
    return (
        Pairs("the same number again", again),
        Pairs("a number of the load, after a larger one", of_load),
    )


ENDPOINTS = (
    Endpoint(
        name="fibonacci",
        summary="`GET /fibonacci/N` returns 200, `text/plain` and the N-th number, to the digit",
        exchanges=(_exchange(N),),
        probes=_probes,
        drawn=_under_load,
        laborious=_laborious,
        not_proven=NOT_PROVEN,
    ),
)
"""`fibonacci`."""
