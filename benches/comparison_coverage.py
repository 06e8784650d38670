"""How often the intervals of `compare` hold: simulated comparisons, in which the truth is known.

Two servers take turns on a simulated machine, and work side by side; groups are measured, looked at
and stopped by the code that `compare` runs. Every comparison is stopped as soon as it is decided,
which is where an ordinary interval fails. An interval *holds* if at the end those of throughput and
of CPU time per request hold both true ratios. The machines:

- *steady*: turns scatter by 2 %, fresh processes by 0.7 %;
- *drift*: its speed falls by 20 % in each group, and wanders;
- *steps*: its speed jumps between two levels, a fifth apart, on average every fifth turn;
- *heavy tails*: turns and processes scatter as Student's t with 3 degrees of freedom;
- *theft*: another program takes up to half of the processor, anew in each turn;
- *stalls*: B loses half of one turn in ten (throughput only; the true ratio is that of totals).

Columns: intervals that hold; the same with an ordinary interval of each look; comparisons that end
with an answer; answers that are wrong (`faster` or `slower` without a difference or to the wrong
side, `same` beyond the tolerance); groups that it took on average.

The second table has half the width of intervals in standard errors at the last look: an ordinary
one, ours, and a confidence sequence (anytime-valid t interval). The third one has what is left of a
slowdown after the load generator's CPU time per request has been used as covariate.

Exit codes: 0 at least 94.5 % of the intervals hold, but for chance, 1 they do not.

Source:
    Anytime-valid: H. Wang and A. Ramdas, *Anytime-valid t-tests and confidence sequences for
    Gaussian means with unknown variance*, 2023, after T. L. Lai, Annals of Statistics 4, 1976.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, stats

from plimsoll.comparison.difference import ERROR, Difference
from plimsoll.comparison.turn_pairs import A, B
from plimsoll.comparison.until_decided import Compared, MeasuredGroup, StoppingRule, compared
from plimsoll.recording.turns import Turn
from plimsoll.statistics import sequential

Array = np.ndarray[Any, Any]

ALONE_ROUNDS = 15
TURN_NS = 50_000_000
BESIDE_ROUNDS = 8
BESIDE_NS = 250_000_000
STARTS_S = 5.0
BUDGET_S = 120.0
BASE_PER_S = 20_000
LEAST = 0.945
STEP_RATIO = 0.2
"""Share of turns before which the speed of the machine jumps."""

STALLED = 0.1
"""Share of B's turns that lose half of their time to a stall."""


@dataclass(frozen=True)
class Machine:
    """What a simulated machine does to servers.

    Attributes:
        name: What is special about it.
        turn: Standard deviation of single turns, on logarithms.
        start: Standard deviation of fresh processes, on logarithms.
        tails: Degrees of freedom of Student's t that both scatter by; None for normal ones.
        fall: How much its speed falls within a group.
        step: How much its speed jumps.
        theft: The most that another program takes of the processor.
        stalls: Whether B stalls in one turn of ten.
    """

    name: str
    turn: float = 0.02
    start: float = 0.007
    tails: int | None = None
    fall: float = 0.0
    step: float = 0.0
    theft: float = 0.0
    stalls: bool = False


MACHINES = (
    Machine("steady"),
    Machine("drift", fall=0.2),
    Machine("steps", step=0.2),
    Machine("heavy tails", turn=0.04, start=0.01, tails=3),
    Machine("theft", theft=0.5),
    Machine("stalls", stalls=True),
)


class Simulation:
    """Groups of two servers on one machine.

    Args:
        machine: What the machine does.
        slowdown: How much more a request costs B: 0.03.
        seed: Seed of everything that is random.
    """

    def __init__(self, machine: Machine, slowdown: float, seed: int) -> None:
        """Begin at time 0."""
        self.now_s = 0.0
        self._machine = machine
        self._slowdown = slowdown
        self._rng = np.random.default_rng(seed)

    def group(self, number: int) -> MeasuredGroup:
        """The turns of one group, as the engine gives them."""
        machine, rng = self._machine, self._rng
        starts = {A: machine.start * self._noise(), B: machine.start * self._noise()}
        speed = 0.05 * rng.standard_normal()
        is_slow = False
        found: list[Turn] = []
        for round_ in range(ALONE_ROUNDS):
            for entry in rng.permutation([A, B]).tolist():
                speed += 0.01 * rng.standard_normal() - machine.fall / ALONE_ROUNDS / 2
                is_slow ^= bool(rng.random() < STEP_RATIO)
                now = speed - machine.step * is_slow
                found.append(self._turn(number, round_, entry, now, starts[entry]))
        beside = tuple(
            self._turn(number, round_, entry, speed, starts[entry], BESIDE_NS, share=0.5)
            for round_ in range(BESIDE_ROUNDS)
            for entry in (A, B)
        )
        self.now_s += STARTS_S + (len(found) * TURN_NS + BESIDE_ROUNDS * BESIDE_NS) / 1e9
        return MeasuredGroup(tuple(found), side_by_side=beside)

    def _turn(
        self,
        group: int,
        round_: int,
        entry: str,
        speed: float,
        start: float,
        turn_ns: int = TURN_NS,
        *,
        share: float = 1.0,
    ) -> Turn:
        machine = self._machine
        slower = math.log1p(self._slowdown) if entry == B else 0.0
        cost_ns = 1e9 / BASE_PER_S * math.exp(slower + start - speed + machine.turn * self._noise())
        stolen = machine.theft * self._rng.random()
        stalled = machine.stalls and entry == B and self._rng.random() < STALLED
        got_ns = turn_ns * share * (1 - stolen) * (0.5 if stalled else 1.0)
        requests = max(1, round(got_ns / cost_ns))
        return Turn(
            group=group,
            round=round_,
            entry=entry,
            start_ns=0,
            duration_ns=turn_ns,
            requests=requests,
            failures=0,
            server_cpu_ns=round(got_ns),
            driver_cpu_ns=round(requests * 5_000 * math.exp(-speed)),
            server_delay_ns=round(turn_ns * (1 - share * (1 - stolen))),
            driver_delay_ns=0,
        )

    def _noise(self) -> float:
        tails = self._machine.tails
        if tails is None:
            return float(self._rng.standard_normal())
        return float(self._rng.standard_t(tails)) / math.sqrt(tails / (tails - 2))


@dataclass(frozen=True)
class Found:
    """What simulated comparisons found, each a share of them.

    Attributes:
        held: Both intervals held at the end.
        ordinary: Ordinary intervals would have held at the end.
        decided: There was an answer.
        wrong: The answer was wrong.
        groups: Groups, on average.
    """

    held: float
    ordinary: float
    decided: float
    wrong: float
    groups: float


def found(machine: Machine, slowdown: float, count: int) -> Found:
    """What so many comparisons on one machine find.

    Args:
        machine: The machine.
        slowdown: How much more a request costs B.
        count: Comparisons.
    """
    lost = 1 - STALLED / 2 if machine.stalls else 1.0
    rows = []
    for seed in range(count):
        simulation = Simulation(machine, slowdown, seed)
        end = compared(
            simulation.group,
            StoppingRule(BUDGET_S),
            clock_s=lambda one=simulation: one.now_s,
        )
        rows.append(_row(end, lost / (1 + slowdown), 1 + slowdown))
    return Found(*(float(column) for column in np.mean(rows, axis=0)))


def _row(end: Compared, rate: float, cost: float) -> tuple[float, ...]:
    seen = end.difference
    held = _holds(seen, rate, cost, ordinary=False)
    ordinary = _holds(seen, rate, cost, ordinary=True)
    return held, ordinary, seen.answer != "undecided", _is_wrong(seen, rate, cost), seen.groups


def _holds(seen: Difference, rate: float, cost: float, *, ordinary: bool) -> bool:
    """Whether the intervals of both witnesses hold the truth."""
    for ratio, truth in ((seen.throughput, rate), (seen.cpu_per_request, cost)):
        if ratio is None or ratio.interval is None:
            continue
        reach = ratio.reach or 0.0
        if ordinary and ratio.scatter is not None:
            quantile = float(stats.t.ppf(1 - ERROR / 4, ratio.groups - 1))
            reach = quantile * ratio.scatter / math.sqrt(ratio.groups)
        if abs(math.log(ratio.value / truth)) > reach:
            return False
    return True


def _is_wrong(seen: Difference, rate: float, cost: float) -> bool:
    truth = 1 / cost if seen.witness == "cpu_per_request" else rate
    if seen.answer == "same":
        return abs(math.log(truth)) > math.log1p(seen.within)
    if seen.answer == "undecided":
        return False
    return truth == 1 or (truth > 1) != (seen.answer == "faster")


def anytime_reach(count: int, error: float) -> float:
    """Half the width of an anytime-valid t interval in standard errors, its prior the best one."""
    freedom = count - 1

    def bound(log_prior: float) -> float:
        gain = 1 + count * math.exp(log_prior)
        limit = (math.sqrt(gain) / error) ** (2 / count)
        return math.sqrt(freedom * (limit - 1) / (1 - limit / gain)) if limit < gain else 1e6

    return float(optimize.minimize_scalar(bound, bounds=(-4, 8), method="bounded").fun)


def kept_after_adjustment(slowdown: float, *, centred: bool) -> float:
    """What is left of a slowdown of B when the load generator's cost is used as covariate.

    The load generator waits more often when the server is slow by itself, and each wake-up costs
    it: its CPU time per request rises with the idle share, at an unchanging speed of the machine.

    Args:
        slowdown: How much more a request costs B.
        centred: Whether the covariate is centred in each group, so that it cannot move the mean.

    Returns:
        Logarithm of the estimated slowdown / that of the true one.
    """
    server, driver = _costs(slowdown)
    inside = driver - driver.mean(axis=1, keepdims=True)
    slope = float((inside * server).sum() / (inside**2).sum())
    adjusted = server - slope * (inside if centred else driver)
    return float(adjusted.mean()) / math.log1p(slowdown)


def kept_unadjusted(slowdown: float) -> float:
    """What `kept_after_adjustment` gives without any covariate."""
    server, _ = _costs(slowdown)
    return float(server.mean()) / math.log1p(slowdown)


def _costs(slowdown: float) -> tuple[Array, Array]:
    """B / A on logarithms of the server's and the load generator's cost, a row for each group."""
    rng = np.random.default_rng(round(1000 * slowdown))
    size = (12, 40)
    machine = 0.05 * rng.standard_normal(size)
    server = machine + 0.01 * rng.standard_normal(size) + math.log1p(slowdown)
    driver = machine + 0.01 * rng.standard_normal(size) + 0.5 * math.log1p(slowdown)
    return server, driver


def lines(count: int) -> Iterator[tuple[str, float]]:
    """Lines of Markdown, each with the share of intervals that hold in it."""
    yield "| machine | B costs | hold | ordinary | answered | wrong | groups |", 1.0
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |", 1.0
    for machine in MACHINES:
        for slowdown in (0.0, 0.03):
            seen = found(machine, slowdown, count)
            shares = (seen.held, seen.ordinary, seen.decided, seen.wrong)
            cells = [f"{100 * share:.1f} %" for share in shares]
            head = f"| {machine.name} | +{100 * slowdown:.0f} % | "
            yield head + " | ".join([*cells, f"{seen.groups:.1f}"]) + " |", seen.held


def main() -> int:
    """Prints the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--comparisons", type=int, default=2000, help="of each kind")
    count: int = parser.parse_args().comparisons
    worst = 1.0
    for line, held in lines(count):
        print(line, flush=True)
        worst = min(worst, held)
    print("\n| groups | ordinary | ours | confidence sequence |\n| ---: | ---: | ---: | ---: |")
    for groups in (4, 6, 8, 12, 20, 30):
        ordinary = float(stats.t.ppf(1 - ERROR / 4, groups - 1))
        ours = sequential.reach(sequential.looks(groups), groups, ERROR / 2)
        anytime = anytime_reach(groups, ERROR / 2)
        print(f"| {groups} | {ordinary:.2f} | {ours:.2f} | {anytime:.2f} |")
    print("\n| B costs | raw | covariate | centred |\n| ---: | ---: | ---: | ---: |")
    for slowdown in (0.03, 0.1, 0.3):
        kept = [kept_after_adjustment(slowdown, centred=centred) for centred in (False, True)]
        shares = " | ".join(f"{100 * one:.0f} %" for one in (kept_unadjusted(slowdown), *kept))
        print(f"| +{100 * slowdown:.0f} % | {shares} |")
    return int(worst < LEAST - 2 * math.sqrt(ERROR * (1 - ERROR) / count))


if __name__ == "__main__":
    sys.exit(main())
