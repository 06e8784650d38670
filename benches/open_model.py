"""What a request of an open load costs the engine, and how late it is sent, paired with a checkout.

Both engines run in turns against a fresh reference server on a core of its own. Processor time is
that of the whole process, start-up included; ratios are taken within each repetition. System calls
are counted in a run of their own where `strace` is installed, since counting slows them down.

Two bare loops run beside them, which check nothing and record nothing. One reads responses when
they come, as the engine does: what it takes is the kernel's price of an open load. The other reads
them at the next arrival, and does not know when they came.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

from own_costs import POOL, WARM_UP_S, lags_of
from workbench import engine, host, page, tools
from workbench.measuring import measured
from workbench.pairing import paired, rotated, spread, words

CHECKOUT = Path(__file__).resolve().parents[1]

COUNTING = (
    *("strace", "--follow-forks", "--summary-only"),
    "--trace=%network,/epoll,/timerfd,/nanosleep",
)
"""Counts the calls of a load; starting an interpreter has hardly any of these."""


BARE = {"a bare loop": (), "a bare loop, reading late": ("late",)}
"""What runs beside the engines, and its arguments."""


@dataclass(frozen=True)
class OpenRun:
    """A run of an engine, or of a bare loop, at a rate.

    Attributes:
        cpu_us: Processor time for each request, in microseconds.
        waits: Wake-ups for each request.
        p50_us: Median of sent - due, in microseconds; None where it is not recorded.
        p99_us: Its 99th percentile, in microseconds.
        others_ratio: Share of all cores that neither engine nor server used.
        complaints: What the engine, or who counted its system calls, wrote to stderr.
        requests: Requests with a correct response.
    """

    cpu_us: float
    waits: float
    p50_us: float | None
    p99_us: float | None
    others_ratio: float
    complaints: str
    requests: int


def driven(
    checkout: Path, rate_per_s: float, seconds: float, tolerance_s: float, before: Sequence[str]
) -> OpenRun:
    """Runs the engine of a checkout once.

    Args:
        checkout: Where the engine is built.
        rate_per_s: Arrivals per second.
        seconds: Length of what is measured.
        tolerance_s: How much later than due a request may be sent, in seconds.
        before: A command that runs the engine's; empty for none.

    Raises:
        SystemExit: The engine failed.
    """
    cores = host.cores()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as made:
        folder = Path(made)

        def command(address: str) -> list[str]:
            job = engine.DriverJob(
                address=address,
                into=folder,
                cores=(cores.tool,),
                connections=POOL,
                seconds=seconds,
                rate_per_s=rate_per_s,
                tolerance_s=tolerance_s,
                warm_up_s=WARM_UP_S,
            )
            place = ("env", f"PYTHONPATH={checkout / 'python'}")
            return [*before, *place, *engine.command(job)]

        seen = measured(command, (cores.tool,), (cores.server,), seconds * 3 + 60.0)
        try:
            requests = int(engine.finish(seen.client.stdout)["outcomes"]["ok"])
        except ValueError:
            raise SystemExit(f"error: the engine failed\n{seen.client.stderr}") from None
        lags_ns, _ = lags_of(folder / "requests.bin", WARM_UP_S)
    if not len(lags_ns):
        raise SystemExit("error: nothing was sent after the warm-up: the machine is too busy")
    p50_ns, p99_ns = np.quantile(lags_ns, [0.5, 0.99], method="inverted_cdf")
    return OpenRun(
        cpu_us=seen.client.cpu_s / requests * 1e6,
        waits=seen.client.waits / requests,
        p50_us=float(p50_ns) / 1e3,
        p99_us=float(p99_ns) / 1e3,
        others_ratio=seen.others_ratio,
        complaints=seen.client.stderr,
        requests=requests,
    )


def bare(rate_per_s: float, seconds: float, arguments: Sequence[str]) -> OpenRun:
    """Runs the bare loop once.

    Args:
        rate_per_s: Arrivals per second.
        seconds: Length of the run.
        arguments: Its arguments after the rate.

    Raises:
        SystemExit: It failed.
    """
    cores = host.cores()

    def command(address: str) -> list[str]:
        numbers = (str(POOL), str(seconds + WARM_UP_S), str(rate_per_s))
        return [str(tools.ceiling()), address, engine.PATH, *numbers, *arguments]

    seen = measured(command, (cores.tool,), (cores.server,), seconds * 3 + 60.0)
    if seen.client.exit_code:
        raise SystemExit(f"error: the bare loop failed\n{seen.client.stderr}")
    requests = tools.said_by_ceiling(seen.client.stdout).requests
    return OpenRun(
        cpu_us=seen.client.cpu_s / requests * 1e6,
        waits=seen.client.waits / requests,
        p50_us=None,
        p99_us=None,
        others_ratio=seen.others_ratio,
        complaints=seen.client.stderr,
        requests=requests,
    )


def calls(checkout: Path, rate_per_s: float, seconds: float, tolerance_s: float) -> float | None:
    """System calls for each request; None without `strace`."""
    if shutil.which(COUNTING[0]) is None:
        return None
    run = driven(checkout, rate_per_s, seconds, tolerance_s, COUNTING)
    total = re.search(r"^100\.00\s+\S+\s+\S+\s+(\d+)\s.*total$", run.complaints, re.MULTILINE)
    return int(total[1]) / run.requests if total else None


def row(
    name: str, runs: dict[int, OpenRun], base: dict[int, OpenRun], count: float | None
) -> tuple[str, ...]:
    """A row of the table: one engine at one rate."""
    ratios = paired(
        {turn: run.cpu_us for turn, run in runs.items()},
        {turn: run.cpu_us for turn, run in base.items()},
    )
    found = [*runs.values()]
    return (
        name,
        f"{median(run.cpu_us for run in found):.1f}",
        words(spread([*ratios.values()]), "{:.2f}".format),
        f"{median(run.waits for run in found):.2f}",
        "" if count is None else f"{count:.2f}",
        words(spread([run.p50_us for run in found if run.p50_us is not None]), "{:,.0f}".format),
        words(spread([run.p99_us for run in found if run.p99_us is not None]), "{:,.0f}".format),
    )


HEAD = (
    *("engine", "CPU µs per request", "÷ the first", "wake-ups per request"),
    *("system calls per request", "p50 of sent − due, µs", "p99, µs"),
)


def main(arguments: Sequence[str]) -> None:
    """Measures and prints.

    Args:
        arguments: The command line without the program.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--baseline", type=Path, action="append", default=[], help="a checkout to compare with")
    add("--rates", default="1000,5000,20000,40000", help="arrivals per second")
    add("--tolerance-us", type=float, default=0.0, help="how much later than due; 0")
    add("--seconds", type=float, default=4.0, help="length of each run; 4")
    add("--repetitions", type=int, default=5, help="5")
    asked = parser.parse_args(arguments)
    checkouts = [one.resolve() for one in (*asked.baseline, CHECKOUT)]
    load = (asked.seconds, asked.tolerance_us / 1e6)
    ratios = list[float]()
    for rate in map(float, asked.rates.split(",")):
        runs: dict[Path | str, dict[int, OpenRun]] = {one: {} for one in (*checkouts, *BARE)}
        for turn in range(asked.repetitions):
            for one in rotated([*runs], turn):
                if isinstance(one, str):
                    runs[one][turn] = bare(rate, asked.seconds, BARE[one])
                else:
                    runs[one][turn] = driven(one, rate, *load, ())
        first = runs[checkouts[0]]
        rows = [row(one.name, runs[one], first, calls(one, rate, *load)) for one in checkouts]
        rows += [row(name, runs[name], first, None) for name in BARE]
        ratios += [run.others_ratio for one in runs.values() for run in one.values()]
        print(f"\n### {rate:,.0f} arrivals per second\n\n{page.table(HEAD, rows)}", flush=True)
    print(f"\n{host.others(ratios)}")


if __name__ == "__main__":
    main(sys.argv[1:])
