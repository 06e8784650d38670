"""Disagreements: what several drivers say of one server under one load.

The same trials, put on by each driver in turn, should come out the same. How far they do not is

    ratio = throughput by a driver / throughput by the driver they are all held against

with the interval of the ratio over repetitions. They are held against our own engine; where a
campaign has it not, against the first driver by name. Where none of a driver's trials counts, its
numbers and its ratio are those of void trials: they show how far it lies off, and no verdict rests
on them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.comparison.comparisons import estimates, ratio

if TYPE_CHECKING:
    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.statistics.intervals import Estimate

ENGINE = "plimsoll"
"""Name of the driver against which the others are held."""

THROUGHPUT = "throughput_per_s"
"""The column of `summaries` that drivers are held against each other by."""

QUANTITIES = (
    THROUGHPUT,
    "failure_ratio",
    "service_time_p50_ns",
    "service_time_p99_ns",
    "service_time_max_ns",
    "server_busy_cores",
    "driver_busy_cores",
)
"""Columns of `summaries` that are shown for each driver."""


@dataclass(frozen=True)
class ByDriver:
    """The figures of one driver.

    Attributes:
        driver: Its name.
        numbers: Column of `summaries` to its number over the repetitions that count, over all where
            none counts; without unknown ones.
        ratio: Throughput / that by the driver they are held against; None for that driver itself,
            and where one of the two has no throughput.
        counts: Whether both have a repetition that counts.
        trials: Ids of its trials, those that do not count, too.
    """

    driver: str
    numbers: Mapping[str, Estimate]
    ratio: Estimate | None
    counts: bool
    trials: tuple[str, ...]

    @property
    def apart(self) -> float | None:
        """How far its throughput lies from the other, as a ratio of 1 or more, less 1."""
        if self.ratio is None or self.ratio.value <= 0:
            return None
        return max(self.ratio.value, 1 / self.ratio.value) - 1

    @property
    def may_agree(self) -> bool:
        """Whether the interval of the ratio holds 1, so that chance may have made the difference.

        With one repetition nothing is known of chance, and a difference stands as it is.
        """
        return self.ratio is None or (
            self.ratio.interval is not None and self.ratio.interval.holds(1)
        )


@dataclass(frozen=True)
class Disagreement:
    """What several drivers say of one framework at one endpoint and load.

    Attributes:
        framework: Framework and variant.
        endpoint: Endpoint.
        load: Load.
        against: The driver that the others are held against.
        drivers: Each of them, that one first.
    """

    framework: str
    endpoint: str
    load: str
    against: str
    drivers: tuple[ByDriver, ...]

    @property
    def title(self) -> str:
        """As people read it: `go · 2048 · steady`."""
        return f"{self.framework} · {self.endpoint} · {self.load}"


def disagreements(repetitions: Sequence[ComparedTrial]) -> tuple[Disagreement, ...]:
    """What was put on by several drivers, in the order of endpoint, load and framework.

    Args:
        repetitions: The trials of a campaign.
    """
    grouped: dict[tuple[str, str, str], dict[str, list[ComparedTrial]]] = {}
    for one in repetitions:
        framework, endpoint, load, driver = one.key
        drivers = grouped.setdefault((endpoint, load, framework), {})
        drivers.setdefault(driver, []).append(one)
    return tuple(
        _disagreement(framework, endpoint, load, drivers)
        for (endpoint, load, framework), drivers in sorted(
            grouped.items(), key=lambda item: item[0]
        )
        if len(drivers) > 1
    )


def _disagreement(
    framework: str, endpoint: str, load: str, drivers: Mapping[str, Sequence[ComparedTrial]]
) -> Disagreement:
    ordered = sorted(drivers, key=lambda name: (name != ENGINE, name))
    against = ordered[0]
    return Disagreement(
        framework,
        endpoint,
        load,
        against,
        tuple(
            _by_driver(name, drivers[name], () if name == against else drivers[against])
            for name in ordered
        ),
    )


def _by_driver(
    driver: str, repetitions: Sequence[ComparedTrial], against: Sequence[ComparedTrial]
) -> ByDriver:
    """The figures of a driver.

    Args:
        driver: Its name.
        repetitions: Its trials.
        against: Those of the driver that it is held against; none for that driver itself.
    """
    return ByDriver(
        driver,
        estimates(repetitions, QUANTITIES),
        ratio(repetitions, against, THROUGHPUT),
        any(one.counts for one in repetitions) and any(one.counts for one in against),
        tuple(one.recording.trial for one in repetitions),
    )
