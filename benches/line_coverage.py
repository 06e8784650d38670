"""How often the interval of a load line holds: simulated, so that the truth is known.

Tries at rates near an edge, each on a process with an edge of its own, normal on logarithms around
that of the typical one. Far below the edge the odds of a miss grow by e^(slope · x) when the rate
grows by e^x: slopes of 8 and 60 are those of a server half and nearly full. Misses come in clumps.
An interval *holds* if the edge of the typical process is in it.

Columns: intervals that hold; the same if processes were taken as alike (as `plimsoll line` does, on
one process); half the width of the intervals, as a share of the rate.

Exit codes: 0 at least 94.5 % of the intervals hold, but for chance, 1 they do not.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from itertools import product

import numpy as np

from plimsoll.statistics.edge import Count, count, edge

ALLOWED = 0.01
EDGE_PER_S = 1000.0
LEAST = 0.945
BLOCKS, PER_BLOCK, CLUMP = 20, 200, 5
SLOPES = (8.0, 60.0)
SCATTERS = (0.0, 0.02, 0.05, 0.12)
TRIES = (8, 14)


@dataclass(frozen=True)
class Coverage:
    """What the intervals of one case amount to.

    Attributes:
        held: Share of the intervals that hold the edge.
        held_if_alike: The same where processes are taken as alike.
        reach: Half their width / the rate, the median.
        simulated: Number of intervals.
    """

    held: float
    held_if_alike: float
    reach: float
    simulated: int


def tries(luck: np.random.Generator, slope: float, scatter: float, amount: int) -> list[Count]:
    """Tries as a search has them: some on the way up, most near the edge.

    Args:
        luck: Draws rates, processes and misses.
        slope: Of the logarithm of the odds of a miss.
        scatter: Standard deviation of the edges of processes, on logarithms.
        amount: How many tries.
    """
    far = np.log((0.5, 0.7, 0.85))
    near = luck.uniform(-0.06, 0.06, amount - len(far))
    found: list[Count] = []
    for place in (*far, *near):
        beyond = slope * (place - luck.normal(0.0, scatter))
        odds = ALLOWED / (1 - ALLOWED) * math.exp(min(beyond, 40.0))
        clumps = luck.binomial(PER_BLOCK // CLUMP, odds / (1 + odds), BLOCKS)
        rate_per_s = EDGE_PER_S * math.exp(place)
        found.append(count(rate_per_s, rate_per_s, [PER_BLOCK] * BLOCKS, (CLUMP * clumps).tolist()))
    return found


def coverage(slope: float, scatter: float, amount: int, simulated: int) -> Coverage:
    """How often intervals hold in one case."""
    held, alike, reaches = 0, 0, list[float]()
    for seed in range(simulated):
        counts = tries(np.random.default_rng(seed), slope, scatter, amount)
        found = edge(counts, ALLOWED, has_processes=True)
        as_one = edge(counts, ALLOWED)
        if found is None or as_one is None:
            continue
        reaches.append(found.reach)
        held += found.interval.holds(EDGE_PER_S)
        alike += as_one.interval.holds(EDGE_PER_S)
    known = max(1, len(reaches))
    return Coverage(held / known, alike / known, float(np.median(reaches)), len(reaches))


def main() -> int:
    """Prints a row for each case."""
    parser = argparse.ArgumentParser(description="How often intervals of load lines hold.")
    parser.add_argument("--simulated", type=int, default=400, help="intervals of each case")
    asked = parser.parse_args()
    print("slope  processes ±  tries  hold     if alike  half-width")
    misses = False
    for slope, scatter, amount in product(SLOPES, SCATTERS, TRIES):
        found = coverage(slope, scatter, amount, asked.simulated)
        chance = 2 * math.sqrt(LEAST * (1 - LEAST) / found.simulated)
        misses |= found.held < LEAST - chance
        print(
            f"{slope:>5g}  {scatter:>10.0%}  {amount:>5}  {found.held:>6.1%}  "
            f"{found.held_if_alike:>8.1%}  {found.reach:>9.1%}",
            flush=True,
        )
    return int(misses)


if __name__ == "__main__":
    sys.exit(main())
