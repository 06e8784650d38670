"""How often rankings claim what is not so: simulated tables, in which the truth is known.

Tables of 6 and of 20 servers, 2, 3 and 5 repetitions. Each repetition is a block with a drift of
its own (standard deviation 8 %), each server scatters by 5 %. A claim is false where a server is
reported ahead of its equal; counted are tables with any false claim. Power is the share of pairs
distinguished where the servers stand in steps (25 % for 6 of them, 10 % for 20). Beside the model
of rankings (`statistics.block_design`) stand:

- *pairwise*: Welch's test of each pair at 5 %, without blocks, as rankings were made before;
- *Tukey*: the same model, one pooled variance, Tukey's intervals;
- *oracle*: knows every variance; no method that has to estimate them can do better.

A second table has the half-width of intervals of the others where one of five servers, each started
six times, scatters more than they do.

A third table has the coverage of intervals of single numbers: Student's on logarithms beside a
bootstrap of the median, at 2 to 30 repetitions.

Exit codes: 0 false claims stay within 5 % but for chance (3 standard errors), 1 they do not.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from plimsoll.statistics import studentized_range
from plimsoll.statistics.block_design import BlockDesign
from plimsoll.statistics.comparison import EFFECT
from plimsoll.statistics.intervals import interval

Array = np.ndarray[Any, Any]

SCATTER, DRIFT, NOISIER = 0.05, 0.08, 5
STEPS = {6: 1.25, 20: 1.10}
REPETITIONS = (2, 3, 5)
COUNTS = (2, 3, 5, 7, 8, 10, 15, 30)
ALLOWED = 0.05
FAR = 1e6
"""Degrees of freedom of a variance that is known."""


@dataclass(frozen=True)
class Truth:
    """What simulated tables are drawn from.

    Attributes:
        name: What is special about it.
        tails: Degrees of freedom of Student's t that errors are drawn from; None for normal ones.
        is_noisy: Whether the first server scatters `NOISIER` times as much as the others.
        has_void: Whether a seventh of the trials is void.
    """

    name: str
    tails: int | None = None
    is_noisy: bool = False
    has_void: bool = False

    def design(self, servers: int, repetitions: int) -> BlockDesign:
        """The cells of its tables."""
        cells = [
            (server, block)
            for server, block in product(range(servers), range(repetitions))
            if not (self.has_void and (server + 3 * block) % 7 == 1)
        ]
        owners, blocks = zip(*cells, strict=True)
        return BlockDesign(owners, blocks)

    def scatters(self, servers: int) -> Array:
        """Standard deviation of each server."""
        found = np.full(servers, SCATTER)
        found[0] *= NOISIER if self.is_noisy else 1
        return found

    def tables(self, design: BlockDesign, count: int, levels: Array, seed: int) -> Array:
        """Logarithms of many tables, each a row."""
        rng = np.random.default_rng(seed)
        size = (count, len(design.entries))
        errors = rng.standard_normal(size)
        if self.tails:
            errors = rng.standard_t(self.tails, size) / math.sqrt(self.tails / (self.tails - 2))
        owners, blocks = np.array(design.entries), np.array(design.blocks)
        drifts = DRIFT * rng.standard_normal((count, int(blocks.max()) + 1))
        return levels[owners] + drifts[:, blocks] + self.scatters(design.count)[owners] * errors


TRUTHS = (
    Truth("normal"),
    Truth("heavy tails", tails=3),
    Truth("one noisy server", is_noisy=True),
    Truth("void trials", has_void=True),
)

Method = Callable[[BlockDesign, Array, Truth], tuple[Array, Array]]
"""Differences of all pairs and half the width of their intervals."""


def model(design: BlockDesign, logarithms: Array, _: Truth) -> tuple[Array, Array]:
    """What rankings use."""
    found = design.differences(logarithms)
    return found.values, found.reaches


def tukey(design: BlockDesign, logarithms: Array, _: Truth) -> tuple[Array, Array]:
    """One pooled variance; Tukey and Kramer."""
    found = design.differences(logarithms)
    spread = np.sqrt((design.weights**2).sum(axis=1) / 2)
    quantile = studentized_range.quantile(design.count, design.freedom, 1 - ALLOWED)
    return found.values, quantile * np.sqrt(found.variances)[:, None] * spread


def oracle(design: BlockDesign, logarithms: Array, truth: Truth) -> tuple[Array, Array]:
    """Every variance is known."""
    variances = truth.scatters(design.count)[np.array(design.entries)] ** 2
    errors = np.sqrt((design.weights**2 * variances).sum(axis=1) / 2)
    quantile = studentized_range.quantile(design.count, FAR, 1 - ALLOWED)
    values = design.values(logarithms)
    return values, np.broadcast_to(quantile * errors, values.shape)


def pairwise(design: BlockDesign, logarithms: Array, _: Truth) -> tuple[Array, Array]:
    """Welch's test of each pair; with one repetition on a side nothing is distinguished."""
    owners = np.array(design.entries)
    own = [logarithms[:, owners == server] for server in range(design.count)]
    means = np.array([found.mean(axis=1) for found in own])
    counts = [found.shape[1] for found in own]
    parts = [
        found.var(axis=1, ddof=1) / count if count > 1 else np.full(len(found), np.inf)
        for found, count in zip(own, counts, strict=True)
    ]
    values, reaches = [], []
    for one, other in design.pairs:
        first, second = parts[one], parts[other]
        values.append(means[one] - means[other])
        if 1 in (counts[one], counts[other]):
            reaches.append(first + second)
            continue
        weights = first**2 / (counts[one] - 1) + second**2 / (counts[other] - 1)
        freedom = (first + second) ** 2 / weights
        reaches.append(stats.t.ppf(1 - ALLOWED / 2, freedom) * np.sqrt(first + second))
    return np.array(values).T, np.array(reaches).T


METHODS: dict[str, Method] = {
    "model": model,
    "Tukey": tukey,
    "pairwise": pairwise,
    "oracle": oracle,
}


def false_claims(
    method: Method, truth: Truth, servers: int, repetitions: int, tables: int
) -> float:
    """Share of tables of equal servers with any false claim."""
    design = truth.design(servers, repetitions)
    values, reaches = method(
        design, truth.tables(design, tables, np.zeros(servers), seed=servers + repetitions), truth
    )
    claimed = (np.abs(values) > reaches) & (np.abs(values) > math.log1p(EFFECT))
    return float(claimed.any(axis=1).mean())


def power(method: Method, truth: Truth, servers: int, repetitions: int, tables: int) -> float:
    """Share of pairs distinguished where servers stand in steps."""
    design = truth.design(servers, repetitions)
    levels = math.log(STEPS[servers]) * np.arange(servers)
    values, reaches = method(
        design, truth.tables(design, tables, levels, seed=100 + servers + repetitions), truth
    )
    return float((values < -reaches).mean())


def width_of_others(method: Method, truth: Truth, tables: int) -> float:
    """Median half-width of the intervals between all servers but the first, of 5 with 6 starts."""
    design = truth.design(5, 6)
    _, reaches = method(design, truth.tables(design, tables, np.zeros(5), seed=11), truth)
    others = [place for place, (one, _) in enumerate(design.pairs) if one]
    return float(np.median(np.expm1(reaches[:, others])))


def coverage(count: int, tails: int | None, tries: int, *, bootstrap: bool = False) -> float:
    """Share of the intervals of so many repetitions that hold the true median."""
    rng = np.random.default_rng(count)
    size = (tries, count)
    errors = rng.standard_normal(size) if tails is None else rng.standard_t(tails, size)
    values = np.exp(SCATTER * errors)
    held = [_bootstrapped(one, rng) if bootstrap else _student(one) for one in values]
    return float(np.mean(held))


def _student(values: Array) -> bool:
    found = interval(values.tolist())
    return found is not None and found.holds(1.0)


def _bootstrapped(values: Array, rng: np.random.Generator) -> bool:
    """Whether the percentiles of medians of values drawn again hold the true one."""
    drawn = np.median(rng.choice(values, (999, len(values))), axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return bool(low <= 1 <= high)


def lines(tables: int) -> Iterator[tuple[str, float]]:
    """Lines of Markdown, each with the greatest share of false claims of the model in it."""
    columns = [f"{kind} {name}" for kind in ("false,", "power,") for name in METHODS]
    yield f"| servers | repetitions | truth | {' | '.join(columns)} |", 0.0
    yield f"| ---: | ---: | --- |{' ---: |' * len(columns)}", 0.0
    for servers, repetitions, truth in product(STEPS, REPETITIONS, TRUTHS):
        case = (truth, servers, repetitions, tables)
        wrong = {name: false_claims(method, *case) for name, method in METHODS.items()}
        found = [power(method, *case) for method in METHODS.values()]
        cells = [f"{100 * value:.1f} %" for value in wrong.values()]
        cells += [f"{value:.2f}" for value in found]
        head = f"| {servers} | {repetitions} | {truth.name} | "
        yield head + " | ".join(cells) + " |", wrong["model"]


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tables", type=int, default=2000, help="simulated tables of each kind")
    tables: int = parser.parse_args().tables
    worst = 0.0
    for line, wrong in lines(tables):
        print(line, flush=True)
        worst = max(worst, wrong)
    print(f"\n| truth | {' | '.join(METHODS)} |\n| --- |{' ---: |' * len(METHODS)}")
    for truth in TRUTHS:
        widths = [width_of_others(method, truth, tables) for method in METHODS.values()]
        print(f"| {truth.name} | " + " | ".join(f"±{100 * width:.1f} %" for width in widths) + " |")
    print("\n| repetitions | Student, normal | Student, heavy tails | bootstrap, normal |")
    print("| ---: | ---: | ---: | ---: |")
    for count in COUNTS:
        shares = (
            coverage(count, None, tables),
            coverage(count, 3, tables),
            coverage(count, None, tables, bootstrap=True),
        )
        print(f"| {count} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |")
    error = math.sqrt(ALLOWED * (1 - ALLOWED) / tables)
    return int(worst > ALLOWED + 3 * error)


if __name__ == "__main__":
    sys.exit(main())
