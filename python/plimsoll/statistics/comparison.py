"""Comparison: how entries of one table stand to each other, beyond chance and beyond doubt.

An entry is ahead of another only if the simultaneous interval of their ratio (`block_design`)
excludes 1 *and* the ratio is beyond `EFFECT`. So ranks are ranges: the best rank is one more than
those ahead of it, the worst is the number of entries less those behind it.

What intervals imply together is drawn from them: where A is at least 1.2 × B and B at least
1.1 × C, A is at least 1.32 × C. So an entry that is ahead of a second one, which is ahead of a
third, is ahead of the third.

Where one entry alone was repeated, once, the error has hardly a degree of freedom, and an interval
may span hundreds of powers of ten. One that reaches beyond `FARTHEST` says nothing and is none.

An entry that was 0 each time has no logarithm. It is behind every entry that never was, if that was
seen twice or more. One that was 0 at times has no ratio to anything, and its rank is open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.statistics.block_design import BlockDesign
from plimsoll.statistics.intervals import CONFIDENCE, Estimate, Interval

if TYPE_CHECKING:
    Observation = tuple[int, float]
    """Number of the block, and what was measured there."""

    Array = np.ndarray[Any, Any]

EFFECT = 0.02
"""A smaller difference is no difference; first proposal."""

FARTHEST = 1e6
"""Upper end of an interval / its ratio, from which on there is no interval; first proposal."""

REPEATED = 2
"""Times that an entry must have been 0 to be behind the others."""


@dataclass(frozen=True)
class Comparison:
    """How the entries of a table stand to each other.

    Attributes:
        entries: What was measured of each, in the order in which entries are numbered.
        effects: Logarithm of the typical value of each, less that of the first; None where an entry
            has no number, or one that is not positive.
        lows: For each pair the lower end of the interval of its difference on logarithms; infinite
            where there is none.
        scatter: Standard deviation of one repetition about the model, on logarithms; None where no
            entry was repeated.
    """

    entries: tuple[tuple[Observation, ...], ...]
    effects: tuple[float | None, ...]
    lows: Array
    scatter: float | None

    def ratio(self, one: int, other: int) -> Estimate | None:
        """The ratio of two entries, with its simultaneous interval where there is one.

        Args:
            one: Number of the entry that is divided.
            other: Number of that it is divided by.

        Returns:
            The ratio; None where one of the two has none.
        """
        above, below = self.effects[one], self.effects[other]
        if above is None or below is None:
            return None
        low, high = float(self.lows[one, other]), -float(self.lows[other, one])
        is_known = one != other and (high - low) / 2 <= math.log(FARTHEST)
        interval = Interval(math.exp(low), math.exp(high)) if is_known else None
        return Estimate(math.exp(above - below), interval)

    def is_ahead(self, one: int, other: int) -> bool:
        """Whether an entry is greater than another beyond doubt.

        Args:
            one: Number of the entry.
            other: Number of the other one.
        """
        above, below = self.effects[one], self.effects[other]
        if above is None or below is None:
            return above is not None and self._is_zero(other)
        return bool(self.lows[one, other] > 0) and above - below > math.log1p(EFFECT)

    def rank_ranges(self) -> tuple[tuple[int, int] | None, ...]:
        """The best and the worst rank that each may have; None for one without numbers."""
        running = [place for place, found in enumerate(self.entries) if found]
        ranges: list[tuple[int, int] | None] = [None] * len(self.entries)
        for place in running:
            before = sum(self.is_ahead(other, place) for other in running)
            behind = sum(self.is_ahead(place, other) for other in running)
            ranges[place] = (1 + before, len(running) - behind)
        return tuple(ranges)

    def order(self) -> tuple[int, ...]:
        """Numbers of the entries that have a ratio, the greatest first."""
        known = [
            (-effect, place) for place, effect in enumerate(self.effects) if effect is not None
        ]
        return tuple(place for _, place in sorted(known))

    def _is_zero(self, place: int) -> bool:
        values = [value for _, value in self.entries[place]]
        return len(values) >= REPEATED and not any(values)


def compared(
    entries: Sequence[Sequence[Observation]], confidence: float = CONFIDENCE
) -> Comparison:
    """How entries stand to each other.

    Args:
        entries: For each what was measured of it, none of it negative; greater is ahead.
        confidence: Share of tables in which every interval holds its true value.
    """
    count = len(entries)
    known = [place for place, found in enumerate(entries) if found and _are_positive(found)]
    observations = [
        (number, block, math.log(value))
        for number, place in enumerate(known)
        for block, value in entries[place]
    ]
    effects: list[float | None] = [None] * count
    lows = np.full((count, count), -math.inf)
    scatter = None
    if known:
        owners, blocks, logarithms = zip(*observations, strict=True)
        design = BlockDesign(owners, blocks)
        found, low, scatter = _judged(design, np.array(logarithms), confidence)
        for number, place in enumerate(known):
            effects[place] = float(found[number])
        lows[np.ix_(known, known)] = low
    return Comparison(tuple(map(tuple, entries)), tuple(effects), lows, scatter)


def _are_positive(found: Sequence[Observation]) -> bool:
    return all(value > 0 for _, value in found)


def _judged(
    design: BlockDesign, logarithms: Array, confidence: float
) -> tuple[Array, Array, float | None]:
    """Effects of the entries, lower ends of the differences of all pairs, and scatter."""
    values = design.values(logarithms)
    effects = np.array([0.0, *-values[: design.count - 1]])
    lows = np.full((design.count, design.count), -math.inf)
    if not design.freedom:
        return effects, lows, None
    found = design.differences(logarithms, confidence)
    lows = effects[:, None] - effects - implied(design.square(found.reaches))
    return effects, lows, math.sqrt(float(found.variances))


def implied(reaches: Array) -> Array:
    """Reaches, or those that follow by a third entry (R. W. Floyd, Algorithm 97, 1962).

    The difference of two entries is the sum of their differences to and from a third one, so its
    reach is no more than the sum of theirs. No reach is negative, so rounding never adds up to an
    interval without its own estimate.

    Args:
        reaches: For each pair half the width of the interval of its difference, 0 for an entry and
            itself; entries × entries, of one table or of many stacked in front.
    """
    for third in range(reaches.shape[-1]):
        reaches = np.minimum(reaches, reaches[..., :, third, None] + reaches[..., None, third, :])
    return reaches
