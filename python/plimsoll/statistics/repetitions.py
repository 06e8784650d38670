"""Repetitions: how many decide, and whether longer ones would do as well.

Source:
    The intervals of `block_design`, where every entry is measured in every block and scatters
    alike; T. Kalibera and R. Jones, *Rigorous Benchmarking in Reasonable Time*, ISMM 2013 (variance
    on two levels, and the number that pays best).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from statistics import NormalDist

from plimsoll import statistics
from plimsoll.statistics.block_design import LEAST_FREEDOM, WORTH_OF_PRIOR
from plimsoll.statistics.intervals import CONFIDENCE

MOST = 10_000
"""The most repetitions that are considered."""

BY_CHANCE = 0.999
"""Share of scatters below the limit of chance; a campaign has many entries."""


def detectable_ratio(repetitions: int, scatter: float, entries: int) -> float:
    """The least ratio of two entries, less 1, that their simultaneous interval separates from 1.

    Args:
        repetitions: Repetitions of each entry; at least 2.
        scatter: Standard deviation of one repetition on logarithms.
        entries: Entries of the table; at least 2.
    """
    with_blocks = (entries - 1) * (repetitions - 1)
    has_blocks = with_blocks >= LEAST_FREEDOM
    freedom = with_blocks if has_blocks else entries * (repetitions - 1)
    inverse = 1 / freedom
    if not (has_blocks and entries == 2):  # noqa: PLR2004
        inverse *= WORTH_OF_PRIOR
        inverse += 1 / (2 * (WORTH_OF_PRIOR + freedom / entries))
    quantile = statistics.studentized_range.quantile(entries, 1 / inverse, CONFIDENCE)
    return math.expm1(quantile * scatter / math.sqrt(repetitions))


def needed(ratio: float, scatter: float, entries: int) -> int | None:
    """The least number of repetitions that detects so great a difference.

    Args:
        ratio: The ratio of two entries, less 1; greater than 0.
        scatter: As for `detectable_ratio`.
        entries: As for `detectable_ratio`.

    Returns:
        The number; None where it is beyond `MOST`.
    """
    fewest = 2 + bisect_left(
        range(2, MOST), -ratio, key=lambda number: -detectable_ratio(number, scatter, entries)
    )
    return fewest if fewest < MOST else None


def beyond_chance(deviation: float, error: float, repetitions: int) -> float:
    """The part of a scatter between repetitions that their own errors do not explain.

    Variances of so many numbers follow chi-squared, whose quantile is that of E. B. Wilson and M.
    M. Hilferty, Proceedings of the National Academy of Sciences 17, 1931.

    Args:
        deviation: Standard deviation over repetitions.
        error: Standard error of one repetition by what scatters within it, in the same unit.
        repetitions: How many there are; at least 2.

    Returns:
        A standard deviation; 0 where chance could have made all of it.
    """
    part = 2 / (9 * (repetitions - 1))
    most = (1 - part + NormalDist().inv_cdf(BY_CHANCE) * math.sqrt(part)) ** 3
    if deviation**2 <= most * error**2:
        return 0.0
    return math.sqrt(deviation**2 - error**2)


def best_hold_s(
    scatter: float, second_scatter: float, hold_s: float, overhead_s: float
) -> float | None:
    """How long a hold pays best, where starting another trial costs time as well.

    The variance of a trial is that between trials and that of its seconds / their number. For a
    given total of time the variance of the mean is least at
    √(overhead × variance of a second / variance between trials).

    Args:
        scatter: Standard deviation of one trial, on logarithms.
        second_scatter: Standard deviation of one second within a trial, on logarithms.
        hold_s: How long the holds were, in seconds.
        overhead_s: What else a trial takes, in seconds.

    Returns:
        The length in seconds; None where all scatter of trials is that of their seconds, so that
        longer holds are as good as more of them and spare the overhead.
    """
    between = scatter**2 - second_scatter**2 / hold_s
    if between <= 0:
        return None
    return math.sqrt(overhead_s * second_scatter**2 / between)
