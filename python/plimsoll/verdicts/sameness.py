"""Sameness: numbers that should differ and do not; plain arithmetic on any figures.

Results of different servers, or of different work, are rarely alike. Where they are, something that
all of them share was measured: the load tool, the network, or the same run twice. Nothing here
knows where a number comes from, so it serves trials and published figures alike.

Source: arithmetic of this project; the widths are first proposals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise

FACTOR = 10.0
"""Responses that differ by less than this factor need not cost differently."""

FEWEST_STEPS = 5
"""Two series with fewer steps in common may be alike by chance."""


def spread_ratio(values: Sequence[float]) -> float:
    """How far apart some numbers lie: (greatest − least) / greatest.

    Args:
        values: At least one number, none of them negative.

    Returns:
        0 where all are the same, also where all are 0.
    """
    most = max(values)
    return (most - min(values)) / most if most else 0.0


def top_group(values: Mapping[str, float], within_ratio: float) -> tuple[str, ...]:
    """The names whose numbers lie within a ratio of the greatest one, the greatest first.

    Args:
        values: Name to number, such as server to throughput.
        within_ratio: 0.02 for 2 % below the greatest.
    """
    ordered = sorted(values, key=lambda name: (-values[name], name))
    return tuple(
        name for name in ordered if values[name] >= values[ordered[0]] * (1 - within_ratio)
    )


def insensitive_group(
    throughputs: Mapping[str, float],
    bodies: Mapping[str, float],
    within_ratio: float,
    least_factor: float = FACTOR,
) -> tuple[str, ...]:
    """The endpoints whose throughput is alike although their bodies are not.

    Args:
        throughputs: Endpoint to throughput.
        bodies: Endpoint to length of its responses in bytes; one that is left out is not compared.
        within_ratio: How far apart throughputs that are alike may lie, as `spread_ratio` has it.
        least_factor: By which factor the bodies must differ; one of 0 bytes counts as 1 byte.

    Returns:
        The largest such group, the shortest body first; empty when there is none.
    """
    known = sorted((name for name in throughputs if name in bodies), key=lambda n: throughputs[n])
    groups = (
        [name for name in known[start:] if _is_alike(throughputs, known[start], name, within_ratio)]
        for start in range(len(known))
    )
    differing = [group for group in groups if _factor(group, bodies) >= least_factor]
    if not differing:
        return ()
    return tuple(sorted(max(differing, key=len), key=lambda name: (bodies[name], name)))


def identical_pairs(
    series: Mapping[str, Sequence[float]], within_ratio: float
) -> tuple[tuple[str, str], ...]:
    """Pairs of names whose series are the same, step for step.

    Args:
        series: Name to its numbers, step by step; series of different lengths are not compared.
        within_ratio: How far apart two numbers that are the same may lie.
    """
    return tuple(
        (one, other)
        for one, other in combinations(series, 2)
        if are_identical(series[one], series[other], within_ratio)
    )


def are_identical(one: Sequence[float], other: Sequence[float], within_ratio: float) -> bool:
    """Whether two series are the same, step for step.

    Series that hardly change are alike whenever their levels are, so those must be equal to the
    last digit. A series with fewer than five steps is like no other one.

    Args:
        one: Numbers, step by step.
        other: The other numbers.
        within_ratio: How far apart two numbers that are the same may lie.
    """
    if len(one) != len(other) or len(one) < FEWEST_STEPS or not max(one):
        return False
    if not all(spread_ratio(step) <= within_ratio for step in zip(one, other, strict=True)):
        return False
    return list(one) == list(other) or _varies(one, within_ratio)


def _varies(series: Sequence[float], within_ratio: float) -> bool:
    """Whether more than half of the steps of a series lead further than sameness reaches."""
    far = [spread_ratio(step) > 2 * within_ratio for step in pairwise(series)]
    return sum(far) * 2 > len(far)


def _is_alike(throughputs: Mapping[str, float], least: str, name: str, within_ratio: float) -> bool:
    return spread_ratio([throughputs[least], throughputs[name]]) <= within_ratio


def _factor(group: Sequence[str], bodies: Mapping[str, float]) -> float:
    lengths = [max(1.0, bodies[name]) for name in group]
    return max(lengths) / min(lengths)
