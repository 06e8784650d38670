"""Changes: where a series goes from one level to another.

A series is cut into stretches of constant mean such that

    Σ over stretches of Σ (x − mean)² / σ²  +  penalty × number of stretches

is least; the search is exact, and positions that can never be the last change again are pruned
(PELT). σ follows from the differences of neighbours, which a change of level touches only once, so
it is the scatter within the stretches whatever their levels are. Numbers that hang together with
their neighbours wander, and wandering is no change: its size follows from differences of
neighbours against those of every second number, and σ grows with it.

One or two numbers far from those around them are a stop, not a level: they are taken as the median
of five about them. (`stalls` and the check `steady` count stops.)

Neighbouring stretches that differ by less than 1 %, or by less than two standard deviations, are
one: a detectable difference need not matter.

Source:
    R. Killick, P. Fearnhead and I. A. Eckley, *Optimal Detection of Changepoints With a Linear
    Computational Cost*, JASA 107(500), 2012 (PELT); F. R. Hampel, JASA 69, 1974 (median absolute
    deviation); merging as in E. Barrett et al., *Virtual machine warmup blows hot and cold*,
    OOPSLA 2017.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import mean, median

import numpy as np

PENALTY = 4.0
"""Penalty of a stretch in units of log n; twice of what is usual, for false alarms cost more here
than small changes that are not seen."""

FEWEST = 3
"""A stretch has as many numbers or more, so a single stop is none."""

DIFFERENCE = 0.01
"""Levels that differ by less, in units of the greater one, are one."""

DEVIATIONS = 2.0
"""Levels that differ by less, in standard deviations of single numbers, are one."""

STOP = 4.0
"""A number so many standard deviations from those around it is a stop."""

MOST_RELATED = 0.7
"""Neighbours are taken to hang together no more than this; beyond it is a trend."""

_OF_NORMAL = 1.4826
"""Standard deviation of normal numbers / their median absolute deviation."""


@dataclass(frozen=True)
class Segment:
    """A stretch of a series with one level.

    Attributes:
        start: Index of its first number.
        end: Index after its last one.
        level: Mean of its numbers, stops left out.
    """

    start: int
    end: int
    level: float

    @property
    def length(self) -> int:
        """How many numbers it has."""
        return self.end - self.start


def stretches(values: Sequence[float], least_deviation: float = 0.0) -> tuple[Segment, ...]:
    """The stretches of a series, in order; they cover it without gaps.

    Args:
        values: The series; at least one number.
        least_deviation: Scatter that a single number has at least, such as that of a count.
    """
    related = _related(values)
    deviation = max(_apart(values, 1) / math.sqrt(2 * (1 - related)), least_deviation)
    if deviation == 0 or len(values) < 2 * FEWEST:
        return (_stretch(values, 0, len(values)),)
    wandering = deviation * math.sqrt((1 + related) / (1 - related))
    kept = _without_stops(values, STOP * deviation)
    edges = _edges(np.array(kept, dtype=np.float64) / wandering)
    return _merged(kept, [_stretch(kept, *edge) for edge in pairwise(edges)], deviation)


def are_alike(one: float, other: float, deviation: float = 0.0) -> bool:
    """Whether two levels are one.

    Args:
        one: A level.
        other: The other one.
        deviation: Standard deviation of single numbers.
    """
    apart = abs(one - other)
    return apart <= DIFFERENCE * max(abs(one), abs(other)) or apart < DEVIATIONS * deviation


def _apart(values: Sequence[float], lag: int) -> float:
    """Standard deviation of the difference of two numbers that are so far apart.

    Where more than half of the differences are 0 their median is 0, and their mean is used.
    """
    apart = [abs(later - earlier) for earlier, later in zip(values, values[lag:], strict=False)]
    if not apart:
        return 0.0
    return _OF_NORMAL * median(apart) or mean(apart) * math.sqrt(math.pi / 2)


def _related(values: Sequence[float]) -> float:
    """Correlation of neighbours, as far as it is positive.

    Of numbers of which each depends on the one before, differences over two steps have (1 + ρ)
    times the variance of those over one step.
    """
    one, two = _apart(values, 1), _apart(values, 2)
    return min(MOST_RELATED, max(0.0, (two / one) ** 2 - 1)) if one else 0.0


def _without_stops(values: Sequence[float], far: float) -> list[float]:
    """The values, but for those that lie so far from the median of the five about them."""
    middles = [median(values[max(0, place - 2) : place + 3]) for place in range(len(values))]
    return [
        middle if abs(value - middle) > far else value
        for value, middle in zip(values, middles, strict=True)
    ]


def _edges(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[int]:
    """First index of each stretch, and the number of values."""
    count = len(values)
    sums = np.concatenate([[0.0], np.cumsum(values)])
    squares = np.concatenate([[0.0], np.cumsum(values**2)])
    penalty = PENALTY * math.log(count)
    best = np.full(count + 1, np.inf)
    best[0] = -penalty
    before = [0] * (count + 1)
    candidates = np.array([0])
    for end in range(FEWEST, count + 1):
        lengths = end - candidates
        inside = squares[end] - squares[candidates] - (sums[end] - sums[candidates]) ** 2 / lengths
        costs = best[candidates] + inside
        chosen = int(np.argmin(costs))
        best[end] = costs[chosen] + penalty
        before[end] = int(candidates[chosen])
        kept = candidates[costs <= best[end]]
        candidates = np.append(kept, end - FEWEST + 1)
    return _traced(before)


def _traced(before: Sequence[int]) -> list[int]:
    edges = [len(before) - 1]
    while edges[0] > 0:
        edges.insert(0, before[edges[0]])
    return edges


def _stretch(values: Sequence[float], start: int, end: int) -> Segment:
    return Segment(start, end, mean(values[start:end]))


def _merged(values: Sequence[float], found: list[Segment], deviation: float) -> tuple[Segment, ...]:
    """Stretches of which neighbours differ; the most alike become one first."""
    while alike := [
        (abs(one.level - other.level), place)
        for place, (one, other) in enumerate(pairwise(found))
        if are_alike(one.level, other.level, deviation)
    ]:
        _, place = min(alike)
        merged = _stretch(values, found[place].start, found[place + 1].end)
        found = [*found[:place], merged, *found[place + 2 :]]
    return tuple(found)
