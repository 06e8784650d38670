"""Which entry of a table is ahead, by how much, and how many repetitions would decide.

Their ratios are those of one model per table, so a sentence here and a rank never contradict each
other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics.comparison import EFFECT
from plimsoll.statistics.intervals import Estimate, Interval
from plimsoll.statistics.repetitions import detectable_ratio, needed

if TYPE_CHECKING:
    from plimsoll.comparison.entry_comparison import EntryComparison

QUANTITIES = {
    "goodput_per_s": "",
    "response_time_p50_ns": "Response time, median",
    "response_time_p99_ns": "Response time, 99 %",
    "server_cpu_s_per_request": "Server CPU per request",
    "rapl_net_j_per_ok": "Energy per response by RAPL",
    "wall_net_j_per_ok": "Energy per response at the wall",
}
"""Quantities of which a lead is reported: column and words before it; the first is the ranking."""

SUGGESTED = 5
"""Repetitions suggested to campaigns with fewer; others see the effect of twice theirs."""


@dataclass(frozen=True)
class Lead:
    """The best of a table and the next one.

    Attributes:
        quantity: Column of `tables.SUMMARIES` by which they are the best and the next.
        first: The best.
        second: The next one.
        ratio: Value of the best / that of the next, with its simultaneous interval.
    """

    quantity: str
    first: str
    second: str
    ratio: Estimate

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the interval of the ratio excludes 1."""
        return self.ratio.interval is not None and not self.ratio.interval.holds(1)

    @property
    def is_apart(self) -> bool:
        """Whether they also differ by more than the least difference that counts."""
        greater = max(self.ratio.value, 1 / self.ratio.value)
        return self.is_beyond_chance and greater > 1 + EFFECT

    @property
    def sentence(self) -> str:
        """In words: `axum is 1.95 × go (95 %: 1.72–2.21)`."""
        name = QUANTITIES[self.quantity]
        return f"{name}: {self._clause}" if name else self._clause

    @property
    def _clause(self) -> str:
        ends = self.ratio.interval
        pair = f"{self.first} and {self.second}"
        factor = wording.factor(self.ratio.value)
        if ends is None:
            once = f"{self.first} was {factor} × {self.second}"
            return f"{once}, but each ran once: no interval, no ranking"
        between = f"{wording.factor(ends.low)}–{wording.factor(ends.high)}"
        if self.is_apart:
            return f"{self.first} is {factor} × {self.second} (95 %: {between})"
        if self.is_beyond_chance:
            return f"{pair} differ by no more than {wording.percent(EFFECT)}: {between} ×"
        return f"{pair} are not significantly different: {between} ×"


@dataclass(frozen=True)
class Resolution:
    """Which differences a table detects, and what more repetitions would.

    Attributes:
        entries: Frameworks that were compared.
        repetitions: Repetitions of those that have the fewest.
        scatter: Standard deviation of one repetition on logarithms.
        reach: Half the width of the widest interval of a ratio, on logarithms.
    """

    entries: int
    repetitions: int
    scatter: float
    reach: float

    @property
    def sentence(self) -> str:
        """In words: `Differences of 9 % are detectable; 5 repetitions instead of 2 …`."""
        more = SUGGESTED if self.repetitions < SUGGESTED else 2 * self.repetitions
        now = math.expm1(max(self.reach, self._reach_of_model))
        then = detectable_ratio(more, self._scatter, self.entries)
        reported = (
            f"Differences of {wording.percent(now)} are detectable; {more} repetitions "
            f"instead of {self.repetitions} would detect {wording.percent(then)}"
        )
        decides = needed(EFFECT, self._scatter, self.entries)
        if decides is None or decides <= more:
            return reported
        return f"{reported}, {wording.count(decides)} would detect {wording.percent(EFFECT)}"

    @property
    def _reach_of_model(self) -> float:
        """The reach of intervals of entries that all have so few repetitions, and scatter alike.

        It is 0 for one repetition, of which the model knows nothing.
        """
        if self.repetitions == 1:
            return 0.0
        return math.log1p(detectable_ratio(self.repetitions, self.scatter, self.entries))

    @property
    def _scatter(self) -> float:
        """The scatter with which entries that scatter alike would have the widest interval."""
        reach = self._reach_of_model
        return self.scatter * max(1.0, self.reach / reach) if reach else self.scatter


def leads(tables: Sequence[Sequence[EntryComparison]]) -> tuple[Lead, ...]:
    """The lead by each quantity, the ranking's own first; of others only those with an interval.

    Args:
        tables: For each of `QUANTITIES` its entries at one endpoint and load, by one driver.
    """
    found = [lead(entries) for entries in tables]
    return tuple(
        one
        for place, one in enumerate(found)
        if one is not None and (place == 0 or one.ratio.interval is not None)
    )


def lead(entries: Sequence[EntryComparison]) -> Lead | None:
    """The lead in one table; None where fewer than two have a ratio.

    Args:
        entries: One quantity at one endpoint and load, by one driver.
    """
    best = next((one for one in entries if one.framework == one.best_framework), None)
    if best is None or best.to_next is None or best.next_framework is None:
        return None
    return Lead(best.quantity, best.framework, best.next_framework, best.to_next)


def clear_lead(entries: Sequence[EntryComparison]) -> Lead | None:
    """The lead of the best over the first one that it is ahead of beyond chance; None for no such.

    Args:
        entries: One quantity, of which more is better, at one endpoint and load.
    """
    others = [
        (one.to_best, Lead(one.quantity, one.best_framework, one.framework, inverse(one.to_best)))
        for one in entries
        if one.best_framework and one.to_best and one.to_best.interval
    ]
    ordered = sorted(others, key=lambda one: -one[0].value)
    return next((found for _, found in ordered if found.is_apart), None)


def inverse(ratio: Estimate) -> Estimate:
    """The ratio the other way round, with its interval."""
    ends = ratio.interval
    return Estimate(1 / ratio.value, ends and Interval(1 / ends.high, 1 / ends.low))


def resolution(entries: Sequence[EntryComparison]) -> Resolution | None:
    """Which differences one table detects; None where nothing is known of scatter.

    No pair of which an interval is shown needs a greater difference to be told apart.

    Args:
        entries: One quantity at one endpoint and load, by one driver.
    """
    compared = [one for one in entries if one.to_best is not None]
    if len(compared) < 2 or not compared[0].scatter_ratio:  # noqa: PLR2004
        return None
    ratios = [
        ratio
        for one in compared
        for ratio in (one.framework != one.best_framework and one.to_best, one.to_next)
        if ratio
    ]
    reaches = [math.log(one.interval.high / one.interval.low) / 2 for one in ratios if one.interval]
    if len(reaches) < len(ratios):
        return None
    repetitions = min(one.repetitions for one in compared)
    return Resolution(len(compared), repetitions, compared[0].scatter_ratio, max(reaches))
