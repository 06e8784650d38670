"""Numbers of runs that are compared only within one repetition.

The speed of a machine changes from minute to minute, above all where it is shared. Runs of one
repetition lie close together, so a ratio is taken there first, and then the median of the ratios.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeVar

Thing = TypeVar("Thing")


@dataclass(frozen=True)
class Spread:
    """A median and what it lies between.

    Attributes:
        median: Middle of the values.
        least: The smallest of them.
        most: The greatest of them.
    """

    median: float
    least: float
    most: float


def spread(values: Sequence[float]) -> Spread | None:
    """Median and range of values; None when there are none."""
    if not values:
        return None
    return Spread(median(values), min(values), max(values))


def paired(numerators: Mapping[int, float], denominators: Mapping[int, float]) -> dict[int, float]:
    """Ratio within each repetition that has both.

    Args:
        numerators: Value of each repetition.
        denominators: Value of each repetition; none of them 0.
    """
    both = sorted(numerators.keys() & denominators.keys())
    return {repetition: numerators[repetition] / denominators[repetition] for repetition in both}


def rotated(things: Sequence[Thing], turns: int) -> list[Thing]:
    """The same things, begun `turns` later, so that none is always the first."""
    first = turns % len(things) if things else 0
    return [*things[first:], *things[:first]]


def words(found: Spread | None, form: Callable[[float], str], between: str = "–") -> str:
    """A spread as people read it: `1.31 (1.28–1.35)`; empty when there is none.

    Args:
        found: The spread.
        form: How one number is written.
        between: What stands between the ends of the range.
    """
    if found is None:
        return ""
    middle, least, most = map(form, (found.median, found.least, found.most))
    return middle if least == most else f"{middle} ({least}{between}{most})"


def percent(ratio: float) -> str:
    """A share: `38 %`."""
    return f"{ratio * 100:.0f} %"


def percent_more(ratio: float) -> str:
    """How much more than 1 a ratio is: `+3.1 %`."""
    return f"{(ratio - 1) * 100:+.1f} %".replace("-", "−")
