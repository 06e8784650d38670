"""Quantiles of the studentized range: how far apart the extremes of equal entries may come out.

A campaign needs thousands, of which most have nearly the same degrees of freedom. So they are
worked out at fixed degrees of freedom, as they are needed, and interpolated between: logarithms of
quantiles are almost straight over 1 / degrees of freedom (H. L. Harter, Annals of Mathematical
Statistics 31, 1960).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from scipy.special import gammaincinv, ndtr

FREEDOMS = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0, 120.0, 1e6)
"""Degrees of freedom at which quantiles are worked out."""

_NODES, _NODES_OF_SHARES = 96, 128
"""Nodes of the integrals over a standardized value, and over the share of standard errors."""

_FARTHEST = 8.5
"""Standardized values beyond this one have a probability of 1e-17."""

_STEEPNESS = 4
"""Shares are powers of a node, so that nodes are close where standard errors are small."""

_LOWEST, _HIGHEST, _HALVINGS = -7.0, 40.0, 40
"""Between which logarithms a quantile is looked for, and how many times that is halved."""


def quantiles(entries: int, freedoms: np.ndarray[Any, Any], confidence: float) -> Any:
    """Quantiles of the range of equal entries / the standard error of one of them.

    Args:
        entries: How many are compared; at least 2.
        freedoms: Degrees of freedom of their standard error; those beyond the ends of `FREEDOMS`
            are taken as these.
        confidence: Share of cases below the quantile.

    Returns:
        As many quantiles.
    """
    clipped = np.clip(freedoms, FREEDOMS[0], FREEDOMS[-1])
    places = np.searchsorted(FREEDOMS, clipped)
    if not freedoms.size:
        return clipped
    needed = sorted({int(place) for place in np.unique(places)})
    used = sorted({place for upper in needed for place in (max(upper - 1, 0), upper)})
    inverse = [1 / FREEDOMS[place] for place in reversed(used)]
    logarithms = [_logarithm(entries, FREEDOMS[place], confidence) for place in reversed(used)]
    return np.exp(np.interp(1 / clipped, inverse, logarithms))


def quantile(entries: int, freedom: float, confidence: float) -> float:
    """One of `quantiles`."""
    return float(quantiles(entries, np.array([freedom]), confidence)[0])


@cache
def _logarithm(entries: int, freedom: float, confidence: float) -> float:
    """Natural logarithm of a quantile."""
    errors, weights = _standard_errors(freedom)
    low, high = _LOWEST, _HIGHEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if weights @ _within(math.exp(middle) * errors, entries) < confidence:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _within(ranges: np.ndarray[Any, Any], entries: int) -> np.ndarray[Any, Any]:
    """Probability that values of the standard normal distribution lie within these ranges.

    One of them is the lowest, and all others are between it and the range above it.
    """
    lowest, weights = _nodes(_NODES, -_FARTHEST, _FARTHEST)
    density = weights * np.exp(-(lowest**2) / 2) / math.sqrt(2 * math.pi)
    others = ndtr(lowest + ranges[:, None]) - ndtr(lowest)
    return entries * others ** (entries - 1) @ density


def _standard_errors(freedom: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Standard errors by their share below them, 1 on average of their squares, and weights."""
    nodes, weights = _nodes(_NODES_OF_SHARES, 0.0, 1.0)
    squares = gammaincinv(freedom / 2, nodes**_STEEPNESS) * 2 / freedom
    return np.sqrt(squares), weights * _STEEPNESS * nodes ** (_STEEPNESS - 1)


@cache
def _nodes(
    count: int, low: float, high: float
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Nodes and weights of a Gauss-Legendre quadrature between two values."""
    nodes, weights = np.polynomial.legendre.leggauss(count)
    half = (high - low) / 2
    return nodes * half + (low + high) / 2, weights * half
