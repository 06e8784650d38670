"""Restated figures: what a tool prints twice, and what other printed figures bound.

A tool that prints `Complete requests` and `Requests per second` has printed the time as well. Such
figures agree within the rounding of the print, whatever the server did; if they do not, the text
was altered, or is of two runs. Each reader knows which figures of its tool are related.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Relation = Literal["equals", "at_most", "at_least"]

Unit = Literal["number", "bytes", "s", "percent"]

_EXACT = 1e-6
"""Share within which two numbers are the same, after arithmetic on what was printed."""

FEWEST_SCATTERED = 2
"""So many numbers there are at least, if their standard deviation is not 0."""

LATE_S = 5.0
"""So late may a tool without a core end, however short the run."""


@dataclass(frozen=True)
class Restated:
    """A printed figure, and what other printed figures make of it.

    Attributes:
        name: Name of the figure, as the tool prints it.
        printed: The figure.
        by: The other figures, as the tool prints them: `Document Length × Complete requests`.
        derived: What they give.
        relation: How the figure must relate to that.
        slack: What rounding can have changed.
        unit: Unit of both.
    """

    name: str
    printed: float
    by: str
    derived: float
    relation: Relation = "equals"
    slack: float = 0.0
    unit: Unit = "number"

    @property
    def contradicts(self) -> bool:
        """Whether the figure differs by more than rounding."""
        slack = self.slack + _EXACT * max(abs(self.printed), abs(self.derived))
        above = self.printed - self.derived
        too_much = above > slack and self.relation != "at_least"
        return too_much or (-above > slack and self.relation != "at_most")


@dataclass(frozen=True)
class Figure:
    """A printed figure with its name and its rounding.

    Attributes:
        name: Name, as the tool prints it.
        value: The figure; None if it was not printed.
        step: The unit of its last printed digit.
    """

    name: str
    value: float | None
    step: float = 0.0

    def scaled(self, factor: float) -> Figure:
        """The same in another unit."""
        value = None if self.value is None else self.value * factor
        return Figure(self.name, value, self.step * factor)


def equal(
    name: str,
    printed: float | None,
    by: str,
    derived: float | None,
    slack: float = 0.0,
    unit: Unit = "number",
) -> tuple[Restated, ...]:
    """A figure that must equal what others give; none if one of them was not printed."""
    return _related("equals", name, printed, by, derived, slack, unit)


def at_most(
    name: str,
    printed: float | None,
    by: str,
    derived: float | None,
    slack: float = 0.0,
    unit: Unit = "number",
) -> tuple[Restated, ...]:
    """A figure that others bound from above; none if one of them was not printed."""
    return _related("at_most", name, printed, by, derived, slack, unit)


def twice_at_most(lasted: Figure, by: str, asked_s: float | None) -> tuple[Restated, ...]:
    """A duration that is longer than was asked for: as of a tool that ends late, but not twice."""
    most_s = None if asked_s is None else 2 * asked_s
    return at_most(lasted.name, lasted.value, f"twice {by}", most_s, LATE_S, "s")


def at_least(
    name: str,
    printed: float | None,
    by: str,
    derived: float | None,
    slack: float = 0.0,
    unit: Unit = "number",
) -> tuple[Restated, ...]:
    """A figure that others bound from below; none if one of them was not printed."""
    return _related("at_least", name, printed, by, derived, slack, unit)


def _related(
    relation: Relation,
    name: str,
    printed: float | None,
    by: str,
    derived: float | None,
    slack: float,
    unit: Unit,
) -> tuple[Restated, ...]:
    if printed is None or derived is None:
        return ()
    return (Restated(name, printed, by, derived, relation, slack, unit),)


def quotient(
    of: Figure, above: Figure, below: Figure, unit: Unit = "number"
) -> tuple[Restated, ...]:
    """A figure that must be one figure / another, such as a rate: count / time.

    Args:
        of: The figure.
        above: What is divided.
        below: By what it is divided.
        unit: Unit of the figure.
    """
    least = None if below.value is None else below.value - below.step
    if of.value is None or above.value is None or not below.value or not least or least <= 0:
        return ()
    most = (above.value + above.step) / least
    derived = above.value / below.value
    slack = of.step + most - derived
    return equal(of.name, of.value, f"{above.name} / {below.name}", derived, slack, unit)


def parts(
    of: Figure, pieces: Iterable[float | None], by: str, slack: float = 0.0
) -> tuple[Restated, ...]:
    """A figure that must be the sum of others; none if there are none."""
    known = [one for one in pieces if one is not None]
    return equal(of.name, of.value, by, sum(known) if known else None, slack)


def between(of: Figure, least: Figure, most: Figure, unit: Unit = "number") -> tuple[Restated, ...]:
    """A figure that lies between two others, of which either may be missing."""
    low, high = of.step + least.step, of.step + most.step
    return (
        *at_least(of.name, of.value, least.name, least.value, low, unit),
        *at_most(of.name, of.value, most.name, most.value, high, unit),
    )


def share(name: str, percent: float | None) -> tuple[Restated, ...]:
    """A share of all, which is 100 % at most."""
    return at_most(name, percent, "the definition of a share", 100.0, unit="percent")


def spread(
    name: str,
    stddev: Figure,
    mean: Figure,
    greatest: Figure,
    least: float = 0.0,
    count: float | None = None,
    unit: Unit = "s",
) -> tuple[Restated, ...]:
    """A standard deviation, which the mean and both extremes bound.

    Among numbers between `a` and `b` with the mean `m` the variance is `(b − m) · (m − a)` at most.
    That of a sample of `n`, which is divided by `n − 1`, is greater by `n / (n − 1)` at most: the
    fewer, the greater.

    Args:
        name: Name of what it is about.
        stddev: The standard deviation.
        mean: The mean.
        greatest: The greatest number.
        least: The least number, or a bound of it.
        count: The fewest numbers that there can be; None if the deviation is not that of a sample.
        unit: Their unit.

    Source:
        R. Bhatia and C. Davis, A better bound on the variance, American Mathematical Monthly
        107(4), 2000.
    """
    if stddev.value is None or mean.value is None or greatest.value is None:
        return ()
    high, low = greatest.value + greatest.step, max(least - mean.step, 0.0)
    middle = min(max((high + low) / 2, mean.value - mean.step), mean.value + mean.step)
    variance = max(high - middle, 0.0) * max(middle - low, 0.0)
    fewest = None if count is None else max(count, FEWEST_SCATTERED)
    sample = 1.0 if fewest is None else fewest / (fewest - 1)
    return at_most(
        name,
        stddev.value,
        f"{mean.name} and {greatest.name}",
        math.sqrt(variance * sample),
        stddev.step,
        unit,
    )
