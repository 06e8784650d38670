"""What a campaign of kind `line` searches: limits, the load of a try, and when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.campaign.load import STRAIGHT, Load, Stage

if TYPE_CHECKING:
    from plimsoll.campaign.load import Arrivals

PEAK, TRY = "peak", "line"
"""Names of the loads of such a campaign: the closed one that a search starts from, and a try."""

PERCENTILES = {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p999": 99.9}
"""Keys of the limits of latency, and their percentiles."""

LATENCIES_OF_A_HOLD = 4
"""A try lasts at least so many times the longest limit of latency."""

LONGEST_LIMIT_S = 5.0
"""The longest limit of latency."""

RISE_S = 0.3
"""How long the rate of a try rises before it is held, in seconds.

If all connections open at the full rate, that leaves a backlog, which drains slowly near saturation
(decision 152).
"""


def stages_of_try(rate_per_s: float, warm_up_s: float, hold_s: float) -> tuple[Stage, ...]:
    """The stages of a try: its rate rises, is held, and is judged.

    Args:
        rate_per_s: Arrivals per second.
        warm_up_s: How long it is held before it is judged, in seconds; 0 to judge it at once.
        hold_s: Length of the measurement window, in seconds.
    """
    hold = Stage("hold", hold_s, rate_per_s, rate_per_s)
    if not warm_up_s:
        return (hold,)
    rise = Stage("warm_up", RISE_S, 0.0, rate_per_s, STRAIGHT)
    return rise, Stage("warm_up", warm_up_s, rate_per_s, rate_per_s), hold


@dataclass(frozen=True)
class LineSettings:
    """What is searched for each framework and endpoint.

    Attributes:
        p50_s: Limit of the median response time, in seconds; None for none. The others likewise.
        p90_s: Limit of the 90th percentile.
        p95_s: Limit of the 95th percentile.
        p99_s: Limit of the 99th percentile.
        p999_s: Limit of the 99.9th percentile.
        errors: The share of requests that may fail.
        within: Half the width of an interval that is enough, as a share of the rate.
        budget_s: Time of the tries of an entry, from the start of a server to the last check, in
            seconds.
        hold_s: Length of a try's measurement window, in seconds.
        warm_up_s: How long a rate is held before it is judged, in seconds.
        server_warm_up_s: How long a fresh server has a closed load before that, in seconds; it is
            not recorded.
        arrivals: How arrivals are spaced.
        connections: Size of the pool of connections; the peak has as many.
    """

    p50_s: float | None = None
    p90_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None
    p999_s: float | None = None
    errors: float = 0.001
    within: float = 0.05
    budget_s: float = 90.0
    hold_s: float = 2.0
    warm_up_s: float = 0.5
    server_warm_up_s: float = 2.0
    arrivals: Arrivals = "poisson"
    connections: int = 256

    @property
    def latencies(self) -> dict[float, float]:
        """Limit of each limited percentile, in seconds."""
        found = {percent: getattr(self, f"{key}_s") for key, percent in PERCENTILES.items()}
        return {percent: most_s for percent, most_s in found.items() if most_s is not None}

    @property
    def usual_hold_s(self) -> float:
        """Length of a try's measurement window near the line, in seconds."""
        return max(self.hold_s, LATENCIES_OF_A_HOLD * max(self.latencies.values(), default=0.0))

    @property
    def peak(self) -> Load:
        """The closed load that shows the greatest throughput."""
        level = float(self.connections)
        stages = (
            Stage("warm_up", self.warm_up_s, level, level),
            Stage("hold", self.hold_s, level, level),
        )
        return Load(PEAK, "closed", tuple(stage for stage in stages if stage.duration_s))

    def tried(self, rate_per_s: float, hold_s: float) -> Load:
        """The load of a try.

        Args:
            rate_per_s: Arrivals per second.
            hold_s: Length of its measurement window, in seconds.
        """
        return Load(
            TRY,
            "open",
            stages_of_try(rate_per_s, self.warm_up_s, hold_s),
            arrivals=self.arrivals,
            connections=self.connections,
        )
