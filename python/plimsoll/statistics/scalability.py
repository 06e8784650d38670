"""Scalability: throughput as a function of connections, by the universal scalability law.

    X(N) = λ N / (1 + α (N − 1) + β N (N − 1))

λ is what one connection gets alone, α the share of the work that cannot be done at the same time
(contention; at most all of it), β what it costs that each must know of the others (coherency). None
of the three can be negative. With β > 0 throughput is greatest at N* = √((1 − α) / β).

Turned over the law is linear: N / X = (1 − α)/λ + α/λ · N + β/λ · N (N − 1). So the least squares
of relative errors with no negative factor are found exactly, without a first guess.

Source: N. J. Gunther, Guerrilla Capacity Planning, 2007, chapters 4 to 6; C. L. Lawson and
R. J. Hanson, Solving Least Squares Problems, 1974, chapter 23 (non-negative least squares).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

FEWEST = 4
"""Levels that a fit of three numbers needs, so that one of them can contradict it."""

NOTHING = 1e-9
"""A part of the law that is less of every level is none."""

Point = tuple[float, float]
"""Connections and responses per second."""


@dataclass(frozen=True)
class Fit:
    """The law, as it comes nearest to some levels.

    Attributes:
        alone_per_s: λ: responses per second of one connection alone.
        contention: α.
        coherency: β.
        r_squared: Share of the variance of throughput that the law explains; at most 1.
        farthest_ratio: The greatest difference of a level from the law, in units of the level.
        farthest: Connections of that level.
    """

    alone_per_s: float
    contention: float
    coherency: float
    r_squared: float
    farthest_ratio: float
    farthest: float

    @property
    def most_at(self) -> float | None:
        """Connections at which throughput is greatest; None when it grows for ever."""
        if self.coherency <= 0 or self.contention >= 1:
            return None
        return sqrt((1 - self.contention) / self.coherency)

    def throughput_per_s(self, connections: float) -> float:
        """Responses per second that the law has for some connections."""
        return law(connections, self.alone_per_s, self.contention, self.coherency)


def law(connections: float, alone_per_s: float, contention: float, coherency: float) -> float:
    """Responses per second by the universal scalability law.

    Args:
        connections: N.
        alone_per_s: λ.
        contention: α.
        coherency: β.
    """
    others = connections - 1
    return alone_per_s * connections / (1 + contention * others + coherency * connections * others)


def fit(points: Sequence[Point]) -> Fit | None:
    """The law that comes nearest to some levels, by the least squares of relative errors.

    Args:
        points: Levels, each with connections and responses per second.

    Returns:
        None with fewer than `FEWEST` levels with responses, or where no such law comes near, as
        of a throughput that grows faster than connections do.
    """
    known = [(n, x) for n, x in points if n > 0 and x > 0]
    if len({n for n, _ in known}) < FEWEST:
        return None
    apart, together, coherency = _least_squares(known)
    base = apart + together
    if base <= 0:
        return None
    parts = (1 / base, together / base, coherency / base)
    misses = [(abs(law(n, *parts) / x - 1), n) for n, x in known]
    ratio, farthest = max(misses)
    return Fit(*parts, _r_squared(known, parts), ratio, farthest)


def _least_squares(points: Sequence[Point]) -> tuple[float, float, float]:
    """(1 − α)/λ, α/λ and β/λ such that the law misses every level by as little as can be."""
    from scipy.optimize import nnls  # noqa: PLC0415 - takes long to load, and few trials need it

    rows = [(x / n, x, x * (n - 1)) for n, x in points]
    matrix = np.array(rows, dtype=np.float64)
    scales = matrix.max(axis=0)
    scales[scales == 0] = 1.0
    solution, _ = nnls(matrix / scales, np.ones(len(points)))
    solution[solution < NOTHING] = 0.0
    apart, together, coherency = (float(value) for value in solution / scales)
    return apart, together, coherency


def _r_squared(points: Sequence[Point], parts: tuple[float, float, float]) -> float:
    mean = sum(x for _, x in points) / len(points)
    total = sum((x - mean) ** 2 for _, x in points)
    missed = sum((x - law(n, *parts)) ** 2 for n, x in points)
    return 1 - missed / total if total else 1.0
