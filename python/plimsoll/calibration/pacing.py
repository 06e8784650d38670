"""Pacing: how far from its due instant a request is sent, in the open model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.calibration import truth
from plimsoll.calibration.bench import opened

if TYPE_CHECKING:
    from plimsoll.calibration.bench import Bench

RATES_PER_S = (1_000, 5_000, 20_000)
"""Arrivals per second that are tried."""

POOL = 128
LIMIT_NS = 100_000
"""The 99th percentile may be so late."""

ARRIVALS = 0.001
"""Share of the arrivals by which their number may differ from rate × time."""


@dataclass(frozen=True)
class PaceFound:
    """How well one rate was kept.

    Attributes:
        rate_per_s: Arrivals per second that were asked for.
        asked: Arrivals that were asked for.
        arrived: Arrivals that there were.
        late: Statistics of sent − due, in nanoseconds, by name.
        longest_pause_ns: The longest stop of a thread of the engine.
        within: Whether the 99th percentile and the number of arrivals are within the limits.
    """

    rate_per_s: int
    asked: int
    arrived: int
    late: dict[str, int]
    longest_pause_ns: int | None
    within: bool


def measured(bench: Bench, seconds: float) -> tuple[PaceFound, ...]:
    """Tries every rate against a server that answers at once.

    Args:
        bench: The bench.
        seconds: How long each is kept.
    """
    with bench.reference("--workers", "1") as reference:
        found: list[PaceFound] = []
        for rate in RATES_PER_S:
            bench.tell(f"pacing at {rate:,} arrivals per second")
            driven = reference.drive(opened(rate, seconds, POOL))
            late = truth.quantiles(driven.sent_ns - driven.due_ns)
            pause_ns = driven.driver.longest_pause_ns
            found.append(judged(rate, round(rate * seconds), len(driven.rows), late, pause_ns))
    return tuple(found)


def judged(
    rate_per_s: int, asked: int, arrived: int, late: dict[str, int], pause_ns: int | None
) -> PaceFound:
    """A rate with its judgement; what cannot be told is not within the limits."""
    is_whole = abs(arrived - asked) <= max(1, ARRIVALS * asked)
    within = is_whole and "p99" in late and late["p99"] <= LIMIT_NS
    return PaceFound(rate_per_s, asked, arrived, late, pause_ns, within)
