"""Load lines of a real server whose line is known.

The reference server serves one request at a time, with a fixed service time (M/D/1) or an
exponential one (M/M/1); limits of p99 are where theory has them at 50, 80 and 95 % load. Three more
servers have another limit: one stops for 200 ms every 3 s, one becomes slower after a minute, and
one does not accept for 200 ms while its listen queue takes 33 connections.

Service times are long, so a search needs little of the machine, and many run at the same time.
Threads that serve and that send run at real-time priority where that is allowed: what else the
machine does delays them little. What waking up and the way there and back take is measured all the
while on a server without a queue. The truth is the rate at which theory and these delays together
reach the limit: the distribution of the sum, since a few long delays move a p99 more than their
mean tells. A case is *prompt* if the delays lower its line by less than a tenth; else the machine
was too busy to tell where the line is.

A search is *close* if its line is within 3 % of the truth, and *holds* if its interval contains it.

Exit codes: 0 at least 19 of 20 searches of each case are close, 1 they are not, 3 the machine was
too busy for one of the cases.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from scipy.optimize import brentq

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import plimsoll
import queues
from plimsoll.load_line import limits
from workbench import host, page, prompt
from workbench.processes import Reference

CLOSE = 0.03
"""Greatest distance from the truth, as a share of it."""

LEAST_CLOSE = 0.95
"""Share of the searches that must be close."""

WITHIN = 0.01
"""Half the width of an interval that ends a search, as a share of the rate: most take all of their
budget."""

THEORY = {
    "M/D/1": ((), queues.md1_quantile_s, queues.md1_within),
    "M/M/1": (("--exponential",), queues.mm1_quantile_s, queues.mm1_within),
}
"""Options of the reference server, quantile and distribution of the response time."""

LOADS = (0.5, 0.8, 0.95)
LOWEST_LOAD = 0.1
SERVICE_S = 0.001
LONG_SERVICES_S = {("M/D/1", 0.5): 0.002}
"""Where delays of a tenth of a millisecond would move the line by a few percent."""

BUDGET_S, LONG_BUDGET_S = 300.0, 600.0
"""Seconds of a search: chance alone then keeps 3 % (`tests/unit/load_line/test_search.py`)."""

LONG = {("M/D/1", 0.5), ("M/M/1", 0.5), ("M/M/1", 0.95)}
"""Where services are longer, or as many requests say less of the line."""

STOP_S, STOP_EVERY_S, STOP_LIMIT_S = 0.2, 3.0, 0.1
SLOWER_AFTER_S, SLOWER_BY, SLOWER_LOAD = 60, 1.4, 0.8
FULL_S, FULL_EVERY_S, FULL_BACKLOG, FULL_LIMIT_S = 0.2, 0.7, 32, 0.5
"""The kernel sends again after 1 s what a full queue dropped: not into the next stop."""

FULL_SERVICE_S = 0.0005
"""Bounds the closed load that begins a search: at real-time priority it would take the cores."""

PATH = "/empty"

BESIDE = 10
"""Searches at the same time."""

FLOOR_RATE_PER_S, FLOOR_S = 100.0, 20.0

PROMPT = 0.1
"""Greatest share by which waking up and the way there and back may lower a line."""

STEPS_OF_A_LIMIT = 100
"""Delays are put together in steps of this share of a limit."""

TOO_BUSY = 3

Within = Callable[[float, float, float], float]
"""Share of the responses that take no longer, by that time, rate and service time."""

Array = np.ndarray[Any, np.dtype[np.float64]]

Truth = Callable[[Array], float]
"""The line, by what waking up and the way there and back took, in seconds."""

NO_DELAY: Array = np.zeros(1)


@dataclass(frozen=True)
class Case:
    """A server whose line is known.

    Attributes:
        name: What it is called.
        options: Options of the reference server.
        percent: Percentile of the limit.
        limit_s: The limit.
        truth_per_s: Gives the line.
        budget_s: Length of a search, in seconds.
        keep_alive: Whether a connection carries more than one request.
    """

    name: str
    options: tuple[str, ...]
    percent: float
    limit_s: float
    truth_per_s: Truth
    budget_s: float = BUDGET_S
    keep_alive: bool = True


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes:
        rate_per_s: The line; None where none was found.
        low: Lower end of its interval.
        high: Upper end.
        began_s: When it began, on the monotonic clock.
        ended_s: When it ended.
    """

    rate_per_s: float | None
    low: float
    high: float
    began_s: float
    ended_s: float


@dataclass(frozen=True)
class SearchOutcome:
    """A search beside the truth.

    Attributes:
        off: Line ÷ truth − 1; None where no line was found.
        holds: Whether the interval contains the truth.
        reach: Half the width of the interval / the truth.
        floor_s: What waking up and the way there and back took meanwhile, in seconds.
    """

    off: float | None
    holds: bool
    reach: float
    floor_s: Array

    @property
    def is_close(self) -> bool:
        """Whether the line is near the truth."""
        return self.off is not None and abs(self.off) <= CLOSE


def cases() -> list[Case]:
    """Every case."""
    loaded = [_loaded(name, load) for name in THEORY for load in LOADS]
    return [*loaded, _stopping(), _slowing(), _full()]


def _loaded(name: str, load: float) -> Case:
    options, quantile_s, within = THEORY[name]
    service_s = LONG_SERVICES_S.get((name, load), SERVICE_S)
    limit_s = quantile_s(0.99, load / service_s, service_s)
    return Case(
        name=f"{name} {load:.0%}",
        options=(*queue(service_s), *options),
        percent=99,
        limit_s=limit_s,
        truth_per_s=partial(_line_per_s, within, limit_s, service_s),
        budget_s=LONG_BUDGET_S if (name, load) in LONG else BUDGET_S,
    )


def queue(service_s: float) -> tuple[str, ...]:
    """Options of a reference server that is a queue with one server."""
    return ("--one-at-a-time", "--service-time", f"{round(service_s * 1e9)}ns")


def _line_per_s(within: Within, limit_s: float, service_s: float, floor_s: Array) -> float:
    """The rate at which the p99 of a response time and a delay is the limit; 0 for none."""
    delays = _put_together(floor_s, limit_s / STEPS_OF_A_LIMIT)

    def beyond(load: float) -> float:
        shares = (
            weight * within(limit_s - delay_s, load / service_s, service_s)
            for delay_s, weight in delays
            if delay_s < limit_s - service_s
        )
        return sum(shares) - 0.99

    if beyond(LOWEST_LOAD) <= 0:
        return 0.0
    return float(brentq(beyond, LOWEST_LOAD, 0.99, xtol=1e-6)) / service_s


def _put_together(times_s: Array, step_s: float) -> list[tuple[float, float]]:
    """The means of the times within each step, with their shares."""
    _, steps, counts = np.unique(times_s // step_s, return_inverse=True, return_counts=True)
    sums = np.bincount(steps, weights=times_s)
    return list(zip((sums / counts).tolist(), (counts / len(times_s)).tolist(), strict=True))


def _stopping() -> Case:
    limit = limits.latency(90, STOP_LIMIT_S)
    stops = (STOP_S, STOP_EVERY_S)
    truth_per_s = partial(queues.line_beside_stops, limit, SERVICE_S, stops, 0.001)
    stalling = ("--stall", f"{STOP_S}s", "--stall-every", f"{STOP_EVERY_S}s")
    options = (*queue(SERVICE_S), *stalling)
    return Case("stops", options, 90, STOP_LIMIT_S, lambda _: truth_per_s(), LONG_BUDGET_S)


def _slowing() -> Case:
    slower_s = SERVICE_S * SLOWER_BY
    limit_s = queues.md1_quantile_s(0.99, SLOWER_LOAD / slower_s, slower_s)
    slowing = ("--slower-after", f"{SLOWER_AFTER_S}s", "--slower-by", f"{SLOWER_BY}")
    truth = partial(_line_per_s, queues.md1_within, limit_s, slower_s)
    return Case("slower", (*queue(SERVICE_S), *slowing), 99, limit_s, truth, LONG_BUDGET_S)


def _full() -> Case:
    stalling = ("--stall", f"{FULL_S}s", "--stall-every", f"{FULL_EVERY_S}s")
    truth_per_s = queues.line_of_a_listen_queue(0.01, FULL_BACKLOG + 1, FULL_S, FULL_EVERY_S)
    return Case(
        name="listen queue",
        options=(*queue(FULL_SERVICE_S), *stalling, "--backlog", f"{FULL_BACKLOG}"),
        percent=99,
        limit_s=FULL_LIMIT_S,
        truth_per_s=lambda _: truth_per_s,
        budget_s=LONG_BUDGET_S,
        keep_alive=False,
    )


class Floor:
    """What waking up and the way there and back take, over time."""

    def __init__(self) -> None:
        """Nothing is measured yet."""
        self._measured: list[tuple[float, Array]] = []

    def measure(self) -> None:
        """Measures for some seconds."""
        cores = host.cores()
        options = ("--service-time", f"{round(SERVICE_S * 1e9)}ns")
        with (
            Reference((cores.server,), options=options) as server,
            plimsoll.load(
                server.address + PATH,
                rate_per_s=FLOOR_RATE_PER_S,
                duration_s=FLOOR_S,
                driver_cores=(cores.tool,),
            ) as result,
        ):
            complete = result.requests.filter("outcome = 'ok'")
            took_ns = complete.project("done_ns - due_ns AS took_ns").fetchnumpy()["took_ns"]
        if not len(took_ns):
            raise SystemExit("error: no response at a low rate")
        delays_s = np.maximum(0.0, np.asarray(took_ns, np.float64) / 1e9 - SERVICE_S)
        self._measured.append((time.monotonic(), delays_s))

    def between(self, began_s: float, ended_s: float) -> Array:
        """Those between two instants of the monotonic clock, in seconds."""
        inside = [times_s for at_s, times_s in self._measured if began_s <= at_s <= ended_s]
        return np.concatenate(inside or [self._measured[-1][1]])


def searched(
    options: tuple[str, ...], limit: str, seed: int, budget_s: float, *, keep_alive: bool
) -> Search:
    """Searches the line of a fresh server once."""
    cores, began_s = host.cores(), time.monotonic()
    with (
        Reference((cores.server,), options=(*options, "--seed", f"{seed}")) as server,
        plimsoll.line(
            server.address + PATH,
            limit,
            budget_s=budget_s,
            within=WITHIN,
            keep_alive=keep_alive,
            driver_cores=(cores.tool,),
        ) as result,
    ):
        edge = result.lines[0].edge
    ended_s = time.monotonic()
    if edge is None:
        return Search(None, 0.0, 0.0, began_s, ended_s)
    return Search(edge.rate_per_s, edge.interval.low, edge.interval.high, began_s, ended_s)


def outcome(case: Case, search: Search, floor: Floor) -> SearchOutcome:
    """A search beside the truth."""
    floor_s = floor.between(search.began_s, search.ended_s)
    truth_per_s = case.truth_per_s(floor_s)
    if search.rate_per_s is None or not truth_per_s:
        return SearchOutcome(None, holds=False, reach=0.0, floor_s=floor_s)
    return SearchOutcome(
        off=search.rate_per_s / truth_per_s - 1,
        holds=search.low <= truth_per_s <= search.high,
        reach=(search.high - search.low) / 2 / truth_per_s,
        floor_s=floor_s,
    )


def all_searched(
    wanted: Sequence[Case], searches: int, beside: int, budget_s: float | None
) -> Iterator[tuple[Case, SearchOutcome]]:
    """Every search as it ends, so many at a time; the floor is measured all the while."""
    floor = Floor()
    spawning = get_context("spawn")
    with prompt.promoting(), ProcessPoolExecutor(beside, spawning, max_tasks_per_child=1) as pool:
        running: dict[Future[Search], Case] = {}
        for case in wanted:
            limit = f"p{case.percent:g}={case.limit_s * 1e6:.3f}us"
            for seed in range(searches):
                length_s = budget_s or case.budget_s
                asked = (case.options, limit, seed, length_s)
                running[pool.submit(searched, *asked, keep_alive=case.keep_alive)] = case
        while running:
            floor.measure()
            for done in wait(running, timeout=0).done:
                yield (case := running.pop(done)), outcome(case, done.result(), floor)


def row(case: Case, found: Sequence[SearchOutcome]) -> tuple[str, ...]:
    """What the searches of a case amount to."""
    off = [one.off for one in found if one.off is not None]
    farthest = f"{max(map(abs, off)):.1%}" if off else ""
    floor_s = _floor_of(found)
    middle_s, p99_s, p999_s = np.quantile(floor_s, (0.5, 0.99, 0.999))
    return (
        case.name,
        f"p{case.percent:g} {case.limit_s * 1e3:.3g} ms",
        f"{case.truth_per_s(floor_s):,.0f}",
        f"{case.budget_s:,.0f}",
        f"{sum(one.is_close for one in found)} of {len(found)}",
        f"{median(off):+.1%}" if off else "",
        farthest,
        f"{sum(one.holds for one in found)} of {len(found)}",
        f"±{median(one.reach for one in found):.1%}",
        ", ".join(f"{each * 1e6:.0f}" for each in (middle_s, p99_s, p999_s)),
    )


def is_prompt(case: Case, found: Sequence[SearchOutcome]) -> bool:
    """Whether the machine was quiet enough to tell where the line is."""
    return case.truth_per_s(_floor_of(found)) >= (1 - PROMPT) * case.truth_per_s(NO_DELAY)


def _floor_of(found: Sequence[SearchOutcome]) -> Array:
    """What the way there and back took during all searches, in seconds."""
    return np.concatenate([one.floor_s for one in found])


HEAD = (
    *("server", "limit", "line, per second", "s", "within 3 %", "median", "farthest"),
    *("interval holds", "interval", "way and waking, µs: p50, p99, p99.9"),
)


def main(arguments: Sequence[str]) -> int:
    """Searches and prints.

    Args:
        arguments: The command line without the program.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--searches", type=int, default=20, help="of each case; 20")
    add("--beside", type=int, default=BESIDE, help=f"searches at the same time; {BESIDE}")
    add("--budget", type=float, help="seconds of each search; by default as long as its case needs")
    add("--only", default="", help="cases whose names contain one of these: 80%%,stops")
    asked = parser.parse_args(arguments)
    wanted = [case for case in cases() if any(each in case.name for each in asked.only.split(","))]
    if not wanted:
        parser.error(f"no case is called `{asked.only}`")
    found: dict[str, list[SearchOutcome]] = {case.name: [] for case in wanted}
    for case, one in all_searched(wanted, asked.searches, asked.beside, asked.budget):
        found[case.name].append(one)
        off = "no line" if one.off is None else f"{one.off:+.1%} ± {one.reach:.1%}"
        print(f"{case.name}: {off}", file=sys.stderr)
    print(f"{host.described()}.\n")
    print(page.table(HEAD, [row(case, found[case.name]) for case in wanted]))
    return verdict(wanted, found)


def verdict(wanted: Sequence[Case], found: Mapping[str, Sequence[SearchOutcome]]) -> int:
    """The exit code; says which cases the machine was too busy for."""
    busy = [case.name for case in wanted if not is_prompt(case, found[case.name])]
    if busy:
        print(f"error: the machine was too busy for {', '.join(busy)}", file=sys.stderr)
        return TOO_BUSY
    each = (found[case.name] for case in wanted)
    return int(any(sum(one.is_close for one in of) < LEAST_CLOSE * len(of) for of in each))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
