"""Block design: all entries of a table compared by one model, with simultaneous intervals.

    log y = entry + block + error

is fitted by least squares; any cell may be missing or occur several times. The intervals of all
pairwise differences hold together: in 95 of 100 tables every one of them holds its true value.

Entries do not scatter alike, and a few repetitions do not tell by how much. So each entry has a
variance of its own, and block effects come from entries weighted by the inverse of theirs: an entry
that scatters widely does not widen the intervals of the others. Both are found in turn, as
restricted maximum likelihood does. Each variance is moderated by the geometric mean of all, as if
that mean were `PRIOR_FREEDOM` further degrees of freedom; an entry with a single repetition has the
mean itself. The error of a difference gets degrees of freedom by Satterthwaite, and its quantile is
that of the studentized range, as in the method of Games and Howell. No test decides between
methods.

Whether blocks are in the model depends on which cells are there, never on their numbers: they are,
where they tie all entries together and leave `LEAST_FREEDOM` degrees of freedom. Left out, their
scatter is part of the error, which makes intervals wider and no claim false.

Source:
    J. W. Tukey, The problem of multiple comparisons, 1953; C. Y. Kramer, Biometrics 12, 1956; P. A.
    Games and J. F. Howell, Journal of Educational Statistics 1, 1976; D. A. Harville, Maximum
    likelihood approaches to variance component estimation, Journal of the American Statistical
    Association 72, 1977; G. K. Smyth, Linear models and empirical Bayes methods, Statistical
    Applications in Genetics and Molecular Biology 3, 2004 (moderated variances); A. Abedi and T.
    Brecht, Conducting repeatable experiments in highly variable cloud computing environments, ICPE
    2017 (randomised blocks). `PRIOR_FREEDOM`, `WORTH_OF_PRIOR` and `LEAST_FREEDOM` are by
    simulation, `benches/ranking_errors.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from plimsoll import statistics
from plimsoll.statistics.intervals import CONFIDENCE

Array = np.ndarray[Any, Any]

PRIOR_FREEDOM = 1.25
"""Degrees of freedom that the mean variance of the table has in the variance of one entry."""

WORTH_OF_PRIOR = 0.75
"""Degrees of freedom that this adds to those of a difference."""

LEAST_FREEDOM = 3
"""Degrees of freedom of the error that blocks must leave to be in the model."""

ROUNDS = 12
"""How often variances and block effects are estimated from each other."""

ROUNDING = 64 * float(np.finfo(float).eps)
"""What scatters less than this share of the greatest value does not scatter: it is rounding."""

_TINY = 1e-9
"""The least variance of an entry / the pooled one, or the greatest; smaller ones are rounding."""


@dataclass(frozen=True)
class Differences:
    """Differences of all pairs, of one table or of many with the same design.

    Attributes:
        values: First entry less second, on logarithms; the pairs are the last axis.
        reaches: Half the width of each simultaneous interval.
        variances: Variance of one repetition, pooled over the table; without the last axis.
    """

    values: Array
    reaches: Array
    variances: Array


@dataclass(frozen=True)
class _Cells:
    """Observations of each entry in each block; where blocks are not in the model, they are one.

    Attributes:
        counts: How many there are: entries × blocks.
        means: Their means, 0 where there are none; the last two axes are entries and blocks.
        within: Squared deviations from these means, summed for each entry.
    """

    counts: Array
    means: Array
    within: Array


@dataclass(frozen=True)
class BlockDesign:
    """Which entry was measured in which block, and what follows from that alone.

    Attributes:
        entries: Number of the entry of each observation; every number from 0 on occurs.
        blocks: Number of its block, whatever it is.
    """

    entries: tuple[int, ...]
    blocks: tuple[int, ...]

    @cached_property
    def count(self) -> int:
        """How many entries there are."""
        return max(self.entries, default=-1) + 1

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs of entries, in the order of every array of pairs."""
        return tuple(combinations(range(self.count), 2))

    @cached_property
    def has_blocks(self) -> bool:
        """Whether blocks are in the model."""
        full = np.hstack([self._own, _indicators(self.blocks)])
        parameters = self.count + len(set(self.blocks)) - 1
        is_tied = int(np.linalg.matrix_rank(full)) == parameters
        return is_tied and len(self.entries) - parameters >= LEAST_FREEDOM

    @cached_property
    def freedom(self) -> int:
        """Degrees of freedom of the error; with none there are no intervals."""
        return len(self.entries) - int(np.linalg.matrix_rank(self._model))

    @cached_property
    def weights(self) -> Array:
        """What each observation adds to the difference of each pair: pairs × observations."""
        inverse = np.linalg.pinv(self._model)[: self.count]
        first, second = self._places
        return inverse[first] - inverse[second]

    def values(self, logarithms: Array) -> Array:
        """The differences of all pairs, first entry less second, without intervals.

        Args:
            logarithms: As for `differences`.
        """
        return logarithms @ self.weights.T

    def square(self, of_pairs: Array) -> Array:
        """What each pair has, whichever entry is first; 0 for an entry and itself.

        Args:
            of_pairs: One number for each pair, in the last axis; it becomes entries × entries.
        """
        both = np.zeros((*of_pairs.shape[:-1], self.count, self.count))
        first, second = self._places
        both[..., first, second] = of_pairs
        both[..., second, first] = of_pairs
        return both

    def differences(self, logarithms: Array, confidence: float = CONFIDENCE) -> Differences:
        """The differences of all pairs, with simultaneous intervals.

        Args:
            logarithms: One for each observation, in their order; several tables may be stacked in
                front of this axis.
            confidence: Share of tables in which every interval holds its true value.

        Raises:
            ValueError: There are no degrees of freedom for an interval.
        """
        if not self.freedom:
            raise ValueError("one observation of each entry shows nothing of their scatter")
        squares = (logarithms @ self._residuals) ** 2
        pooled = squares.sum(axis=-1) / self.freedom
        errors, freedoms = self._errors(logarithms, pooled)
        quantiles = statistics.studentized_range.quantiles(self.count, freedoms.ravel(), confidence)
        reaches = np.sqrt(errors / 2) * quantiles.reshape(freedoms.shape)
        return Differences(self.values(logarithms), reaches, pooled)

    def _errors(self, logarithms: Array, pooled: Array) -> tuple[Array, Array]:
        """Squared standard error of each difference, and its degrees of freedom."""
        if self._is_paired:
            errors = pooled[..., None] * self._shares.sum(axis=1)
            return errors, np.full(errors.shape, float(self.freedom))
        variances, freedoms = self._variances(logarithms, pooled)
        parts = variances[..., None, :] * self._shares
        errors = parts.sum(axis=-1)
        total = np.where(errors > 0, errors, 1.0)[..., None]
        inverse = ((parts / total) ** 2 / (WORTH_OF_PRIOR + freedoms)[..., None, :]).sum(axis=-1)
        return errors, 1 / (inverse + WORTH_OF_PRIOR / self.freedom)

    def _variances(self, logarithms: Array, pooled: Array) -> tuple[Array, Array]:
        """Moderated variance of each entry, and the degrees of freedom that are its own."""
        rounded = (ROUNDING * np.abs(logarithms).max(axis=-1)) ** 2
        scale = np.where(pooled > rounded, pooled, 1.0)[..., None]
        cells = self._cells(logarithms / np.sqrt(scale))
        found = np.ones((*pooled.shape, self.count))
        freedoms = np.zeros_like(found)
        for _ in range(ROUNDS):
            squares, freedoms = _weighted(cells, found)
            mean = np.exp(np.log(found).mean(axis=-1, keepdims=True))
            found = (PRIOR_FREEDOM * mean + squares) / (PRIOR_FREEDOM + freedoms)
            found = np.maximum(found, _TINY * np.maximum(found.max(axis=-1, keepdims=True), 1))
        return found * pooled[..., None], freedoms

    def _cells(self, logarithms: Array) -> _Cells:
        """Observations by entry and block."""
        blocks = _indicators(self.blocks if self.has_blocks else (0,) * len(self.entries))
        counts = self._own.T @ blocks
        places = np.argmax(self._own, axis=1), np.argmax(blocks, axis=1)
        sums = np.einsum("...o,oe,ob->...eb", logarithms, self._own, blocks, optimize=True)
        means = sums / np.maximum(counts, 1)
        within = (logarithms - means[..., *places]) ** 2 @ self._own
        return _Cells(counts, means, within)

    @cached_property
    def _is_paired(self) -> bool:
        """Whether only the differences of two entries within blocks are left.

        They have one variance, however different those of the two are.
        """
        return self.count == 2 and self.has_blocks  # noqa: PLR2004

    @cached_property
    def _own(self) -> Array:
        return _indicators(self.entries)

    @cached_property
    def _model(self) -> Array:
        if not self.has_blocks:
            return self._own
        return np.hstack([self._own, _indicators(self.blocks)])

    @cached_property
    def _residuals(self) -> Array:
        """The projection onto what the model does not explain."""
        return np.eye(len(self.entries)) - self._model @ np.linalg.pinv(self._model)

    @cached_property
    def _shares(self) -> Array:
        """What the variance of each entry adds to that of each difference: pairs × entries."""
        return self.weights**2 @ self._own

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        return [one for one, _ in self.pairs], [other for _, other in self.pairs]


def entry_effects(entries: Sequence[int], blocks: Sequence[int], logarithms: Array) -> Array:
    """Typical logarithm of each entry in a typical block, by the same model.

    For many entries and few blocks: entries are eliminated from the normal equations. Blocks that
    do not tie all entries together are left out, and each entry has the mean of its own.

    Args:
        entries: Number of the entry of each observation; every number from 0 on occurs.
        blocks: Number of its block, whatever it is.
        logarithms: One for each observation.
    """
    own, shared = np.array(entries), np.searchsorted(sorted(set(blocks)), blocks)
    counts = np.zeros((int(own.max()) + 1, int(shared.max()) + 1))
    sums = np.zeros_like(counts)
    np.add.at(counts, (own, shared), 1.0)
    np.add.at(sums, (own, shared), logarithms)
    shares = counts / counts.sum(axis=1, keepdims=True)
    means = sums.sum(axis=1) / counts.sum(axis=1)
    normal: Array = np.diag(counts.sum(axis=0)) - counts.T @ shares
    if np.linalg.matrix_rank(normal, hermitian=True) < len(normal) - 1:
        return means
    levels: Array = np.linalg.pinv(normal) @ (sums.sum(axis=0) - counts.T @ means)
    return means - shares @ levels


def _weighted(cells: _Cells, variances: Array) -> tuple[Array, Array]:
    """Least squares with each entry weighted by the inverse of its variance.

    The normal equations have the blocks eliminated, and the first entry is the level of the others.

    Returns:
        Squared residuals of each entry, summed, and their degrees of freedom.
    """
    weights = cells.counts / variances[..., None]
    of_block = weights.sum(axis=-2, keepdims=True)
    shares = weights / of_block
    sums = weights * cells.means
    normal = -shares @ np.swapaxes(weights, -1, -2)
    diagonal = [*range(variances.shape[-1])]
    normal[..., diagonal, diagonal] += weights.sum(axis=-1)
    inverse = np.zeros_like(normal)
    inverse[..., 1:, 1:] = np.linalg.inv(normal[..., 1:, 1:])
    right = sums.sum(axis=-1) - (shares @ sums.sum(axis=-2)[..., None])[..., 0]
    entries = inverse @ right[..., None]
    blocks = (sums - weights * entries).sum(axis=-2, keepdims=True) / of_block
    squares = cells.within + (cells.counts * (cells.means - entries - blocks) ** 2).sum(axis=-1)
    mixed = inverse @ shares
    leverages = (
        inverse[..., diagonal, diagonal, None]
        - 2 * mixed
        + (shares * mixed).sum(axis=-2, keepdims=True)
        + 1 / of_block
    ) / variances[..., None]
    freedoms = (cells.counts * (1 - leverages)).sum(axis=-1)
    return squares, np.maximum(freedoms, 0.0)


def _indicators(groups: Sequence[int]) -> Array:
    """A column for each group, 1 where an observation belongs to it."""
    return (np.array(groups)[:, None] == np.array(sorted(set(groups)))).astype(float)
