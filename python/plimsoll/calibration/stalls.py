"""Stalls: response times of a server that stalls while requests keep arriving.

At 1,000 arrivals per second and a stall of 1 s in every 5 s, a fifth of the requests waits, each
for the rest of the stall: the median is 0, the 90th percentile 500 ms, the 99th 950 ms, the maximum
1 s. The true wait of each request follows from its due time and from the ends of the stalls by the
server's own clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.calibration import agreement, truth
from plimsoll.calibration.bench import opened
from plimsoll.calibration.truth import Stall

if TYPE_CHECKING:
    from plimsoll.calibration.agreement import AgreementPoint
    from plimsoll.calibration.bench import Bench
    from plimsoll.calibration.truth import Times

RATE_PER_S = 1000
POOL = 50
"""Connections of every tool."""

TOLERANCES_NS = {"p50": 5_000_000, "p90": 20_000_000, "p99": 20_000_000, "max": 20_000_000}
"""Tolerances: 5 ms for the median, 20 ms for the others, since the server works off its backlog."""

USUAL = Stall(duration_ns=1_000_000_000, period_ns=5_000_000_000)
SHORT = Stall(duration_ns=400_000_000, period_ns=2_000_000_000)
"""The same share of stalled time, with a shorter period."""


@dataclass(frozen=True)
class StallFound:
    """The result of a measurement with stalls.

    Attributes:
        stall: The stalls.
        requests: Requests with a response.
        points: True and reported response times.
        service_times: Statistics of the service times alone, in nanoseconds, by name.
        longest_pause_ns: The longest pause of a thread of the engine.
    """

    stall: Stall
    requests: int
    points: tuple[AgreementPoint, ...]
    service_times: dict[str, int]
    longest_pause_ns: int | None


def options(stall: Stall) -> tuple[str, ...]:
    """Options of the reference server."""
    duration, period = f"{stall.duration_ns}ns", f"{stall.period_ns}ns"
    return ("--workers", "1", "--stall", duration, "--stall-every", period)


def measured(bench: Bench, stall: Stall, periods: int) -> StallFound:
    """Measures a server that stalls.

    Args:
        bench: The bench.
        stall: The stalls.
        periods: Length of the load in periods.
    """
    bench.tell(f"a server that stalls {wording.exact(stall.duration_ns / 1e9)} s in every "
               f"{wording.exact(stall.period_ns / 1e9)} s")  # fmt: skip
    seconds = periods * stall.period_ns / 1e9
    with bench.reference(*options(stall)) as reference:
        driven = reference.drive(opened(RATE_PER_S, seconds, POOL))
    arrivals = driven.due_ns + (driven.zero_ns - reference.zero_ns)
    return StallFound(
        stall=stall,
        requests=len(arrivals),
        points=points(stall.waits(arrivals), driven.done_ns - driven.due_ns),
        service_times=truth.quantiles(driven.done_ns - driven.sent_ns),
        longest_pause_ns=driven.driver.longest_pause_ns,
    )


def points(waits: Times, reported: Times) -> tuple[AgreementPoint, ...]:
    """Compares reported response times with the waits caused by the stalls.

    Args:
        waits: True wait of each request.
        reported: Response times by the engine.
    """
    return tuple(
        agreement.point(
            name,
            truth.quantile(waits, truth.QUANTILES[name]),
            truth.quantile(reported, truth.QUANTILES[name]),
            TOLERANCES_NS.get(name),
        )
        for name in truth.determined(len(waits))
    )


def expected(stall: Stall) -> dict[str, int]:
    """Response times of evenly spaced arrivals over whole periods, in nanoseconds, by name."""
    return {name: round(stall.quantile(share)) for name, share in truth.QUANTILES.items()}
