"""The edge: the rate at which the share of missed requests reaches what is allowed.

Near the edge the logarithm of the odds of a miss is taken as a straight line over the logarithm of
the rate: local logistic regression, which weighs tries by their distance from the edge. A miss
comes with others, since the requests behind a slow one wait for it. So the number of requests is
divided by a design effect that blocks of each try show, and by what tries scatter beyond that
(quasi-likelihood). The posterior of the edge is worked out on a grid, with a flat prior on the
logarithm of the rate and a wide one on that of the slope.

The rate of a try is that of the requests that were due, not the requested one: with Poisson
arrivals 10,000 are due ±1 %, and near saturation that alone doubles the misses. What that scatter
adds to the misses of a requested rate is put back at the end, as the mean of a log-normal.

Where each try has a server process of its own, each process has an edge of its own, normal on
logarithms around that of the typical one. Its likelihood is averaged over that distribution, whose
width is a third axis of the grid: that takes the place of the scatter between tries.

Source:
    C. Loader, *Local Regression and Likelihood*, 1999 (local logistic regression); P. McCullagh and
    J. A. Nelder, *Generalized Linear Models*, 1989, 4.5 and 9.2 (overdispersion); L. Kish, *Survey
    Sampling*, 1965 (design effect); C. E. McCulloch and S. R. Searle, *Generalized, Linear, and
    Mixed Models*, 2001, 8 (a random effect of processes).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaincc, stdtrit

from plimsoll.statistics.intervals import CONFIDENCE, Interval

Array = np.ndarray[Any, np.dtype[np.float64]]

_SLOPES = np.geomspace(1.0, 300.0, 17)
"""Slopes that are thought possible: the odds of a miss grow by e^(slope · x) when the rate grows by
e^x. For a median far from saturation it is about 1, for a p99 5, for a queue nearly full 100."""

_USUAL_SLOPE, _SCATTER_OF_SLOPES = 20.0, 1.2
"""The prior of the slope: normal on logarithms, with this scatter."""

_WIDTHS = np.array([0.0, 0.01, 0.02, 0.04, 0.08, 0.16])
"""Standard deviations of the edges of processes, on logarithms, that are thought possible."""

_USUAL_WIDTH = 0.04
"""Scale of the prior of these, which is that of Cauchy."""

_REACH_OF_WIDTHS = 2.5
"""Edges of processes are looked for within so many standard deviations."""

_PLACES, _PLACES_OF_PROCESSES = 201, 101
_ZOOM = 6.0
_LEAST_OF_SLOPE = 0.05
_FARTHEST = 4.0
"""Odds further from the allowed ones than by a factor of e^4 only tell the side."""

_BANDWIDTH = 4.0
_LEAST_BANDWIDTH, _MOST_BANDWIDTH = 0.04, 0.4
"""On the logarithm of the rate. Odds of a p50, or of a server that stops now and then, rise slowly
below saturation and fast near it: a straight line over all tries would have the edge too low."""

_LEAST_WEIGHT = 0.05
_PRIOR_TRIES = 2.0
_NEAR = 6.0
_USUAL_EFFECT = 30.0
"""The design effect until a try near the edge shows it."""

_LEAST_FREEDOM = 3.0


@dataclass(frozen=True)
class Count:
    """The misses of one try.

    Attributes:
        rate_per_s: Its requested rate.
        requests: Requests that were judged; at least 1.
        missed: Those that missed.
        scatter: Variance of `missed`, as the blocks of the try show it.
        due_per_s: The rate of the requests that were due.
    """

    rate_per_s: float
    requests: int
    missed: int
    scatter: float
    due_per_s: float

    @property
    def share(self) -> float:
        """Share of the requests that missed."""
        return self.missed / self.requests

    @property
    def effect(self) -> float:
        """Variance of `missed` / that of independent misses; at least 1."""
        return max(1.0, self.scatter / _independent(self))

    def chance_above(self, allowed: float) -> float:
        """The chance that the true share is above what is allowed (Jeffreys' posterior).

        Args:
            allowed: A share, above 0 and below 1.
        """
        missed, right = self.missed / self.effect, (self.requests - self.missed) / self.effect
        return float(betaincc(missed + 0.5, right + 0.5, allowed))


def count(
    rate_per_s: float, due_per_s: float, requests: Sequence[int], missed: Sequence[int]
) -> Count:
    """The misses of a try by its blocks.

    Args:
        rate_per_s: Its requested rate.
        due_per_s: The rate of the requests that were due.
        requests: Judged requests of each block, in order of time; one at least overall.
        missed: Those of them that missed.
    """
    sizes, misses = np.array(requests, np.float64), np.array(missed, np.float64)
    blocks = int((sizes > 0).sum())
    rest = misses - sizes * misses.sum() / sizes.sum()
    scatter = float(rest @ rest) * blocks / (blocks - 1) if blocks > 1 else 0.0
    return Count(rate_per_s, int(sizes.sum()), int(misses.sum()), scatter, due_per_s)


@dataclass(frozen=True)
class Edge:
    """The posterior of the edge.

    Attributes:
        rates_per_s: Rates, ascending.
        chances: The chance that the edge is at or below each of them.
        slope: How steeply the logarithm of the odds of a miss rises with that of the rate.
    """

    rates_per_s: Array
    chances: Array
    slope: float

    @property
    def rate_per_s(self) -> float:
        """Its median."""
        return self.quantile(0.5)

    @property
    def interval(self) -> Interval:
        """Its 95 % interval."""
        tail = (1 - CONFIDENCE) / 2
        return Interval(self.quantile(tail), self.quantile(1 - tail))

    @property
    def reach(self) -> float:
        """Half the width of the interval / the rate."""
        found = self.interval
        return (found.high - found.low) / 2 / self.rate_per_s

    def quantile(self, share: float) -> float:
        """A quantile of it, in requests per second."""
        return float(np.interp(share, self.chances, self.rates_per_s))


def edge(counts: Sequence[Count], allowed: float, *, has_processes: bool = False) -> Edge | None:
    """The edge; None where no try missed more than allowed, or none missed less.

    Args:
        counts: The tries.
        allowed: The share of requests that may miss, above 0 and below 1.
        has_processes: Whether each try has a server process of its own.
    """
    above = [one.share > allowed for one in counts]
    if not any(above) or all(above):
        return None
    logs = _due(counts)
    count_of_places = _PLACES_OF_PROCESSES if has_processes else _PLACES
    places: Array = np.linspace(float(logs.min()), float(logs.max()), count_of_places)
    weights: Array = np.ones(len(counts))
    slopes = _SLOPES
    posterior_of = _posterior_of_processes if has_processes else _posterior
    for is_near in (False, True, True):
        posterior = posterior_of(counts, allowed, places, slopes, weights)
        place, of_place = _moments(places, posterior.sum(axis=1))
        slope, of_slope = _moments(np.log(slopes), posterior.sum(axis=0))
        width = min(max(_LEAST_BANDWIDTH, _BANDWIDTH / math.exp(slope)), _MOST_BANDWIDTH)
        weights = _weights((logs - place) / width)
        if is_near:
            places = _zoomed(places, place, of_place)
            slopes = np.exp(_zoomed(np.log(slopes), slope, max(of_slope, _LEAST_OF_SLOPE)))
    posterior = posterior_of(counts, allowed, places, slopes, weights)
    density = posterior.sum(axis=1)
    chances = np.cumsum(density) - density / 2
    slope = math.exp(_moments(np.log(slopes), posterior.sum(axis=0))[0])
    lower = slope * _scatter_of_arrivals(counts, weights) / 2
    return Edge(np.exp(places - lower), chances, slope)


def _due(counts: Sequence[Count]) -> Array:
    """The logarithms of the rates that were due."""
    return np.log([one.due_per_s for one in counts])


def _scatter_of_arrivals(counts: Sequence[Count], weights: Array) -> float:
    """Mean square of ln(due / requested) near the edge; 0 for arrivals at equal intervals."""
    apart = _due(counts) - np.log([one.rate_per_s for one in counts])
    near = _near(weights)
    return float(near @ apart**2 / max(near.sum(), 1.0))


def _zoomed(grid: Array, middle: float, deviation: float) -> Array:
    """As many places as before, on a shorter stretch."""
    low = max(float(grid[0]), middle - _ZOOM * deviation)
    high = min(float(grid[-1]), middle + _ZOOM * deviation)
    return np.linspace(low, high, len(grid))


def _independent(one: Count) -> float:
    """Variance of the number of misses if each were by itself."""
    share = (one.missed + 0.5) / (one.requests + 1)
    return one.requests * share * (1 - share)


def _weights(distances: Array) -> Array:
    """Cleveland's tricube, and a little for those that are far away: they still tell the side."""
    near = (1 - np.minimum(np.abs(distances), 1.0) ** 3) ** 3
    return np.maximum(near, _LEAST_WEIGHT)


def _near(weights: Array) -> Array:
    """The weights of the tries near the edge; 0 for those that only tell the side."""
    return np.where(weights > _LEAST_WEIGHT, weights, 0.0)


def _moments(grid: Array, chances: Array) -> tuple[float, float]:
    """Mean and standard deviation; at least half a step, which is what a grid can tell."""
    mean = float(chances @ grid)
    deviation = math.sqrt(max(0.0, float(chances @ (grid - mean) ** 2)))
    return mean, max(deviation, float(grid[-1] - grid[0]) / len(grid) / 2)


def _posterior(
    counts: Sequence[Count], allowed: float, places: Array, slopes: Array, weights: Array
) -> Array:
    """The posterior by place and slope; its sum is 1."""
    requests, missed = _independent_counts(counts, allowed, weights)
    chance = _chances(counts, allowed, places, slopes)
    likelihood = missed * np.log(chance) + (requests - missed) * np.log1p(-chance)
    summed = likelihood @ weights

    place, slope = np.unravel_index(int(summed.argmax()), summed.shape)
    expected = requests * chance[place, slope]
    squares = (missed - expected) ** 2 / (expected * (1 - chance[place, slope]))
    near = _near(weights)
    spread = _spread(float(near @ squares), float(near.sum()))
    relative = np.exp((summed - summed.max()) / spread + _prior_of_slopes(slopes)[None, :])
    return relative / relative.sum()


def _posterior_of_processes(
    counts: Sequence[Count], allowed: float, places: Array, slopes: Array, weights: Array
) -> Array:
    """The same where each try has a process with an edge of its own."""
    requests, missed = _independent_counts(counts, allowed, weights)
    step = float(places[1] - places[0])
    beside = math.ceil(_REACH_OF_WIDTHS * float(_WIDTHS[-1]) / step)
    around: Array = places[0] + step * np.arange(-beside, len(places) + beside)
    chance = _chances(counts, allowed, around, slopes)
    likelihood = missed * np.log(chance) + (requests - missed) * np.log1p(-chance)
    highest = likelihood.max(axis=0)
    relative = np.exp(likelihood - highest).reshape(len(around), -1)
    shape = (len(places), len(slopes), len(counts))
    summed = [
        (np.log(_averaging(places, around, width) @ relative + 1e-300).reshape(shape) + highest)
        @ weights
        - math.log1p((width / _USUAL_WIDTH) ** 2)
        for width in _WIDTHS
    ]
    near = _near(weights)
    spread = _spread(0.0, float(near.sum()))
    by_width = np.stack(summed) / spread + _prior_of_slopes(slopes)[None, None, :]
    relative = np.exp(by_width - by_width.max())
    return relative.sum(axis=0) / relative.sum()


def _averaging(places: Array, around: Array, width: float) -> Array:
    """Weights of the edges of processes around each typical one; each row sums to 1."""
    narrowest = float(around[1] - around[0]) / 4
    distance = (around[None, :] - places[:, None]) / max(width, narrowest)
    weights = np.exp(-(distance**2) / 2)
    return weights / weights.sum(axis=1, keepdims=True)


def _prior_of_slopes(slopes: Array) -> Array:
    return -((np.log(slopes / _USUAL_SLOPE) / _SCATTER_OF_SLOPES) ** 2) / 2


def _independent_counts(
    counts: Sequence[Count], allowed: float, weights: Array
) -> tuple[Array, Array]:
    """Requests and misses of each try, as many as there would be independent ones."""
    independent = np.array([_independent(one) for one in counts])
    scatter = np.array([one.scatter for one in counts])
    effect = _effects(counts, allowed, weights * scatter, weights * independent)
    requests = np.array([one.requests for one in counts]) / effect
    return requests, np.array([one.missed for one in counts]) / effect


def _chances(counts: Sequence[Count], allowed: float, places: Array, slopes: Array) -> Array:
    """The chance of a miss by place, slope and try."""
    logs = _due(counts)
    distance = slopes[None, :, None] * (logs[None, None, :] - places[:, None, None])
    odds = math.log(allowed / (1 - allowed)) + np.clip(distance, -_FARTHEST, _FARTHEST)
    return 1 / (1 + np.exp(-odds))


def _effects(counts: Sequence[Count], allowed: float, scatter: Array, independent: Array) -> Array:
    """The design effect of each try: that at the edge, or its own where it is overloaded.

    Misses come in larger clumps the more of them there are. A try without any has no clump to show,
    so what clumps at the edge are like is taken from the tries with about as many as allowed.
    """
    shares = np.array([one.share for one in counts])
    near = (shares > allowed / _NEAR) & (shares < allowed * _NEAR)
    at_edge = float(scatter[near].sum() / independent[near].sum()) if near.any() else _USUAL_EFFECT
    own = np.array([one.effect for one in counts])
    return np.where(shares < allowed * _NEAR, max(1.0, at_edge), np.maximum(own, at_edge))


def _spread(squares: float, tries: float) -> float:
    """By how much tries scatter beyond their blocks, with what few of them leave open.

    Args:
        squares: Sum of the squared standardised distances from the model.
        tries: Their number.
    """
    freedom = max(tries - 2 + _PRIOR_TRIES, _LEAST_FREEDOM)
    beyond = max(1.0, (squares + _PRIOR_TRIES) / freedom)
    quantile = (1 + CONFIDENCE) / 2
    return beyond * (float(stdtrit(freedom, quantile)) / float(stdtrit(1e9, quantile))) ** 2
