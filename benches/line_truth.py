"""Load lines of a real server whose line is known.

The reference server serves one request at a time, with a fixed service time (M/D/1) or an
exponential one (M/M/1); limits of p99 are where theory has them at 50, 80 and 95 % load. Three more
servers have another limit: one stops for 200 ms every 3 s, one becomes slower after a minute, and
one does not accept for 100 ms while its listen queue takes 33 connections.

A limit is what theory says plus what waking up and the way there and back take, measured before
each search at a low rate. Server and load generator have a core each; the machine must be quiet.
A search is *close* if its line is within 3 % of the truth, and *holds* if its interval contains it.

Exit codes: 0 at least 19 of 20 searches of each case are close, 1 they are not.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import plimsoll
import queues
from plimsoll.load_line import limits
from workbench import host, page
from workbench.processes import Reference

CLOSE = 0.03
"""Greatest distance from the truth, as a share of it."""

LEAST_CLOSE = 0.95
"""Share of the searches that must be close."""

WITHIN = 0.02
"""Half the width of an interval that ends a search, as a share of the rate."""

LOADS = (0.5, 0.8, 0.95)

STOP_S, STOP_EVERY_S, STOP_LIMIT_S = 0.2, 3.0, 0.1
SLOWER_AFTER_S, SLOWER_BY, SLOWER_LOAD = 60, 1.4, 0.8
FULL_S, FULL_EVERY_S, FULL_BACKLOG, FULL_LIMIT_S = 0.1, 0.7, 32, 0.5
"""The kernel sends again after 1 s what a full queue dropped: not into the next stop."""

PATH = "/empty"

FLOOR_RATE_PER_S, FLOOR_S = 100.0, 3.0


@dataclass(frozen=True)
class Case:
    """A server whose line is known.

    Attributes:
        name: What it is called.
        options: Options of the reference server.
        percent: Percentile of the limit.
        limit_s: The limit, without what the way there and back takes.
        truth_per_s: The line.
        keep_alive: Whether a connection carries more than one request.
        least_budget_s: Shortest search that can find the line, in seconds.
    """

    name: str
    options: tuple[str, ...]
    percent: float
    limit_s: float
    truth_per_s: float
    keep_alive: bool = True
    least_budget_s: float = 0.0


@dataclass(frozen=True)
class SearchOutcome:
    """A search of a known line.

    Attributes:
        off: Line ÷ truth − 1; None where no line was found.
        holds: Whether the interval contains the truth.
        floor_s: What waking up and the way there and back took, in seconds.
    """

    off: float | None
    holds: bool
    floor_s: float

    @property
    def is_close(self) -> bool:
        """Whether the line is near the truth."""
        return self.off is not None and abs(self.off) <= CLOSE


def cases(service_s: float) -> list[Case]:
    """Every case, for a service time in seconds."""
    queue = ("--one-at-a-time", "--service-time", f"{round(service_s * 1e9)}ns")
    theory = {
        "M/D/1": (queue, queues.md1_quantile_s),
        "M/M/1": ((*queue, "--exponential"), queues.mm1_quantile_s),
    }
    loaded = [
        _loaded(f"{name} {load:.0%}", options, quantile_s, load, service_s)
        for name, (options, quantile_s) in theory.items()
        for load in LOADS
    ]
    return [*loaded, _stopping(queue, service_s), _slowing(queue, service_s), _full()]


def _loaded(
    name: str,
    options: tuple[str, ...],
    quantile_s: Callable[[float, float, float], float],
    load: float,
    service_s: float,
) -> Case:
    truth_per_s = load / service_s
    return Case(name, options, 99, quantile_s(0.99, truth_per_s, service_s), truth_per_s)


def _stopping(queue: tuple[str, ...], service_s: float) -> Case:
    limit = limits.latency(90, STOP_LIMIT_S)
    truth_per_s = queues.line_of_long_runs(limit, service_s, (STOP_S, STOP_EVERY_S))
    options = (*queue, "--stall", f"{STOP_S}s", "--stall-every", f"{STOP_EVERY_S}s")
    return Case("stops", options, 90, STOP_LIMIT_S, truth_per_s)


def _slowing(queue: tuple[str, ...], service_s: float) -> Case:
    slower_s = service_s * SLOWER_BY
    truth_per_s = SLOWER_LOAD / slower_s
    limit_s = queues.md1_quantile_s(0.99, truth_per_s, slower_s)
    options = (*queue, "--slower-after", f"{SLOWER_AFTER_S}s", "--slower-by", f"{SLOWER_BY}")
    return Case("slower", options, 99, limit_s, truth_per_s, least_budget_s=3 * SLOWER_AFTER_S)


def _full() -> Case:
    options = ("--stall", f"{FULL_S}s", "--stall-every", f"{FULL_EVERY_S}s")
    backlog = ("--backlog", f"{FULL_BACKLOG}")
    truth_per_s = queues.line_of_a_listen_queue(0.01, FULL_BACKLOG + 1, FULL_S, FULL_EVERY_S)
    return Case("listen queue", (*options, *backlog), 99, FULL_LIMIT_S, truth_per_s, False)


def floor_s(service_s: float) -> float:
    """What waking up and the way there and back take beside a service, the median in seconds."""
    cores = host.cores()
    options = ("--service-time", f"{round(service_s * 1e9)}ns")
    with (
        Reference((cores.server,), options=options) as server,
        plimsoll.load(
            server.address + PATH,
            rate_per_s=FLOOR_RATE_PER_S,
            duration_s=FLOOR_S,
            driver_cores=(cores.tool,),
        ) as result,
    ):
        summary = result.summary
    if summary is None or summary.response_time.p50_ns is None:
        raise SystemExit("error: no response at a low rate")
    return max(0.0, summary.response_time.p50_ns / 1e9 - service_s)


def searched(case: Case, seed: int, budget_s: float, service_s: float) -> SearchOutcome:
    """Searches the line of a fresh server once."""
    cores, floor = host.cores(), floor_s(service_s)
    limit = f"p{case.percent:g}={(case.limit_s + floor) * 1e6:.3f}us"
    with (
        Reference((cores.server,), options=(*case.options, "--seed", f"{seed}")) as server,
        plimsoll.line(
            server.address + PATH,
            limit,
            budget_s=max(budget_s, case.least_budget_s),
            within=WITHIN,
            keep_alive=case.keep_alive,
            driver_cores=(cores.tool,),
        ) as result,
    ):
        edge = result.lines[0].edge
    if edge is None:
        return SearchOutcome(None, holds=False, floor_s=floor)
    off = edge.rate_per_s / case.truth_per_s - 1
    return SearchOutcome(off, edge.interval.holds(case.truth_per_s), floor)


def row(case: Case, found: Sequence[SearchOutcome]) -> tuple[str, ...]:
    """What the searches of a case amount to."""
    off = [one.off for one in found if one.off is not None]
    farthest = f"{max(map(abs, off)):.1%}" if off else ""
    return (
        case.name,
        f"p{case.percent:g} {case.limit_s * 1e3:.3g} ms",
        f"{case.truth_per_s:,.0f}",
        f"{sum(one.is_close for one in found)} of {len(found)}",
        f"{median(off):+.1%}" if off else "",
        farthest,
        f"{sum(one.holds for one in found)} of {len(found)}",
        f"{median(one.floor_s for one in found) * 1e6:.0f}",
    )


HEAD = (
    *("server", "limit", "line, per second", "within 3 %", "median", "farthest"),
    *("interval holds", "way and waking, µs"),
)


def main(arguments: Sequence[str]) -> int:
    """Searches and prints.

    Args:
        arguments: The command line without the program.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--searches", type=int, default=20, help="of each case; 20")
    add("--budget", type=float, default=150.0, help="seconds of a search; 150")
    add("--service-us", type=float, default=1000.0, help="service time in microseconds; 1000")
    add("--only", default="", help="cases whose names contain this")
    asked = parser.parse_args(arguments)
    service_s = asked.service_us / 1e6
    wanted = [case for case in cases(service_s) if asked.only in case.name]
    rows, is_close = list[tuple[str, ...]](), True
    for case in wanted:
        found = list[SearchOutcome]()
        for seed in range(asked.searches):
            found.append(searched(case, seed, asked.budget, service_s))
            off = found[-1].off
            print(case.name, seed, "no line" if off is None else f"{off:+.1%}", file=sys.stderr)
        rows.append(row(case, found))
        is_close &= sum(one.is_close for one in found) >= LEAST_CLOSE * len(found)
    print(f"{host.described()}.\n\n{page.table(HEAD, rows)}")
    return int(not is_close)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
