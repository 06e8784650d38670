"""Clocks of several hosts: how far one is from another, how fast they part, and how sure that is.

Both clocks are CLOCK_MONOTONIC, whose zeros have nothing to do with each other. An exchange is four
readings: the lab sends at t₁, the host answers at t₂ = t₃ by its own clock, the lab has the answer
at t₄. The host's clock is ahead by t₂ − (t₁ + t₄) / 2. That is wrong by at most half of the round
trip t₄ − t₁, whichever way was the slower one.

Durations are never computed across clocks: offsets only place the rows of several hosts on one
axis.

Source: D. L. Mills, RFC 5905, sections 8 and 11; the bound is that of ClockBound (offset + half of
the root delay + root dispersion), with the offset corrected rather than suffered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EVERY_S = 20.0
"""How often clocks are compared during a load, in seconds."""

LEAST_SPAN_NS = 1_000_000_000
"""Exchanges closer together than this do not tell drift from the length of a round trip."""


@dataclass(frozen=True)
class ClockExchange:
    """One exchange of readings.

    Attributes:
        sent_ns: The lab's clock when it asked.
        host_ns: The host's clock when it answered.
        received_ns: The lab's clock when it had the answer.
    """

    sent_ns: int
    host_ns: int
    received_ns: int

    @property
    def at_ns(self) -> int:
        """The instant of the answer by the lab's clock, on average."""
        return (self.sent_ns + self.received_ns) // 2

    @property
    def offset_ns(self) -> int:
        """How far the host's clock is ahead of the lab's."""
        return self.host_ns - self.at_ns

    @property
    def round_trip_ns(self) -> int:
        """From question to answer."""
        return self.received_ns - self.sent_ns


@dataclass(frozen=True)
class ClockRelation:
    """A host's clock against the lab's, over the time of a load.

    Attributes:
        offset_ns: How far the host's clock is ahead at `at_ns`.
        at_ns: Instant by the lab's clock.
        drift: Seconds that the host's clock gains in a second; 0 where too little time passed.
        round_trip_ns: The shortest round trip.
        bound_ns: The greatest error of an instant that is moved from one clock to the other.
    """

    offset_ns: int
    at_ns: int
    drift: float
    round_trip_ns: int
    bound_ns: int

    def host_ns(self, lab_ns: int) -> int:
        """An instant of the lab's clock, by the host's."""
        return lab_ns + self.offset_ns + round(self.drift * (lab_ns - self.at_ns))

    def lab_ns(self, host_ns: int) -> int:
        """An instant of the host's clock, by the lab's."""
        since_ns = host_ns - self.offset_ns - self.at_ns
        return self.at_ns + round(since_ns / (1 + self.drift))


def best(exchanges: Sequence[ClockExchange]) -> ClockExchange:
    """The exchange with the shortest round trip, which waited least anywhere."""
    return min(exchanges, key=lambda one: one.round_trip_ns)


def related(bursts: Sequence[Sequence[ClockExchange]]) -> ClockRelation:
    """How two clocks relate over several bursts of exchanges: before, during and after a load.

    The best exchange of each burst counts. Drift is that from the first to the last of them; what
    those between are away from that line widens the bound.

    Args:
        bursts: Bursts in order of time, at least one, none empty.
    """
    chosen = [best(burst) for burst in bursts]
    first, last = chosen[0], chosen[-1]
    span_ns = last.at_ns - first.at_ns
    drift = (last.offset_ns - first.offset_ns) / span_ns if span_ns >= LEAST_SPAN_NS else 0.0
    line = ClockRelation(first.offset_ns, first.at_ns, drift, first.round_trip_ns, 0)
    dispersion_ns = max(abs(one.host_ns - line.host_ns(one.at_ns)) for one in chosen)
    half_ns = max(one.round_trip_ns for one in chosen) // 2
    return ClockRelation(
        offset_ns=first.offset_ns,
        at_ns=first.at_ns,
        drift=drift,
        round_trip_ns=min(one.round_trip_ns for one in chosen),
        bound_ns=half_ns + dispersion_ns,
    )
