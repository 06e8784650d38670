"""Level changes: where a series of campaigns goes from one level to another, and how surely.

Candidates are the change points of the exact search for changes of the mean (PELT) by `ruptures`.
Then the least sure candidate is dropped, again and again. Each one that is left separates two
levels that differ by `DIFFERENCE` or more, and that chance separates as far with a probability
below `CHANCE`: Student's t of neighbouring levels, by the scatter within all of them. Positive
numbers are compared on logarithms, so that a change is a ratio.

A level has two numbers or more, and a single number far from those before and after it is taken as
the mean of its neighbours: one campaign that is off is no change.

Source:
    R. Killick, P. Fearnhead and I. A. Eckley, *Optimal Detection of Changepoints With a Linear
    Computational Cost*, JASA 107(500), 2012 (PELT); C. Truong, L. Oudre and N. Vayatis, *Selective
    review of offline change point detection methods*, Signal Processing 167, 2020 (`ruptures`);
    M. Fleming et al., *Hunter: Using Change Point Detection to Hunt for Performance Regressions*,
    ICPE 2023 (dropping candidates by Student's t).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import stdtr

from plimsoll.errors import StorageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST = 2
"""A level has as many numbers or more."""

FEWEST_VALUES = 6
"""Series with fewer numbers have no change points."""

CHANCE = 0.0001
"""Probability below which a difference is no chance."""

DIFFERENCE = 0.01
"""Levels that differ by less, as a ratio, are one."""

STOP = 6.0
"""A number so many standard deviations from both of its neighbours stands alone, where these are
half as far from each other or less."""

_PENALTY = 3.0
"""Penalty of a candidate in units of log n; more than that of BIC, for fewer false ones."""


@dataclass(frozen=True)
class LevelChange:
    """One change.

    Attributes:
        index: Place of the first number of the new level.
        before: Level before it: the geometric mean, or the mean where a number is not positive.
        after: Level from it on.
        chance: Probability that levels differ so much by chance.
    """

    index: int
    before: float
    after: float
    chance: float


def level_changes(values: Sequence[float]) -> tuple[LevelChange, ...]:
    """The changes of a series, in order.

    Args:
        values: The series, in the order of time.

    Raises:
        StorageError: `ruptures` is not installed.
    """
    is_positive = min(values, default=0.0) > 0
    found = np.log(values) if is_positive else np.asarray(values, dtype=np.float64)
    scatter = _scatter(found)
    if scatter == 0 or len(values) < FEWEST_VALUES:
        return ()
    found = _without_lone(found, STOP * scatter)
    cuts = _candidates(found / scatter)
    while cuts:
        changes = _changes(found, cuts, is_positive=is_positive)
        worst = max(changes, key=lambda one: (_is_alike(one), one.chance))
        if not _is_alike(worst) and worst.chance < CHANCE:
            return tuple(changes)
        cuts.remove(worst.index)
    return ()


def _is_alike(one: LevelChange) -> bool:
    return abs(one.after - one.before) <= DIFFERENCE * max(abs(one.before), abs(one.after))


def _candidates(values: NDArray[np.float64]) -> list[int]:
    """First index of each level but the first one, of numbers that scatter by 1."""
    search = _ruptures().Pelt(model="l2", min_size=FEWEST, jump=1).fit(values)
    ends: list[int] = search.predict(pen=_PENALTY * math.log(len(values)))
    return ends[:-1]


def _ruptures() -> Any:
    try:
        import ruptures  # noqa: PLC0415 - an extra, and heavy
    except ImportError as error:
        message = "change points need the Python package `ruptures`"
        raise StorageError(message, "`pip install 'plimsoll-bench[history]'`") from error
    return ruptures


def _scatter(values: NDArray[np.float64]) -> float:
    """Standard deviation within levels, by differences of neighbours, which a change touches once.

    Where more than half of them are 0 their median says nothing, and their mean square does.
    """
    apart = np.abs(np.diff(values))
    if not len(apart):
        return 0.0
    return float(np.median(apart)) / 0.6745 / math.sqrt(2) or math.sqrt(np.mean(apart**2) / 2)


def _without_lone(values: NDArray[np.float64], far: float) -> NDArray[np.float64]:
    """The numbers; one so far above, or below, neighbours that are alike becomes their mean."""
    kept = values.copy()
    around = np.concatenate([values[1:2], values, values[-2:-1]])
    before, after = around[:-2], around[2:]
    one, other = values - before, values - after
    is_far = (np.minimum(np.abs(one), np.abs(other)) > far) & (one * other > 0)
    alone = is_far & (np.abs(after - before) <= far / 2)
    kept[alone] = ((before + after) / 2)[alone]
    return kept


def _changes(
    values: NDArray[np.float64], cuts: Sequence[int], *, is_positive: bool
) -> list[LevelChange]:
    levels = [values[start:end] for start, end in pairwise((0, *cuts, len(values)))]
    freedom = len(values) - len(levels)
    within = math.sqrt(sum(float(np.sum((one - one.mean()) ** 2)) for one in levels) / freedom)
    made: list[LevelChange] = []
    for cut, (one, other) in zip(cuts, pairwise(levels), strict=True):
        before, after = float(one.mean()), float(other.mean())
        error = within * math.sqrt(1 / len(one) + 1 / len(other))
        apart = abs(after - before)
        chance = 2 * float(stdtr(freedom, -apart / error)) if error else float(apart == 0)
        if is_positive:
            before, after = math.exp(before), math.exp(after)
        made.append(LevelChange(cut, before, after, chance))
    return made
