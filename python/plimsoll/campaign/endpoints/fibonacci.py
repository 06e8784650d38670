"""`GET /fibonacci/N`: the N-th Fibonacci number, which is work for the server's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request, of_type

if TYPE_CHECKING:
    from random import Random

N = 10_000
"""The number asked for under load; it has 2,090 digits."""

_LEAST = 1
_MOST = 12_000
_DRAWN = 3


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
    """The two ends of the range, then places drawn within."""
    drawn = (random.randint(_LEAST, _MOST) for _ in range(_DRAWN))
    return tuple(_exchange(n) for n in (_LEAST, _MOST, *drawn))


ENDPOINTS = (
    Endpoint(
        name="fibonacci",
        summary="`GET /fibonacci/N` is answered with 200, `text/plain` and the N-th number, "
        "to the digit",
        exchanges=(_exchange(N),),
        probes=_probes,
    ),
)
"""`fibonacci`."""
