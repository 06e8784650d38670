"""Quantiles of the studentized range: how far apart the extremes of equal entries may come out.

`scipy.stats` takes a tenth of a second for one, and a campaign needs thousands, of which most have
nearly the same degrees of freedom. So they are worked out at fixed degrees of freedom, as they are
needed, and interpolated between: logarithms of quantiles are almost straight over 1 / degrees of
freedom (H. L. Harter, Annals of Mathematical Statistics 31, 1960).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

FREEDOMS = (0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0, 120.0, 1e6)
"""Degrees of freedom at which quantiles are worked out."""


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
    logarithms = [np.log(_quantile(entries, place, confidence)) for place in reversed(used)]
    return np.exp(np.interp(1 / clipped, inverse, logarithms))


def quantile(entries: int, freedom: float, confidence: float) -> float:
    """One of `quantiles`."""
    return float(quantiles(entries, np.array([freedom]), confidence)[0])


@cache
def _quantile(entries: int, place: int, confidence: float) -> float:
    from scipy.stats import studentized_range  # noqa: PLC0415 - most reports have no repetitions

    return float(studentized_range.ppf(confidence, entries, FREEDOMS[place]))
