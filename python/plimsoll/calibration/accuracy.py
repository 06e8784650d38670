"""Accuracy: reported service times against true ones, percentile by percentile.

A true service time is the time in the server, by its own clock, plus the loopback round trip. The
round trip is measured with a server that responds at once, at arrivals a millisecond apart. So both
processes sleep between requests, as in the cases, and must be woken. Since the two are independent,
the distribution of their sum is that of all pairs.

A response time is a service time and a wait before sending; `pacing` checks the wait.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.calibration import agreement, truth
from plimsoll.calibration.bench import HTTP1, closed, opened
from plimsoll.statistics import student

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.calibration.agreement import AgreementPoint
    from plimsoll.calibration.bench import Bench, BenchResult, Spoken
    from plimsoll.calibration.truth import Times
    from plimsoll.campaign.load import Load

WAY_PER_S = 1000
"""Arrivals per second for measuring the round trip."""

POOL = 64
"""Connections of the open model."""

TWO = ("--service-time", "1ms", "--second-service-time", "10ms", "--second-ratio", "0.03")
"""Options of a reference server with two service times."""

STRETCHES = 10
"""Stretches of time that each series is cut into to see how far its percentiles scatter."""

CONFIDENCE = 0.99
"""Of the interval of a difference: some sixty are judged together."""

QUIET = 5.0
"""On a quiet host the 99th percentile of the round trip is at most this multiple of its median."""


@dataclass(frozen=True)
class Case:
    """A known service time under known arrivals.

    Attributes:
        name: Displayed name.
        options: Options of the reference server.
        load: The load.
        is_quick: Whether it is part of the quick calibration.
        spoken: What the load is made by.
    """

    name: str
    options: tuple[str, ...]
    load: Load
    is_quick: bool = False
    spoken: Spoken = HTTP1


@dataclass(frozen=True)
class LoopbackRoundTrip:
    """The loopback round trip, which is part of every service time.

    Attributes:
        times: Its statistics in nanoseconds, by name.
        requests: Number of measured requests.
    """

    times: dict[str, int]
    requests: int

    @property
    def is_quiet(self) -> bool:
        """Whether no other program delayed server, engine or kernel."""
        return self.times.get("p99", self.times["max"]) <= QUIET * self.times["p50"]


@dataclass(frozen=True)
class CaseFound:
    """The result of one case.

    Attributes:
        name: The case.
        requests: Requests with a response.
        held: Statistics of the server's own log, in nanoseconds, by name.
        points: True and reported service times.
        longest_pause_ns: The longest pause of a thread of the engine.
    """

    name: str
    requests: int
    held: dict[str, int]
    points: tuple[AgreementPoint, ...]
    longest_pause_ns: int | None


def cases(seconds: float) -> tuple[Case, ...]:
    """Every case.

    Args:
        seconds: Length of each load.
    """
    return (
        Case("1 ms, closed", fixed("1ms"), closed(1, seconds), is_quick=True),
        Case("1 ms, open", fixed("1ms"), opened(1000, seconds, POOL)),
        Case("10 ms, closed", fixed("10ms"), closed(32, seconds)),
        Case("10 ms, open", fixed("10ms"), opened(3000, seconds, POOL), is_quick=True),
        Case("1 or 10 ms, closed", TWO, closed(1, seconds)),
        Case("1 or 10 ms, Poisson", TWO, opened(1000, seconds, POOL, "poisson"), is_quick=True),
    )


def fixed(duration: str) -> tuple[str, ...]:
    """Options of a reference server with one service time."""
    return ("--service-time", duration)


def compared(
    bench: Bench, cases: Sequence[Case], way_s: float, spoken: Spoken = HTTP1, *, quick: bool
) -> tuple[LoopbackRoundTrip, tuple[CaseFound, ...]]:
    """Measures each case, and the round trip before and after them.

    What a round trip takes on a shared host changes within a minute; two measurements show that.

    Args:
        bench: The bench.
        cases: The cases.
        way_s: Length of the measurement of the round trip in seconds.
        spoken: By what.
        quick: Whether to leave out the cases that a quick calibration does without.
    """
    before = way(bench, way_s / 2, spoken)
    driven = [_driven(bench, case) for case in cases if case.is_quick or not quick]
    taken = np.concatenate([before, way(bench, way_s / 2, spoken)])
    return summarised(taken), tuple(one.found(taken) for one in driven)


def way(bench: Bench, seconds: float, spoken: Spoken = HTTP1) -> Times:
    """Round trip times in nanoseconds.

    Args:
        bench: The bench.
        seconds: Length of the measurement in seconds.
        spoken: By what.
    """
    bench.tell(f"loopback round trip by {spoken.name}")
    with bench.reference("--workers", "1", spoken=spoken) as reference:
        driven = reference.drive(opened(WAY_PER_S, seconds, POOL // spoken.streams))
    return _service(driven) - round(float(np.median(reference.held(driven))))


def summarised(way: Times) -> LoopbackRoundTrip:
    """Statistics of the round trip."""
    return LoopbackRoundTrip(truth.quantiles(way), len(way))


@dataclass(frozen=True)
class _Driven:
    """What a case showed, before the round trip is known.

    Attributes:
        name: The case.
        held: Time of each request in the server, in nanoseconds.
        reported: Service times by the engine, in nanoseconds.
        longest_pause_ns: The longest pause of a thread of the engine.
    """

    name: str
    held: Times
    reported: Times
    longest_pause_ns: int | None

    def found(self, way: Times) -> CaseFound:
        """The result, by round trip times."""
        return CaseFound(
            name=self.name,
            requests=len(self.reported),
            held=truth.quantiles(self.held),
            points=points(self.held, way, self.reported),
            longest_pause_ns=self.longest_pause_ns,
        )


def _driven(bench: Bench, case: Case) -> _Driven:
    bench.tell(f"{case.name}, by {case.spoken.name}")
    with bench.reference("--workers", "1", *case.options, spoken=case.spoken) as reference:
        driven = reference.drive(case.load)
    pause_ns = driven.driver.longest_pause_ns
    return _Driven(case.name, reference.held(driven), _service(driven), pause_ns)


def points(held: Times, way: Times, reported: Times) -> tuple[AgreementPoint, ...]:
    """Compares reported with true service times.

    The maximum is a single request, so it is shown and not judged; its true value is the server's
    own maximum plus the median round trip.

    Args:
        held: Time of each request in the server.
        way: Round trip times.
        reported: Service times by the engine.
    """
    found: list[AgreementPoint] = []
    for name in truth.determined(min(len(held), len(way), len(reported))):
        share = truth.QUANTILES[name]
        stated = truth.quantile(reported, share)
        if name == "max":
            true_ns = int(held.max()) + truth.quantile(way, 0.5)
            found.append(agreement.point(name, true_ns, stated, None))
        else:
            true_ns = truth.quantile_of_sums(held, way, share)
            tolerance_ns = agreement.tolerance_ns(true_ns)
            scatter_ns = _scatter_ns(held, way, reported, share)
            found.append(agreement.point(name, true_ns, stated, tolerance_ns, scatter_ns))
    return tuple(found)


def _scatter_ns(held: Times, way: Times, reported: Times, share: float) -> int:
    """Half the width of the interval of reported − true.

    Slow requests come in clusters, so stretches of time are the observations: the difference is
    estimated without each of them in turn (delete-a-group jackknife).
    """
    series = [np.array_split(one, STRETCHES) for one in (held, way, reported)]
    found: list[int] = []
    for left_out in range(STRETCHES):
        held, way, reported = (
            np.concatenate([part for number, part in enumerate(parts) if number != left_out])
            for parts in series
        )
        true_ns = truth.quantile_of_sums(held, way, share)
        found.append(truth.quantile(reported, share) - true_ns)
    error_ns = math.sqrt((STRETCHES - 1) * float(np.var(found)))
    return round(student.two_sided(STRETCHES - 1, CONFIDENCE) * error_ns)


def _service(driven: BenchResult) -> Times:
    return driven.done_ns - driven.sent_ns
