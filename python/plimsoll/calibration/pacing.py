"""Pacing: the scheduling delay, sent − due, of requests in the open model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.calibration import truth
from plimsoll.calibration.bench import opened

if TYPE_CHECKING:
    from plimsoll.calibration.bench import Bench

RATES_PER_S = (1_000, 5_000, 20_000)
"""Measured arrivals per second."""

POOL = 128
LIMIT_NS = 100_000
"""Limit of the 99th percentile."""

ARRIVALS = 0.001
"""Tolerance of the number of arrivals, as a share of rate × time."""


@dataclass(frozen=True)
class PaceFound:
    """The scheduling delay at one rate.

    Attributes:
        rate_per_s: Requested arrivals per second.
        requested: Requested arrivals.
        arrived: Actual arrivals.
        late: Statistics of sent − due, in nanoseconds, by name.
        longest_pause_ns: The longest pause of a thread of the engine.
        within: Whether the 99th percentile and the number of arrivals are within the limits.
    """

    rate_per_s: int
    requested: int
    arrived: int
    late: dict[str, int]
    longest_pause_ns: int | None
    within: bool


def measured(bench: Bench, seconds: float) -> tuple[PaceFound, ...]:
    """Measures every rate against a server that responds at once.

    Args:
        bench: The bench.
        seconds: Length of each measurement in seconds.
    """
    with bench.reference("--workers", "1") as reference:
        found: list[PaceFound] = []
        for rate in RATES_PER_S:
            bench.tell(f"send times at {wording.count(rate)} arrivals per second")
            driven = reference.drive(opened(rate, seconds, POOL))
            late = truth.quantiles(driven.sent_ns - driven.due_ns)
            pause_ns = driven.driver.longest_pause_ns
            found.append(judged(rate, round(rate * seconds), len(driven.rows), late, pause_ns))
    return tuple(found)


def judged(
    rate_per_s: int, requested: int, arrived: int, late: dict[str, int], pause_ns: int | None
) -> PaceFound:
    """A rate with its judgement; a missing percentile is not within the limits."""
    is_whole = abs(arrived - requested) <= max(1, ARRIVALS * requested)
    within = is_whole and "p99" in late and late["p99"] <= LIMIT_NS
    return PaceFound(rate_per_s, requested, arrived, late, pause_ns, within)
