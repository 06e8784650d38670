"""Ranks by intervals: an entry is ahead of another if their intervals do not overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.statistics.intervals import Interval

Ranks = tuple[int, int]
"""The best rank that an entry may have, and the worst one, from 1."""


def lowest_first(intervals: Sequence[Interval | None]) -> tuple[Ranks | None, ...]:
    """Ranks of entries of which the lowest is the best.

    Args:
        intervals: The interval of each entry; None for one that competes with no other.

    Returns:
        The ranks of each entry; None for one without an interval.
    """
    known = [one for one in intervals if one is not None]
    return tuple(
        None
        if one is None
        else (
            1 + sum(other.high < one.low for other in known),
            len(known) - sum(other.low > one.high for other in known),
        )
        for one in intervals
    )


def text(ranks: Ranks | None) -> str:
    """Ranks as people read them: `2`, `2–4`; empty for none."""
    if ranks is None:
        return ""
    low, high = ranks
    return str(low) if low == high else f"{low}–{high}"
