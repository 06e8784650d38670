"""Accuracy: reported service times against true ones, percentile by percentile.

What is true: the time the server had a request, by its own clock readings, and then the time that
the way there and back takes. The way is measured with a server that answers at once, at arrivals
a millisecond apart: so both processes sleep between requests as they do in the cases, and have to
be woken. As the two know nothing of each other, the time of both is distributed as all their sums.

A response time is a service time and a wait before sending; the wait is checked by `pacing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.calibration import agreement, truth
from plimsoll.calibration.bench import closed, opened

if TYPE_CHECKING:
    from plimsoll.calibration.agreement import Point
    from plimsoll.calibration.bench import Bench, Driven
    from plimsoll.calibration.truth import Times
    from plimsoll.campaign.load import Load

WAY_PER_S = 1000
"""Arrivals per second when the way is measured."""

POOL = 64
"""Connections of the open model."""

QUIET = 5.0
"""On a quiet host the 99th percentile of the way is at most so many times its median."""


@dataclass(frozen=True)
class Case:
    """A service time that is known, under arrivals that are known.

    Attributes:
        name: What people call it.
        options: Options of the reference server.
        load: The load.
        is_quick: Whether it belongs to the quick calibration too.
    """

    name: str
    options: tuple[str, ...]
    load: Load
    is_quick: bool = False


@dataclass(frozen=True)
class Way:
    """What loopback adds to every service time.

    Attributes:
        times: Statistics of the way there and back, in nanoseconds, by name.
        requests: Requests it was measured with.
    """

    times: dict[str, int]
    requests: int

    @property
    def is_quiet(self) -> bool:
        """Whether nothing else held up server, engine or kernel."""
        return self.times.get("p99", self.times["max"]) <= QUIET * self.times["p50"]


@dataclass(frozen=True)
class CaseFound:
    """What one case came to.

    Attributes:
        name: The case.
        requests: Requests that were answered.
        held: Statistics of the server's own account, in nanoseconds, by name.
        points: True and reported service times.
        longest_pause_ns: The longest stop of a thread of the engine.
    """

    name: str
    requests: int
    held: dict[str, int]
    points: tuple[Point, ...]
    longest_pause_ns: int | None


def cases(seconds: float) -> tuple[Case, ...]:
    """Every case.

    Args:
        seconds: Length of each load.
    """
    two = ("--service-time", "1ms", "--second-service-time", "10ms", "--second-ratio", "0.03")
    return (
        Case("1 ms, closed", _fixed("1ms"), closed(1, seconds), is_quick=True),
        Case("1 ms, open", _fixed("1ms"), opened(1000, seconds, POOL)),
        Case("10 ms, closed", _fixed("10ms"), closed(32, seconds)),
        Case("10 ms, open", _fixed("10ms"), opened(3000, seconds, POOL), is_quick=True),
        Case("1 or 10 ms, closed", two, closed(1, seconds)),
        Case("1 or 10 ms, Poisson", two, opened(1000, seconds, POOL, "poisson"), is_quick=True),
    )


def _fixed(duration: str) -> tuple[str, ...]:
    return ("--service-time", duration)


def way(bench: Bench, seconds: float) -> Times:
    """Times of the way there and back, in nanoseconds.

    Args:
        bench: The bench.
        seconds: How long it is measured.
    """
    bench.tell("the way over loopback")
    with bench.reference("--workers", "1") as reference:
        driven = reference.drive(opened(WAY_PER_S, seconds, POOL))
    return _service(driven) - round(float(np.median(reference.held(driven))))


def summarised(way: Times) -> Way:
    """The way in a few numbers."""
    return Way(truth.quantiles(way), len(way))


def measured(bench: Bench, case: Case, way: Times) -> CaseFound:
    """Measures one case.

    Args:
        bench: The bench.
        case: The case.
        way: Times of the way there and back.
    """
    bench.tell(case.name)
    with bench.reference("--workers", "1", *case.options) as reference:
        driven = reference.drive(case.load)
    held, reported = reference.held(driven), _service(driven)
    return CaseFound(
        name=case.name,
        requests=len(reported),
        held=truth.quantiles(held),
        points=points(held, way, reported),
        longest_pause_ns=driven.driver.longest_pause_ns,
    )


def points(held: Times, way: Times, reported: Times) -> tuple[Point, ...]:
    """Compares what was reported with what is true.

    The greatest value is one request, so it is shown and not judged; what is true of it is the
    server's own greatest and the median of the way.

    Args:
        held: How long the server had each request.
        way: Times of the way there and back.
        reported: Service times by the engine.
    """
    found: list[Point] = []
    for name in truth.told(min(len(held), len(way), len(reported))):
        share = truth.QUANTILES[name]
        said = truth.quantile(reported, share)
        if name == "max":
            true_ns = int(held.max()) + truth.quantile(way, 0.5)
            found.append(agreement.point(name, true_ns, said, None))
        else:
            true_ns = truth.quantile_of_sums(held, way, share)
            found.append(agreement.point(name, true_ns, said, agreement.tolerance_ns(true_ns)))
    return tuple(found)


def _service(driven: Driven) -> Times:
    return driven.done_ns - driven.sent_ns
