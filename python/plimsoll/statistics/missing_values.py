"""Statistics of some numbers where others are missing."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def known(values: Iterable[float | None]) -> list[float]:
    """The values that are known."""
    return [value for value in values if value is not None]


def median_of_known(values: Iterable[float | None]) -> float | None:
    """Their median; None where none is known."""
    found = known(values)
    return median(found) if found else None
