"""Comparisons: frameworks at one endpoint and load, by one driver, over repetitions.

A repetition that is void, or that has no recording, does not count; how many were left out is said.
Never the best of several: the median of all that count, with its interval.

A framework is ahead of another only if the interval of the ratio of their numbers excludes 1 *and*
the ratio of their medians is beyond `EFFECT`. So ranks are ranges: the best rank is one more than
those ahead of it, the worst is the number of frameworks less those behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate.intervals import Middle, interval, middle, ratio_interval

if TYPE_CHECKING:
    from plimsoll.recording import Recording

    Key = tuple[str, str, str, str]
    """Framework, endpoint, load and driver."""

RANKED = ("goodput_per_s", "throughput_per_s")
"""Quantities that rank; the first one is the ranking."""

QUANTITIES = (
    *RANKED,
    "failure_ratio",
    "response_time_mean_ns",
    "response_time_p50_ns",
    "response_time_p95_ns",
    "response_time_p99_ns",
    "response_time_max_ns",
    "service_time_p50_ns",
    "service_time_p99_ns",
    "received_bytes_per_s",
    "open_connections",
    "server_busy_cores",
    "server_cpu_s_per_request",
    "requests_per_core_s",
    "server_peak_rss_bytes",
    "server_peak_pss_bytes",
    "driver_busy_cores",
)
"""Columns of `summaries` that are compared."""

EFFECT = 0.02
"""A smaller difference is no difference; first proposal."""


@dataclass(frozen=True)
class Repetition:
    """One trial in a comparison.

    Attributes:
        recording: Its recording.
        summary: Its row of `tables.SUMMARIES`; None when there is none.
        is_void: Whether its numbers are not to be believed.
        steps: Complete answers in each whole second of its ramps and holds.
        course: How throughput went in its last hold, as `aggregate.courses` calls it; empty when
            nobody looked.
        server_busy_ratio: Share of its cores that the server, and the kernel for it, kept busy in
            the holds; None when unknown.
    """

    recording: Recording
    summary: Mapping[str, Any] | None
    is_void: bool
    steps: tuple[int, ...] = ()
    course: str = ""
    server_busy_ratio: float | None = None

    @property
    def counts(self) -> bool:
        """Whether its numbers count."""
        return self.summary is not None and not self.is_void

    @property
    def key(self) -> Key:
        """What it is a repetition of."""
        recording = self.recording
        return recording.title, recording.endpoint, str(recording.load["name"]), self.driver

    @property
    def driver(self) -> str:
        """Name of the program that put on its load."""
        return self.recording.driver_name


def comparisons(repetitions: Sequence[Repetition]) -> pa.Table:
    """Every quantity of every framework by the schema of `tables.COMPARISONS`.

    Rows are in the order of endpoint, load, driver, quantity, then framework. Frameworks are
    compared, and ranked, within one driver only.

    Args:
        repetitions: The trials of one campaign.
    """
    groups: dict[Key, list[Repetition]] = {}
    for repetition in repetitions:
        groups.setdefault(repetition.key, []).append(repetition)
    rows: list[dict[str, Any]] = []
    for _, part in groupby(sorted(groups, key=lambda key: key[1:]), key=lambda key: key[1:]):
        field = {key: groups[key] for key in sorted(part)}
        for quantity in QUANTITIES:
            rows += _compared(field, quantity)
    return pa.Table.from_pylist(rows, schema=tables.COMPARISONS.schema)


def shown(repetitions: Sequence[Repetition]) -> Sequence[Repetition]:
    """The repetitions that count; all of them where none does."""
    return [one for one in repetitions if one.counts] or repetitions


def column(repetitions: Sequence[Repetition], quantity: str) -> list[float]:
    """A column of the summaries of some repetitions, without those where nobody knows it."""
    rows = (one.summary for one in repetitions if one.summary is not None)
    return [float(row[quantity]) for row in rows if row[quantity] is not None]


def middles(repetitions: Sequence[Repetition], quantities: Sequence[str]) -> dict[str, Middle]:
    """Column of the summaries to its number over repetitions; without those that are not known.

    Args:
        repetitions: Repetitions of one entry; those that count are taken, all where none does.
        quantities: The columns.
    """
    known = {name: column(shown(repetitions), name) for name in quantities}
    return {name: middle(found) for name, found in known.items() if found}


def rank_ranges(values: Sequence[Sequence[float]]) -> list[tuple[int, int] | None]:
    """The best and the worst rank that each entry may have; None for one without numbers.

    Args:
        values: For each entry its numbers, one for each repetition; more is better.
    """
    running = [index for index, numbers in enumerate(values) if numbers]
    ranges: list[tuple[int, int] | None] = [None] * len(values)
    for index in running:
        before = sum(is_ahead(values[other], values[index]) for other in running)
        behind = sum(is_ahead(values[index], values[other]) for other in running)
        ranges[index] = (1 + before, len(running) - behind)
    return ranges


def is_ahead(one: Sequence[float], other: Sequence[float]) -> bool:
    """Whether one entry is ahead of another beyond doubt.

    With a single repetition on a side there is no interval, and nothing is beyond doubt.

    Args:
        one: Its numbers, one for each repetition; more is better.
        other: Those of the other entry.
    """
    if min(len(one), len(other)) < 2:  # noqa: PLR2004
        return False
    if max(other) == 0:
        return min(one) > 0
    ratio = ratio_interval(one, other)
    return ratio is not None and ratio.low > 1 and median(one) > median(other) * (1 + EFFECT)


def _compared(field: Mapping[Key, Sequence[Repetition]], quantity: str) -> list[dict[str, Any]]:
    """One quantity of the frameworks at one endpoint and load, by one driver."""
    values = [
        column([one for one in repetitions if one.counts], quantity)
        for repetitions in field.values()
    ]
    ranges = rank_ranges(values) if quantity in RANKED else [None] * len(values)
    return [
        _row(key, quantity, numbers, repetitions) | _ranks(ranks)
        for (key, repetitions), numbers, ranks in zip(field.items(), values, ranges, strict=True)
    ]


def _row(
    key: Key, quantity: str, values: Sequence[float], repetitions: Sequence[Repetition]
) -> dict[str, Any]:
    found = interval(values)
    framework, endpoint, load, driver = key
    return {
        "framework": framework,
        "endpoint": endpoint,
        "load": load,
        "driver": driver,
        "quantity": quantity,
        "median": median(values) if values else None,
        "low": None if found is None else found.low,
        "high": None if found is None else found.high,
        "repetitions": len(values),
        "excluded": sum(not repetition.counts for repetition in repetitions),
    }


def _ranks(ranks: tuple[int, int] | None) -> dict[str, int | None]:
    low, high = ranks if ranks is not None else (None, None)
    return {"rank_low": low, "rank_high": high}
