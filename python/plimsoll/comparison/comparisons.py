"""Comparisons: frameworks at one endpoint and load, by one driver, over repetitions.

A repetition that is void, or that has no recording, does not count; the number left out is shown.
Never the best of several: the median of all that count, with its interval.

Each quantity of such a table is compared by one model (`statistics.comparison`): ranks and ratios
have intervals that hold for the whole table at once. The yardstick stands beside the frameworks: it
has numbers, and neither ranks nor ratios.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, zip_longest
from statistics import median
from typing import TYPE_CHECKING

import pyarrow as pa

from plimsoll import tables
from plimsoll.statistics import fixed_width
from plimsoll.statistics.comparison import Comparison, compared
from plimsoll.statistics.intervals import (
    CONFIDENCE,
    Estimate,
    estimate,
    interval,
    ratio_interval,
)

if TYPE_CHECKING:
    from plimsoll.aggregate.summary import Summary
    from plimsoll.recording import Recording
    from plimsoll.statistics.comparison import Observation

    Key = tuple[str, str, str, str]
    """Framework, endpoint, load and driver."""

    Cells = dict[str, float | str | None]
    """Some columns of a row of `tables.COMPARISONS` by their names."""

RANKED = ("goodput_per_s", "throughput_per_s")
"""Quantities that rank; the first one is the ranking."""

JOULES = ("rapl_j_per_ok", "rapl_net_j_per_ok", "wall_j_per_ok", "wall_net_j_per_ok")
"""Quantities of energy, in joules per successful response."""

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
    *JOULES,
)
"""Columns of `summaries` that are compared."""

MORE_IS_BETTER = (*RANKED, "requests_per_core_s")
"""Quantities of which the greatest is the best."""

LESS_IS_BETTER = (
    *(name for name in QUANTITIES if name.startswith(("response_time_", "service_time_"))),
    "server_cpu_s_per_request",
    "server_peak_rss_bytes",
    "server_peak_pss_bytes",
    *JOULES,
)
"""Quantities of which the least is the best. Others have no ratios: they are neither."""


@dataclass(frozen=True)
class ComparedTrial:
    """One trial in a comparison.

    Attributes:
        recording: Its recording.
        summary: Its summary; None when there is none.
        is_void: Whether its numbers are not to be believed.
        steps: Complete responses in each whole second of its ramps and holds.
        steady_state: How throughput went in its last hold, by the names of
            `aggregate.steady_state`; flat where `steady` does not doubt its throughput, and empty
            when it was not classified.
        server_busy_ratio: Share of its cores that the server, and the kernel for it, kept busy in
            the holds; None when unknown.
        lost_ratio: Share of the holds in which it waited for cores that others had; None when
            unknown.
        control_s: Processor time of the control, its median over the trial; None when it did not
            run.
        has_stopped_early: Whether its table ended as soon as its intervals were narrow enough.
    """

    recording: Recording
    summary: Summary | None
    is_void: bool
    steps: tuple[int, ...] = ()
    steady_state: str = ""
    server_busy_ratio: float | None = None
    lost_ratio: float | None = None
    control_s: float | None = None
    has_stopped_early: bool = False

    @property
    def counts(self) -> bool:
        """Whether its numbers count."""
        return self.summary is not None and not self.is_void

    def value(self, quantity: str) -> float | None:
        """The number in a column of `tables.SUMMARIES`; None where it is not known."""
        number = None if self.summary is None else self.summary.value(quantity)
        return None if number is None else float(number)

    @property
    def key(self) -> Key:
        """What it is a repetition of."""
        recording = self.recording
        return recording.title, recording.endpoint, recording.load.name, self.driver

    @property
    def driver(self) -> str:
        """Name of the program that put on its load."""
        return self.recording.driver_name


def comparisons(repetitions: Sequence[ComparedTrial]) -> pa.Table:
    """Every quantity of every framework by the schema of `tables.COMPARISONS`.

    Rows are in the order of endpoint, load, driver, quantity, then framework. Frameworks are
    compared, and ranked, within one driver only.

    Args:
        repetitions: The trials of one campaign.
    """
    groups: dict[Key, list[ComparedTrial]] = {}
    for repetition in repetitions:
        groups.setdefault(repetition.key, []).append(repetition)
    rows: list[Cells] = []
    for _, part in groupby(sorted(groups, key=lambda key: key[1:]), key=lambda key: key[1:]):
        field = {key: groups[key] for key in sorted(part)}
        for quantity in _measured(field):
            rows += _compared(field, quantity)
    return pa.Table.from_pylist(rows, schema=tables.COMPARISONS.schema)


def _measured(field: Mapping[Key, Sequence[ComparedTrial]]) -> list[str]:
    """The quantities that are compared; those of energy only where a meter was read."""
    return [
        quantity
        for quantity in QUANTITIES
        if quantity not in JOULES or any(column(found, quantity) for found in field.values())
    ]


def shown(repetitions: Sequence[ComparedTrial]) -> Sequence[ComparedTrial]:
    """The repetitions that count; all of them where none does."""
    return [one for one in repetitions if one.counts] or repetitions


def column(repetitions: Sequence[ComparedTrial], quantity: str) -> list[float]:
    """A column of the summaries of some repetitions, without those where it is unknown."""
    values = (one.value(quantity) for one in repetitions)
    return [value for value in values if value is not None]


def estimates(
    repetitions: Sequence[ComparedTrial], quantities: Sequence[str]
) -> dict[str, Estimate]:
    """Column of the summaries to its number over repetitions; without those that are not known.

    Args:
        repetitions: Repetitions of one entry; those that count are taken, all where none does.
        quantities: The columns.
    """
    known = {name: column(shown(repetitions), name) for name in quantities}
    return {name: estimate(found) for name, found in known.items() if found}


def ratio(
    own: Sequence[ComparedTrial], against: Sequence[ComparedTrial], quantity: str
) -> Estimate | None:
    """A number of some repetitions / that of others; None where one side has none.

    Args:
        own: Repetitions of one entry; those that count are taken, all where none does.
        against: The same of what it is divided by.
        quantity: Column of the summaries.
    """
    values, others = column(shown(own), quantity), column(shown(against), quantity)
    if not values or not others or not median(others):
        return None
    return Estimate(median(values) / median(others), ratio_interval(values, others))


def observed(repetitions: Sequence[ComparedTrial], quantity: str) -> list[Observation]:
    """Block and value of the repetitions that count, without those where it is unknown.

    Args:
        repetitions: Repetitions of one entry.
        quantity: Column of the summaries.
    """
    return [
        (one.recording.repetition, value)
        for one in repetitions
        if one.counts and (value := one.value(quantity)) is not None
    ]


def ranked(
    field: Sequence[Sequence[ComparedTrial]], observations: Sequence[Sequence[Observation]]
) -> Comparison:
    """How the entries of one table stand to each other: ranks, and all that is said of a rank.

    The yardstick is left out, unless it is alone.

    Args:
        field: For each entry its repetitions.
        observations: For each what is compared of it, as of `observed`.
    """
    own = _yardsticks(field)
    beside: Sequence[Observation] = ()
    known = [beside if is_own else one for is_own, one in zip(own, observations, strict=True)]
    return compared(known, _confidence(field, sum(map(bool, known))))


def _confidence(field: Sequence[Sequence[ComparedTrial]], entries: int) -> float:
    """Confidence with which intervals of a table are worked out, so that 95 of 100 hold.

    Args:
        field: For each entry its repetitions.
        entries: Entries that are compared; 1 for an interval of a number.
    """
    has_stopped_early = any(one.has_stopped_early for found in field for one in found)
    return fixed_width.confidence(entries) if has_stopped_early else CONFIDENCE


def _compared(field: Mapping[Key, Sequence[ComparedTrial]], quantity: str) -> list[Cells]:
    """One quantity of the frameworks at one endpoint and load, by one driver.

    Who is alone has no rank, and no ratio to itself. The yardstick is compared only with itself.
    """
    trials = [*field.values()]
    every = [observed(repetitions, quantity) for repetitions in trials]
    names = [framework for framework, *_ in field]
    of_one = _confidence(trials, 1)
    found = ranked(trials, every)
    is_ranked = quantity in RANKED and sum(map(bool, found.entries)) > 1
    ranges = found.rank_ranges() if is_ranked else [None] * len(names)
    beside = _beside(found, names, quantity)
    return [
        {
            **_row(key, quantity, [value for _, value in numbers], repetitions, of_one),
            **_ranks(ranks),
            "scatter_ratio": found.scatter,
            **ratios,
        }
        for (key, repetitions), numbers, ranks, ratios in zip(
            field.items(), every, ranges, beside, strict=True
        )
    ]


def _yardsticks(field: Sequence[Sequence[ComparedTrial]]) -> list[bool]:
    """Which entries are the yardstick; none where there is nothing else to compare."""
    own = [any(one.recording.is_yardstick for one in repetitions) for repetitions in field]
    return own if not all(own) else [False] * len(own)


def _row(
    key: Key,
    quantity: str,
    values: Sequence[float],
    repetitions: Sequence[ComparedTrial],
    confidence: float,
) -> Cells:
    found = interval(values, confidence)
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


def _beside(found: Comparison, names: Sequence[str], quantity: str) -> list[Cells]:
    """For each framework its ratio to the best and to the next one after it."""
    rows: list[Cells] = [{} for _ in names]
    if quantity not in (*MORE_IS_BETTER, *LESS_IS_BETTER):
        return rows
    order = found.order() if quantity in MORE_IS_BETTER else found.order()[::-1]
    if len(order) == 1:
        return rows
    for place, after in zip_longest(order, order[1:]):
        rows[place] = _ratio(found, names, place, order[0], "best") | (
            {} if after is None else _ratio(found, names, place, after, "next")
        )
    return rows


def _ratio(found: Comparison, names: Sequence[str], place: int, other: int, role: str) -> Cells:
    """The ratio of a framework to another one, as columns."""
    ratio = found.ratio(place, other)
    if ratio is None:
        return {}
    ends = ratio.interval
    return {
        f"{role}_framework": names[other],
        f"ratio_to_{role}": ratio.value,
        f"ratio_to_{role}_low": None if ends is None else ends.low,
        f"ratio_to_{role}_high": None if ends is None else ends.high,
    }
