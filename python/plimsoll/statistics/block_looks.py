"""Looks at a table after each block: how wide its intervals must be where it may stop after any.

Who adds blocks until an ordinary interval is narrow enough stops most easily where the scatter came
out too small, so too few of the intervals hold. Here the chance of an error is spent over the looks
(α-spending, as in `sequential`): all intervals of all looks of a table hold *together* in 95 of 100
tables, so any rule may say when to stop, and whoever continues later needs no correction.

`sequential` needs the number of looks in advance. A campaign does not have it: its budget can be
enlarged when it is spent. So the error is spent by the logarithm of the number of blocks, up to
`MOST` of them: the first look gets log(first) / log(`MOST`) of it, and twice as many blocks always
get the same share, whatever comes later. In proportion to the number of blocks itself, intervals of
6 servers after 6 blocks would be 1.51 times as wide as ordinary ones instead of 1.34 times.

The walk that is bounded is the studentized range of equal entries that scatter alike. What a look
takes from it is its confidence, which the intervals of `block_design` then have: they allow for
entries that do not scatter alike. For two entries the walk is that of one mean.

Source:
    K. K. G. Lan and D. L. DeMets, Discrete sequential boundaries for clinical trials, Biometrika
    70, 1983 (spending); C. Jennison and B. W. Turnbull, Group Sequential Methods, 2000, 9.2
    (repeated confidence intervals) and 16 (several treatments). Coverage of campaigns that stop
    early: `benches/ranking_errors.py`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.statistics.intervals import CONFIDENCE

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

LEAST = 2
"""Blocks at the first look: one tells nothing of the scatter."""

MOST = 60
"""The most blocks of a table; their looks spend the whole error."""

_WALKS = 50_000
_SEED = 1983


def confidence(entries: int, first: int, blocks: int) -> float:
    """Confidence that the intervals of one look must have.

    Args:
        entries: Entries of the table; 2 also for a single mean.
        first: Blocks at the first look.
        blocks: Blocks at this look; fewer than `first` count as `first`.

    Returns:
        The confidence, from `CONFIDENCE` to 1.
    """
    start = min(max(first, LEAST), MOST)
    return 1 - _errors(max(entries, 2), start, min(max(blocks, start), MOST))[-1]


@lru_cache(maxsize=512)
def _errors(entries: int, first: int, blocks: int) -> tuple[float, ...]:
    """Chance of each look that any of its intervals misses, whatever the looks before it found."""
    inside = np.ones(_WALKS, dtype=np.bool_)
    spent, errors = 0, []
    for count, ranges in enumerate(_ranges(entries, blocks), LEAST):
        if count < first:
            continue
        due = round(_WALKS * (1 - CONFIDENCE) * math.log(count) / math.log(MOST))
        left = np.sort(ranges[inside])
        bound = left[-1 - max(due - spent, 1)]
        spent = max(due, spent + 1)
        errors.append(float((ranges > bound).mean()))
        inside &= ranges <= bound
    return tuple(errors)


@lru_cache(maxsize=4)
def _ranges(entries: int, blocks: int) -> tuple[Array, ...]:
    """Studentized range of equal entries of many tables, after each number of blocks."""
    rng = np.random.default_rng(_SEED)
    sums = np.zeros((entries, _WALKS))
    squares, of_blocks = np.zeros(_WALKS), np.zeros(_WALKS)
    found: list[Array] = []
    for count in range(1, blocks + 1):
        values = rng.standard_normal((entries, _WALKS))
        sums += values
        squares += (values**2).sum(axis=0)
        of_blocks += values.sum(axis=0) ** 2 / entries
        if count >= LEAST:
            of_entries = (sums**2).sum(axis=0) / count - sums.sum(axis=0) ** 2 / (entries * count)
            freedom = (entries - 1) * (count - 1)
            errors = np.sqrt((squares - of_blocks - of_entries) / freedom / count)
            found.append((sums.max(axis=0) - sums.min(axis=0)) / count / errors)
    return tuple(found)
