"""Entries: the trials of a campaign by what was measured: one framework, endpoint, load, driver.

Only repetitions that count are in them: with a summary, and not void.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, mean, median, stdev
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plimsoll.comparison.compared_table import by_table
from plimsoll.comparison.comparisons import RANKED, column, observed, ranked
from plimsoll.plan import ComparedTable
from plimsoll.statistics.block_design import entry_effects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plimsoll.aggregate.summary import Summary
    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.recording import Recording
    from plimsoll.recording.turns import Turn
    from plimsoll.statistics.comparison import Comparison, Observation

MOST_LOST = 0.8
"""The throughput of a trial that lost more than this is unknown."""

THROUGHPUT = "throughput_per_s"
"""The column of `summaries` with all complete responses, right or wrong."""


@dataclass(frozen=True)
class Entry:
    """One framework at one endpoint and load, by one driver.

    Attributes:
        framework: Framework and variant.
        name: The framework alone; variants of one framework share it.
        endpoint: Endpoint.
        load: Name of the load.
        driver: Name of the program that generated the load.
        repetitions: Its repetitions that count, in the order of their blocks; at least one.
        is_one_of_several: Whether the campaign has other drivers, too.
    """

    framework: str
    name: str
    endpoint: str
    load: str
    driver: str
    repetitions: tuple[ComparedTrial, ...]
    is_one_of_several: bool = False

    @property
    def title(self) -> str:
        """As people read it: `go · 2048 · steady`; with the driver where there are several."""
        by = f" · {self.driver}" if self.is_one_of_several else ""
        return f"{self.framework} · {self.endpoint} · {self.load}{by}"

    @property
    def table(self) -> ComparedTable:
        """What it is compared in."""
        return ComparedTable(self.endpoint, self.load, self.driver)

    @property
    def field(self) -> str:
        """What it competes in: `2048, steady`; with the driver where there are several."""
        by = f", by {self.driver}" if self.is_one_of_several else ""
        return f"{self.endpoint}, {self.load}{by}"

    @property
    def is_saturating(self) -> bool:
        """Whether its load runs at full speed.

        An open load requests a rate, and so do connections with think time: throughput then shows
        more about the load than about the server.
        """
        return is_saturating(self.repetitions[0].recording)

    @property
    def throughputs(self) -> tuple[float, ...]:
        """Responses per second of each repetition."""
        return self.values(THROUGHPUT)

    @property
    def throughput(self) -> float:
        """Responses per second, the median of its repetitions."""
        return median(self.throughputs)

    @property
    def lost_ratio(self) -> float:
        """Share of the time in which it waited for cores that others had, mean of what is known."""
        known = [one.lost_ratio for one in self.repetitions if one.lost_ratio is not None]
        return mean(known) if known else 0.0

    @property
    def throughputs_alone(self) -> tuple[float, ...]:
        """Responses per second of each repetition, had it had its cores to itself."""
        return self.alone(THROUGHPUT)

    def alone(self, quantity: str) -> tuple[float, ...]:
        """A rate of each repetition, had it had its cores to itself, where it is known.

        Where one repetition does not know what it lost, none is corrected: repetitions are compared
        with each other.

        Args:
            quantity: Name of its column in `summaries`.
        """
        return tuple(value for _, value in self.alone_in_blocks(quantity))

    def in_blocks(self, quantity: str) -> list[Observation]:
        """A column of `summaries` of each repetition with its block, where it is known.

        Args:
            quantity: Name of the column.
        """
        return observed(self.repetitions, quantity)

    def alone_in_blocks(self, quantity: str) -> list[Observation]:
        """What `alone` gives, each number with its block.

        Args:
            quantity: Name of its column in `summaries`.
        """
        lost = [one.lost_ratio for one in self.repetitions if one.lost_ratio is not None]
        if len(lost) < len(self.repetitions):
            return self.in_blocks(quantity)
        return [
            (one.recording.repetition, value / (1 - min(ratio, MOST_LOST)))
            for one, ratio in zip(self.repetitions, lost, strict=True)
            if (value := one.value(quantity)) is not None
        ]

    def steadied(self, quantity: str) -> tuple[float, ...]:
        """A rate of each repetition, had the machine been as fast as in the median one besides.

        By the control, which does not move with the server. What `alone` gives where it did not run
        in every repetition.

        Args:
            quantity: Name of its column in `summaries`.
        """
        alone = self.alone(quantity)
        took = [one.control_s for one in self.repetitions if one.control_s is not None]
        if len(took) != len(alone) or len(took) != len(self.repetitions):
            return alone
        middle = median(took)
        return tuple(value * one / middle for value, one in zip(alone, took, strict=True))

    @property
    def response_bytes(self) -> float | None:
        """Mean bytes of a response, the median of its repetitions.

        None when no response came, or when its driver does not say how long they were.
        """
        lengths = [
            one.received_bytes / one.completed
            for one in self._summaries()
            if one.completed and one.received_bytes is not None
        ]
        return median(lengths) if lengths else None

    @property
    def server_busy_ratio(self) -> float | None:
        """Cores that the server kept busy / cores it was given, the median; None when unknown."""
        ratios = [one.server_busy_ratio for one in self.repetitions]
        known = [ratio for ratio in ratios if ratio is not None]
        return median(known) if known else None

    @property
    def turn_error(self) -> float:
        """Standard error of one repetition / its mean, by its turns; 0 where it had none.

        Neighbouring turns of a server are a round apart, and hardly resemble each other.
        """
        errors = [_error(one.recording.turns) for one in self.repetitions]
        return math.sqrt(fmean(error**2 for error in errors))

    def values(self, quantity: str) -> tuple[float, ...]:
        """A column of `summaries` of each repetition, where it is known.

        Args:
            quantity: Name of the column.
        """
        return tuple(column(self.repetitions, quantity))

    def _summaries(self) -> list[Summary]:
        return [one.summary for one in self.repetitions if one.summary is not None]


class RankedPair(NamedTuple):
    """Neighbours in a ranking.

    Attributes:
        one: The one that is ranked ahead.
        other: The next one.
        ratio: The first / the second, by the model that ranks them.
    """

    one: Entry
    other: Entry
    ratio: float


def entries(repetitions: Sequence[ComparedTrial]) -> tuple[Entry, ...]:
    """The entries of a campaign, in the order of endpoint, load, framework and driver.

    Args:
        repetitions: Its trials.
    """
    grouped: dict[tuple[str, str, str, str, str], list[ComparedTrial]] = {}
    for one in repetitions:
        if one.counts:
            framework, endpoint, load, driver = one.key
            key = (endpoint, load, framework, driver, one.recording.framework)
            grouped.setdefault(key, []).append(one)
    several = len({one.driver for one in repetitions}) > 1
    return tuple(
        Entry(framework, name, endpoint, load, driver, tuple(sorted(found, key=_block)), several)
        for (endpoint, load, framework, driver, name), found in sorted(grouped.items(), key=_place)
    )


def fields(found: Sequence[Entry]) -> list[list[Entry]]:
    """Entries that compete: those of one endpoint and load, by one driver.

    Args:
        found: The entries of a campaign.
    """
    return [*by_table(found, lambda entry: entry.table).values()]


def ranked_ahead(found: Sequence[Entry]) -> list[RankedPair]:
    """Neighbours in a ranking of which the first is ranked ahead of the second.

    They are those of the ranking: by its model, and with its confidence.

    Args:
        found: The entries of a campaign.
    """
    return [pair for field in fields(found) for pair in _ahead_in(field)]


def effects(
    found: Sequence[Entry], read: Callable[[Entry], Sequence[Observation]]
) -> dict[str, float]:
    """Title of each entry to its typical number on logarithms, by the model that ranks.

    Only those of one table may be compared. An entry that was 0 at times has none.

    Args:
        found: The entries of a campaign.
        read: Gives what is compared of an entry.
    """
    known = (
        pair
        for field in fields(found)
        for pair in zip(field, _compared(field, read).effects, strict=True)
    )
    return {entry.title: effect for entry, effect in known if effect is not None}


def typical_ratios(
    found: Sequence[Entry], read: Callable[[Entry], Sequence[Observation]]
) -> dict[str, list[Observation]]:
    """Title of each entry to its numbers / its typical one, each with its block.

    What is typical is taken over the blocks that all entries of the campaign tell of, by the model
    that ranks: an entry without a number in some blocks is not held against the others alone. An
    entry that was 0 at times has no ratios.

    Args:
        found: The entries of a campaign.
        read: Gives what is compared of an entry.
    """
    numbers = {entry.title: read(entry) for entry in found}
    known = {
        title: each
        for title, each in numbers.items()
        if each and all(value > 0 for _, value in each)
    }
    if not known:
        return {}
    places = [place for place, each in enumerate(known.values()) for _ in each]
    blocks = [block for each in known.values() for block, _ in each]
    values = np.array([value for each in known.values() for _, value in each])
    typical = np.exp(entry_effects(places, blocks, np.log(values)))
    return {
        title: [(block, value / middle) for block, value in each]
        for (title, each), middle in zip(known.items(), typical.tolist(), strict=True)
    }


def _compared(field: Sequence[Entry], read: Callable[[Entry], Sequence[Observation]]) -> Comparison:
    return ranked([entry.repetitions for entry in field], [read(entry) for entry in field])


def _ahead_in(field: Sequence[Entry]) -> Iterator[RankedPair]:
    table = _compared(field, lambda entry: entry.in_blocks(RANKED[0]))
    for one, other in pairwise(table.order()):
        ratio = table.ratio(one, other)
        if ratio is not None and table.is_ahead(one, other):
            yield RankedPair(field[one], field[other], ratio.value)


def is_saturating(recording: Recording) -> bool:
    """Whether the load of a trial runs at full speed."""
    return recording.load.is_saturating


def _error(turns: Sequence[Turn]) -> float:
    """Standard error of the mean rate of some turns / that mean, without the warm-up."""
    rates = [one.requests / one.duration_ns for one in turns if one.round and one.duration_ns]
    if len(rates) < 2 or not any(rates):  # noqa: PLR2004
        return 0.0
    return stdev(rates) / fmean(rates) / math.sqrt(len(rates))


def _block(one: ComparedTrial) -> int:
    return one.recording.repetition


def _place(item: tuple[tuple[str, str, str, str, str], object]) -> tuple[str, str, str, str, str]:
    return item[0]
