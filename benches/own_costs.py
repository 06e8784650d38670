"""What the engine costs by itself: memory, threads, pacing.

`make bench` runs it. Memory is taken for two lengths of the same load, so that a reader sees
whether it grows with the requests. One thread and two take turns within each repetition, and ratios
are taken there. Pacing is how late requests of an open load were sent, by the rows of each of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from workbench import engine, host, page, tools
from workbench.engine import DriverJob
from workbench.measuring import Measured, measured
from workbench.pairing import paired, percent, rotated, spread, words
from workbench.tools import Bench, Tool

if TYPE_CHECKING:
    import numpy as np

SECTION = "own_costs"
"""Where the findings stand in a page."""

LONGER = 4
"""How many times longer the second run is whose memory is taken."""

POOL = 64
"""Connections of an open load."""

WARM_UP_S = 0.5
"""Length of the warm-up before pacing is looked at: the pool opens its connections in it."""

RAMP_S = 1.0
"""Length of the ramp in which the connections are opened whose memory is taken."""

MIB = 2**20


@dataclass(frozen=True)
class Memory:
    """The most memory that a tool held.

    Attributes:
        connections: Requested connections.
        opened: Connections that the server accepted.
        seconds: Length of the run.
        requests: Requests with a response.
        peak_rss_bytes: The most memory it held.
        others_ratio: Share of all cores that neither engine nor server used.
    """

    connections: int
    opened: int
    seconds: int
    requests: int
    peak_rss_bytes: int
    others_ratio: float


@dataclass(frozen=True)
class Threaded:
    """A run with a number of threads.

    Attributes:
        threads: Threads of the engine.
        repetition: Number of the repetition.
        per_million_s: Seconds of processor time for a million requests.
        requests_per_s: Responses in a second.
        server_ratio: Processor time of the server, as a share of the run's length.
        others_ratio: Share of all cores that neither engine nor server used.
    """

    threads: int
    repetition: int
    per_million_s: float
    requests_per_s: float
    server_ratio: float
    others_ratio: float


@dataclass(frozen=True)
class Pacing:
    """How late the requests of an open load were sent.

    Attributes:
        rate_per_s: Arrivals per second.
        tolerance_us: How much later than due a request may be sent, in microseconds.
        requests: Requests that were sent.
        not_sent: Requests that were due and not yet sent at the end; their lag is not known.
        p50_us: Lag that half of them did not exceed, in microseconds.
        p99_us: Lag that 99 in 100 of them did not exceed, in microseconds.
        most_us: The greatest lag, in microseconds.
        cpu_us: Processor time of the engine for a request, in microseconds, start-up included.
        waits: Wake-ups of the engine for a request.
        others_ratio: Share of all cores that neither engine nor server used.
    """

    rate_per_s: float
    tolerance_us: int
    requests: int
    not_sent: int
    p50_us: float
    p99_us: float
    most_us: float
    cpu_us: float
    waits: float
    others_ratio: float


@dataclass(frozen=True)
class Driven:
    """A drive of the engine that has ended well.

    Attributes:
        seen: What was seen of it from outside.
        finish: The content of its `finish.json`.
    """

    seen: Measured
    finish: dict[str, Any]

    @property
    def requests(self) -> int:
        """Requests with a correct response."""
        return int(self.finish["outcomes"].get("ok", 0))

    @property
    def duration_s(self) -> float:
        """Length of the run by the engine's clock."""
        return float(self.finish["ended_ns"]) / 1e9


def drive(folder: Path, server_cores: tuple[int, ...], **load: Any) -> Driven:
    """Drives a fresh reference server.

    Args:
        folder: Folder for the files of the engine.
        server_cores: Cores of the server.
        load: The load; fields of `DriverJob`.

    Raises:
        SystemExit: The engine did not get to its end.
    """

    def command(address: str) -> list[str]:
        return engine.command(DriverJob(address=address, into=folder, **load))

    seen = measured(command, tuple(load["cores"]), server_cores, load["seconds"] * 3 + 60.0)
    try:
        return Driven(seen, engine.finish(seen.client.stdout))
    except ValueError:
        raise SystemExit(f"error: the engine failed\n{seen.client.stderr}") from None


def memory(levels: Sequence[int], seconds: int) -> list[Memory]:
    """The memory of the engine at each number of connections, for two lengths."""
    return [_held(level, length) for level in levels for length in (seconds, LONGER * seconds)]


def _held(connections: int, seconds: int) -> Memory:
    cores = host.cores()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        load = {"cores": (cores.tool,), "connections": connections, "seconds": seconds}
        driven = drive(Path(folder), (cores.server,), **load, ramp_s=RAMP_S)
    seen = driven.seen
    peak_bytes = seen.client.peak_rss_bytes
    counts = (seen.accepted, seconds, driven.requests)
    return Memory(connections, *counts, peak_bytes, seen.others_ratio)


def wrk_memory(levels: Sequence[int], seconds: int) -> dict[int, int]:
    """The most memory that wrk held in bytes, at the numbers of connections that it opened."""
    wrk = next(tool for tool in tools.TOOLS if tool.name == "wrk")
    if not wrk.is_installed:
        return {}
    runs = {level: _run_of(wrk, level, seconds) for level in levels}
    return {
        level: seen.client.peak_rss_bytes for level, seen in runs.items() if seen.accepted >= level
    }


def _run_of(tool: Tool, connections: int, seconds: int) -> Measured:
    cores, folder = host.cores(), Path()
    return measured(
        lambda address: tool.command(Bench(address, connections, seconds, cores.tool, folder)),
        (cores.tool,),
        (cores.server,),
        seconds * 3 + 60.0,
    )


def memory_table(found: Sequence[Memory], wrk: dict[int, int]) -> str:
    """The memory of the engine, for two lengths, beside that of wrk."""
    head = ("connections", "opened", "seconds", "requests", "plimsoll, MiB", "wrk, MiB")
    rows = []
    for one in found:
        opened = (f"{one.connections:,}", f"{one.opened:,}")
        numbers = (*opened, str(one.seconds), f"{one.requests:,}")
        beside = wrk.get(one.connections) if one.seconds == found[0].seconds else None
        own = f"{one.peak_rss_bytes / MIB:.0f}"
        rows.append((*numbers, own, f"{beside / MIB:.0f}" if beside else ""))
    return page.table(head, rows)


def thread_cores() -> tuple[tuple[int, ...], dict[int, tuple[int, ...]]]:
    """Cores of the server, and those of the engine with one thread and with two.

    From four cores on the engine has two of its own and the server the rest; with fewer, the
    second thread shares the core of the server.
    """
    cores = host.cores()
    if len(cores.all) < 4:  # noqa: PLR2004 - two for the engine, as many for the server
        return (cores.server,), {1: (cores.tool,), 2: (cores.tool, cores.tool)}
    return cores.all[:-2], {1: cores.all[-1:], 2: cores.all[-2:]}


def threads(connections: int, seconds: int, repetitions: int) -> list[Threaded]:
    """One thread and two in turn, in every repetition."""
    server, own = thread_cores()
    found = []
    for repetition in range(repetitions):
        for count in rotated([*own], repetition):
            with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
                load = {"cores": own[count], "connections": connections, "seconds": seconds}
                driven = drive(Path(folder), server, **load)
            found.append(_threaded(driven, count, repetition))
    return found


def _threaded(driven: Driven, count: int, repetition: int) -> Threaded:
    return Threaded(
        threads=count,
        repetition=repetition,
        per_million_s=driven.seen.client.cpu_s / driven.requests * 1e6,
        requests_per_s=driven.requests / driven.duration_s,
        server_ratio=driven.seen.server_cpu_s / driven.duration_s,
        others_ratio=driven.seen.others_ratio,
    )


def threads_table(found: Sequence[Threaded]) -> str:
    """One thread beside two, with the ratios, and what they say on this host."""
    head = ("threads", "CPU s per million", "requests/s", "server's processor time")
    rows = [_threads_row([one for one in found if one.threads == count]) for count in (1, 2)]
    cpu, work = (
        spread([*paired(_by(found, 2, field), _by(found, 1, field)).values()])
        for field in ("per_million_s", "requests_per_s")
    )
    rows.append(("2 ÷ 1", words(cpu, "{:.2f}".format), words(work, "{:.2f}".format), ""))
    return f"{page.table(head, rows)}\n\n{_threads_note()}"


def _threads_row(runs: Sequence[Threaded]) -> tuple[str, ...]:
    return (
        str(runs[0].threads),
        f"{median(one.per_million_s for one in runs):.2f}",
        f"{median(one.requests_per_s for one in runs):,.0f}",
        percent(median(one.server_ratio for one in runs)),
    )


def _by(found: Sequence[Threaded], count: int, field: str) -> dict[int, float]:
    return {one.repetition: getattr(one, field) for one in found if one.threads == count}


def _threads_note() -> str:
    server, own = thread_cores()
    if len(set(own[2])) == 1:
        return (
            "Both threads have the one core that the engine has here, so they do no more in a "
            "second than one does; the processor time of a request shows what a second thread "
            "costs. The work per second needs four cores."
        )
    return f"The server has {len(server)} cores of its own, the engine one for each thread."


def pacing(
    rates_per_s: Sequence[float], tolerances_us: Sequence[int], seconds: int
) -> list[Pacing]:
    """How late requests were sent at each rate, with each tolerance."""
    return [_paced(rate, each, seconds) for rate in rates_per_s for each in tolerances_us]


def _paced(rate_per_s: float, tolerance_us: int, seconds: int) -> Pacing:
    import numpy as np  # noqa: PLC0415

    cores = host.cores()
    with tempfile.TemporaryDirectory(prefix="plimsoll-bench-") as folder:
        load = {"cores": (cores.tool,), "connections": POOL, "seconds": seconds}
        paced = {
            "rate_per_s": rate_per_s,
            "warm_up_s": WARM_UP_S,
            "tolerance_s": tolerance_us / 1e6,
        }
        driven = drive(Path(folder), (cores.server,), **load, **paced)
        lags_ns, not_sent = lags_of(Path(folder) / "requests.bin", WARM_UP_S)
    lags_us = np.quantile(lags_ns, [0.5, 0.99, 1.0], method="inverted_cdf") / 1e3
    p50_us, p99_us, most_us = map(float, lags_us)
    client, all_requests = driven.seen.client, driven.requests
    return Pacing(
        rate_per_s=rate_per_s,
        tolerance_us=tolerance_us,
        requests=len(lags_ns),
        not_sent=not_sent,
        p50_us=p50_us,
        p99_us=p99_us,
        most_us=most_us,
        cpu_us=client.cpu_s / all_requests * 1e6,
        waits=client.waits / all_requests,
        others_ratio=driven.seen.others_ratio,
    )


def lags_of(rows: Path, from_s: float) -> tuple[np.ndarray[Any, Any], int]:
    """Sent − due of the requests that were sent, in nanoseconds, and how many were not.

    Args:
        rows: File of the engine's records.
        from_s: Only requests due from here on count, in seconds since zero.
    """
    import numpy as np  # noqa: PLC0415

    from plimsoll.drivers.records import record_dtype  # noqa: PLC0415

    samples = np.fromfile(rows, record_dtype("requests"))
    samples = samples[samples["due_ns"] >= round(from_s * 1e9)]
    is_sent = samples["sent_ns"] != np.iinfo(np.uint64).max
    sent = samples[is_sent]
    return sent["sent_ns"] - sent["due_ns"], int((~is_sent).sum())


def pacing_table(found: Sequence[Pacing]) -> str:
    """How late requests were sent, and what each took, by rate and tolerance."""
    lags = ("p50 µs", "p99 µs", "max µs")
    costs = ("CPU µs per request", "wake-ups per request")
    head = ("arrivals/s", "tolerance µs", "sent", "not sent", *lags, *costs)
    rows = []
    for one in found:
        lags = (f"{lag:,.0f}" for lag in (one.p50_us, one.p99_us, one.most_us))
        asked = (f"{one.rate_per_s:,.0f}", f"{one.tolerance_us}")
        counts = (f"{one.requests:,}", f"{one.not_sent:,}")
        rows.append((*asked, *counts, *lags, f"{one.cpu_us:.1f}", f"{one.waits:.2f}"))
    return page.table(head, rows)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--memory", type=_numbers, default=[9000, 20000], help="connections; 9000,20000")
    rates = [1000, 5000, 20000, 40000]
    add("--rates", type=_numbers, default=rates, help="arrivals; 1000,5000,20000,40000")
    add("--tolerances", type=_numbers, default=[0, 100], help="of the same, in µs; 0,100")
    add("--connections", type=int, default=64, help="of the runs with 1 and 2 threads; 64")
    add("--seconds", type=int, default=4, help="length of each run; 4")
    add("--repetitions", type=int, default=3, help="of the runs with 1 and 2 threads; 3")
    add("--json", type=Path, help="also write every number into this file")
    add("--page", type=Path, help="also put the findings into this page")
    return parser.parse_args(arguments)


def _allowed(levels: Sequence[int]) -> list[int]:
    """The numbers of connections, each lowered to what this host allows, which is reported."""
    allowed = [host.allow_connections(level) for level in levels]
    for asked, level in zip(levels, allowed, strict=True):
        if level < asked:
            message = f"{asked:,} connections need more open files than `ulimit -Hn` allows"
            print(f"{message}: {level:,} instead", file=sys.stderr)
    return allowed


def main(arguments: Sequence[str]) -> None:
    """Measures and prints.

    Args:
        arguments: The command line without the program.
    """
    asked = _options(arguments)
    levels = _allowed(asked.memory)
    held, beside = memory(levels, asked.seconds), wrk_memory(levels, asked.seconds)
    threaded = threads(asked.connections, asked.seconds, asked.repetitions)
    paced = pacing(asked.rates, asked.tolerances, asked.seconds)
    text = "\n\n".join(
        [
            host.others(one.others_ratio for one in (*held, *threaded, *paced)),
            *("### Memory", memory_table(held, beside)),
            *("### Threads", threads_table(threaded)),
            *("### Pacing", pacing_table(paced)),
        ]
    )
    print(text)
    if asked.json:
        found = {"memory": held, "threads": threaded, "pacing": paced}
        rows = {name: [asdict(one) for one in numbers] for name, numbers in found.items()}
        asked.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if asked.page:
        page.put(asked.page, SECTION, text)


if __name__ == "__main__":
    main(sys.argv[1:])
