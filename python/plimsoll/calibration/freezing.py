"""Freezes: response times of a server that stalls while requests keep arriving.

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
from plimsoll.calibration.truth import Freeze

if TYPE_CHECKING:
    from plimsoll.calibration.agreement import AgreementPoint
    from plimsoll.calibration.bench import Bench
    from plimsoll.calibration.truth import Times

RATE_PER_S = 1000
POOL = 50
"""Connections of every tool."""

TOLERANCES_NS = {"p50": 5_000_000, "p90": 20_000_000, "p99": 20_000_000, "max": 20_000_000}
"""Tolerances: 5 ms for the median, 20 ms for the others, since the server works off its backlog."""

USUAL = Freeze(duration_ns=1_000_000_000, period_ns=5_000_000_000)
SHORT = Freeze(duration_ns=400_000_000, period_ns=2_000_000_000)
"""The same share of stalled time, with a shorter period."""


@dataclass(frozen=True)
class FreezeFound:
    """The result of a measurement with stalls.

    Attributes:
        freeze: The stalls.
        requests: Requests with a response.
        points: True and reported response times.
        service_times: Statistics of the service times alone, in nanoseconds, by name.
        longest_pause_ns: The longest pause of a thread of the engine.
    """

    freeze: Freeze
    requests: int
    points: tuple[AgreementPoint, ...]
    service_times: dict[str, int]
    longest_pause_ns: int | None


def options(freeze: Freeze) -> tuple[str, ...]:
    """Options of the reference server."""
    duration, period = f"{freeze.duration_ns}ns", f"{freeze.period_ns}ns"
    return ("--workers", "1", "--freeze", duration, "--freeze-every", period)


def measured(bench: Bench, freeze: Freeze, periods: int) -> FreezeFound:
    """Measures a server that stalls.

    Args:
        bench: The bench.
        freeze: The stalls.
        periods: Length of the load in periods.
    """
    bench.tell(f"a server that stalls {wording.exact(freeze.duration_ns / 1e9)} s in every "
               f"{wording.exact(freeze.period_ns / 1e9)} s")  # fmt: skip
    seconds = periods * freeze.period_ns / 1e9
    with bench.reference(*options(freeze)) as reference:
        driven = reference.drive(opened(RATE_PER_S, seconds, POOL))
    arrivals = driven.due_ns + (driven.zero_ns - reference.zero_ns)
    return FreezeFound(
        freeze=freeze,
        requests=len(arrivals),
        points=points(freeze.waits(arrivals), driven.done_ns - driven.due_ns),
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


def expected(freeze: Freeze) -> dict[str, int]:
    """Response times of evenly spaced arrivals over whole periods, in nanoseconds, by name."""
    return {name: round(freeze.quantile(share)) for name, share in truth.QUANTILES.items()}
