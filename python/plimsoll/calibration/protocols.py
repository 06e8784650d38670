"""Protocols: reported service times by TLS, HTTP/2 and WebSocket against true ones.

The same comparison as in `accuracy`, with the round trip of each protocol: it contains encryption
and framing on both sides. In the closed case 32 requests are in flight; by HTTP/2, 8 of them on
each connection, so a stream that waited for another one would be reported too long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.calibration import accuracy
from plimsoll.calibration.accuracy import Case
from plimsoll.calibration.bench import Spoken, closed, opened

if TYPE_CHECKING:
    from plimsoll.calibration.accuracy import CaseFound, LoopbackRoundTrip
    from plimsoll.calibration.bench import Bench

PROTOCOLS = (
    Spoken("TLS", "https"),
    Spoken("HTTP/2", "h2c", "http2", streams=8),
    Spoken("WebSocket", protocol="websocket"),
)
"""What is measured, in order."""

IN_FLIGHT = 32
"""Requests in flight in the closed case."""


@dataclass(frozen=True)
class ProtocolFound:
    """The results by one protocol.

    Attributes:
        name: Its name.
        way: The loopback round trip.
        cases: True and reported service times.
    """

    name: str
    way: LoopbackRoundTrip
    cases: tuple[CaseFound, ...]


def measured(bench: Bench, seconds: float, *, quick: bool) -> tuple[ProtocolFound, ...]:
    """Measures every protocol.

    Args:
        bench: The bench.
        seconds: Length of each load in seconds.
        quick: Whether to leave out the closed case.
    """
    return tuple(_measured(bench, spoken, seconds, quick=quick) for spoken in PROTOCOLS)


def cases(spoken: Spoken, seconds: float) -> tuple[Case, ...]:
    """The cases of one protocol.

    Args:
        spoken: The protocol.
        seconds: Length of each load in seconds.
    """
    closed_load = closed(IN_FLIGHT // spoken.streams, seconds)
    pool = accuracy.POOL // spoken.streams
    open_load = opened(accuracy.WAY_PER_S, seconds, pool, "poisson")
    return (
        Case("10 ms, closed", accuracy.fixed("10ms"), closed_load, spoken=spoken),
        Case("1 or 10 ms, Poisson", accuracy.TWO, open_load, is_quick=True, spoken=spoken),
    )


def _measured(bench: Bench, spoken: Spoken, seconds: float, *, quick: bool) -> ProtocolFound:
    found = accuracy.compared(bench, cases(spoken, seconds), seconds, spoken, quick=quick)
    return ProtocolFound(spoken.name, *found)
