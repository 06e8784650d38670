"""No print of a run contradicts itself, whatever the run: what the rounding of a tool allows.

A run is made at random; its statistics are those of the tool, printed as the tool prints them.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as some

from plimsoll.tool_output import readers
from plimsoll.verdicts.figure_checks import figures_consistent
from plimsoll.verdicts.limits import Limits

TIMES_NS = some.lists(some.integers(1_000, 200 * 10**9), min_size=1, max_size=60)
INSTANTS_NS = some.one_of(
    *(some.integers(most // 3, most) for most in (10**6, 10**9, 100 * 10**9, 10**13))
)
STATUSES = some.sampled_from([200, 204, 302, 404, 500, 0])
SAMPLES = some.lists(
    some.tuples(some.integers(0, 300_000), some.integers(0, 4 * 10**9)), min_size=1, max_size=40
)


def contradictions(content: str) -> list[object]:
    (figures,) = readers.read(content, "x")
    assert figures.restated
    return [one for one in figures.restated if one.contradicts]


def go_duration(of_ns: int) -> str:
    """A duration as Go writes it."""
    for unit, one_ns in (("ns", 1), ("µs", 10**3), ("ms", 10**6)):
        if of_ns < one_ns * 1000:
            return f"{of_ns / one_ns:.9f}".rstrip("0").rstrip(".") + unit if of_ns else "0s"
    minutes, rest = divmod(of_ns, 60 * 10**9)
    seconds = f"{rest // 10**9}.{rest % 10**9:09}".rstrip("0").rstrip(".") + "s"
    hours, minutes = divmod(minutes, 60)
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if minutes or hours else "") + seconds


def of_vegeta(time_ns: float) -> str:
    """A duration rounded to the next smaller unit."""
    steps = (3600 * 10**9, 60 * 10**9, 10**9, 10**6, 10**3, 1)
    whole = int(time_ns)
    step = next((low for high, low in pairwise(steps) if whole >= high), 1)
    return go_duration((whole + step // 2) // step * step)


@given(
    some.lists(
        some.tuples(
            INSTANTS_NS,
            some.one_of(some.integers(1, 10**9), some.integers(10**9, 100 * 10**9)),
            STATUSES,
            some.integers(0, 10**7),
        ),
        min_size=1,
        max_size=60,
    )
)
def test_no_report_of_vegeta_contradicts_itself(hits: list[tuple[int, int, int, int]]) -> None:
    sent = [at for at, *_ in hits]
    times = [took for _, took, *_ in hits]
    attack = max(sent) - min(sent)
    wait = max(at + took for at, took, *_ in hits) - max(sent)
    right = sum(200 <= status < 400 for *_, status, _ in hits)
    rate = len(hits) / (attack / 1e9) if attack else len(hits)
    throughput = right / ((attack + wait) / 1e9) if attack else right
    size = sum(length for *_, length in hits)
    latencies = (min(times), sum(times) / len(times), max(times))
    codes = Counter(status for *_, status, _ in hits)
    duration = ", ".join(of_vegeta(one) for one in (attack + wait, attack, wait))
    assert not contradictions(
        f"""Requests      [total, rate, throughput]  {len(hits)}, {rate:.2f}, {throughput:.2f}
Duration      [total, attack, wait]      {duration}
Latencies     [min, mean, max]           {", ".join(of_vegeta(one) for one in latencies)}
Bytes In      [total, mean]              {size}, {size / len(hits):.2f}
Bytes Out     [total, mean]              0, 0.00
Success       [ratio]                    {100 * right / len(hits):.2f}%
Status Codes  [code:count]               {"  ".join(f"{s}:{n}" for s, n in codes.items())}
Error Set:
"""
    )


def of_bombardier(microseconds: float) -> str:
    """A time in the unit that fits, of which 0.85 is enough."""
    value, units = microseconds, ("us", "ms", "s")
    if value >= 1e6:
        value, units = value / 1e6, ("s", "m", "h")
    scale = 60 if units[0] == "s" else 1000
    at = 0
    while at < 2 and value >= scale * 0.85:
        value, at = value / scale, at + 1
    return f"{value:.2f}{units[at]}"


@given(
    some.lists(some.tuples(some.integers(0, 900), some.floats(0.01, 3)), min_size=1, max_size=40),
    some.lists(some.integers(1, 10**8), min_size=1, max_size=60),
    some.lists(some.sampled_from(["200", "500", "error", "cut off"]), min_size=1, max_size=60),
)
def test_no_print_of_bombardier_contradicts_itself(
    stretches: list[tuple[int, float]], times_us: list[int], ends: list[str]
) -> None:
    rates = [count / lasted_s for count, lasted_s in stretches]
    stddev = statistics.stdev(rates) if len(rates) > 2 else 0.0
    times = (statistics.mean(times_us), statistics.pstdev(times_us), max(times_us))
    right, errors = ends.count("200") + ends.count("cut off"), ends.count("error")
    failed = errors + ends.count("cut off")
    named = f"  Errors:\n    EOF - {failed}\n" if failed else ""
    assert not contradictions(
        f"""bombardier -n {len(ends)} -c 5 --http1 http://x/
Bombarding http://x/ with {len(ends)} request(s) using 5 connection(s)
Statistics        Avg      Stdev        Max
  Reqs/sec    {statistics.mean(rates):10.2f} {stddev:10.2f} {max(rates):10.2f}
  Latency     {"   ".join(of_bombardier(one) for one in times)}
  HTTP codes:
    1xx - 0, 2xx - {right}, 3xx - 0, 4xx - 0, 5xx - {ends.count("500")}
    others - {errors}
{named}  Throughput:     1.00MB/s
"""
    )


def of_wrk(amount: float) -> str:
    """A number in the unit that fits, of which 0.85 is enough."""
    units, at = ("", "k", "M", "G"), 0
    while at < 3 and amount >= 1000 * 0.85:
        amount, at = amount / 1000, at + 1
    return f"{amount:.2f}{units[at]}"


def row_of_wrk(samples: list[int], left_out: int, write: Callable[[float], str]) -> str:
    """Mean, sample deviation, maximum and share within the deviation of some samples.

    Those below the least that was measured are only counted.
    """
    count = len(samples) + left_out
    mean = sum(samples) / count
    squares = sum((one - mean) ** 2 for one in samples)
    stddev = math.sqrt(squares / (count - 1)) if count > 1 else 0.0
    within = sum(mean - stddev <= one <= mean + stddev for one in samples) / count
    return f"{write(mean)} {write(stddev)} {write(max(samples))} {100 * within:.2f}%"


def rates_of_wrk(ends_us: list[int], lasted_us: int) -> Iterator[int]:
    """The rates of a thread: every 100 ms, where a response came since the last one."""
    start_us = 0
    for until_us in range(100_000, lasted_us + 100_000, 100_000):
        if count := sum(until_us - 100_000 <= at_us < until_us for at_us in ends_us):
            yield int(count / ((until_us - start_us) // 1000) * 1000)
            start_us = until_us


def print_of_wrk(
    each_us: list[list[int]], lasted_us: int, threads: int, depth: int, timeout_us: int
) -> str:
    """What wrk prints of a run, by `src/wrk.c` and `src/stats.c`.

    Args:
        each_us: Times of the responses, one after the other, of each connection.
        lasted_us: Length of the run.
        threads: Its threads.
        depth: Requests that are sent together.
        timeout_us: Times from here on are not in the statistics.
    """
    ends: dict[int, list[int]] = {thread: [] for thread in range(threads)}
    recorded: list[int] = []
    for connection, times_us in enumerate(each_us):
        at_us = 0
        for time_us in times_us:
            at_us += time_us
            if at_us >= lasted_us:
                break
            ends[connection % threads] += [at_us] * depth
            recorded.append(time_us)
    complete = depth * len(recorded)
    late = sum(time_us >= timeout_us for time_us in recorded)
    measured = [time_us for time_us in recorded if time_us < timeout_us]
    times = Counter(measured)
    if each := complete // len(each_us):
        expected = lasted_us // each
        for time_us in sorted(times):  # what is added lies below, so it is not visited again
            for less in range(time_us - expected, expected, -expected):
                times[less] += times[time_us]
    least = min(measured, default=0)
    corrected = [time_us for time_us in times.elements() if time_us >= least]
    rates = [rate for of_thread in ends.values() for rate in rates_of_wrk(of_thread, lasted_us)]
    latency, rate = "0.00us 0.00us 0.00us -nan%", "0.00 0.00 0.00 -nan%"
    if measured:
        latency = row_of_wrk(corrected, times.total() - len(corrected), of_bombardier)
    if rates:
        rate = row_of_wrk(rates, 0, of_wrk)
    errors = f"  Socket errors: connect 0, read 0, write 0, timeout {late}\n" if late else ""
    return f"""Running {lasted_us // 1_000_000}s test @ http://127.0.0.1:8080/
  {threads} threads and {len(each_us)} connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   {latency}
    Req/Sec   {rate}
  {complete} requests in {of_bombardier(lasted_us)}, 1.00KB read
{errors}Requests/sec: {complete / (lasted_us / 1e6):9.2f}
Transfer/sec: {1024 / (lasted_us / 1e6):10.2f}B
"""


@given(
    some.lists(
        some.lists(some.integers(500, 1_500_000), min_size=1, max_size=12), min_size=1, max_size=6
    ),
    some.integers(1_000_000, 3_000_000),
    some.integers(1, 3),
    some.sampled_from([1, 1, 16]),
    some.sampled_from([2_000_000, 300_000]),
    some.sampled_from(["", "wrk -c{} http://127.0.0.1:8080/\n"]),
)
@example([[600_000], [900_000]], 1_000_000, 1, 1, 2_000_000, "")
@example([[1_000, 999_000]], 2_000_000, 1, 1, 2_000_000, "wrk -c{} http://127.0.0.1:8080/\n")
def test_no_print_of_wrk_contradicts_itself(
    each_us: list[list[int]],
    lasted_us: int,
    threads: int,
    depth: int,
    timeout_us: int,
    command: str,
) -> None:
    threads = min(threads, len(each_us))
    content = print_of_wrk(each_us, lasted_us, threads, depth, timeout_us)
    asked = command.format(len(each_us)) if depth == 1 else ""
    (figures,) = readers.read(asked + content, "x")
    found = figures_consistent.judge(figures, Limits())
    assert found is not None
    assert found.level != "void", found.text + content


def of_rewrk(size: float) -> str:
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if size > 1024**power:
            return f"{size / 1024**power:.2f} {unit}"
    return f"{size:.2f} B"


@given(TIMES_NS, some.floats(0.01, 500), some.integers(1, 10**11), some.integers(0, 5))
def test_no_print_of_rewrk_contradicts_itself(
    times_ns: list[int], lasted_s: float, read: int, lost: int
) -> None:
    slowest = sorted((one / 1e6 for one in times_ns), reverse=True)
    row = statistics.mean(slowest), statistics.pstdev(slowest), slowest[-1], slowest[0]
    shares = {"99.9": 0.001, "99": 0.01, "95": 0.05, "90": 0.1, "75": 0.25, "50": 0.5}
    tails = {
        name: statistics.mean(slowest[: int(max(len(slowest) * share, 1))])
        for name, share in shares.items()
    }
    listed = "\n".join(f"|  {name}%  |  {mean:.2f}ms  |" for name, mean in tails.items())
    assert not contradictions(
        f"""Beginning round 1...
Benchmarking 5 connections @ http://x/ for 2 second(s)
  Latencies:
    Avg      Stdev    Min      Max
    {"   ".join(f"{one:.2f}ms" for one in row)}
  Requests:
    Total:  {len(slowest)}  Req/Sec: {len(slowest) / lasted_s:.2f}
  Transfer:
    Total: {of_rewrk(read)} Transfer Rate: {of_rewrk(read / lasted_s)}/Sec
|   Percentile    |   Avg Latency   |
{listed}

{len(slowest) + lost} Errors: connection closed
"""
    )


@dataclass(frozen=True)
class Buckets:
    """A histogram with three digits, as autocannon has of requests and bytes."""

    values: Sequence[int]

    @staticmethod
    def width(value: int) -> int:
        return 1 if value < 2048 else 2 ** (value.bit_length() - 11)

    def middle(self, value: int) -> int:
        return value // self.width(value) * self.width(value) + self.width(value) // 2

    def at(self, percent: float) -> int:
        rank = max(int(percent / 100 * len(self.values) + 0.5), 1)
        value = sorted(self.values)[rank - 1]
        return value // self.width(value) * self.width(value) + self.width(value) - 1

    @property
    def row(self) -> list[float]:
        middles = [self.middle(one) for one in self.values]
        mean, stddev = statistics.mean(middles), statistics.pstdev(middles)
        least = min((one for one in self.values if one), default=0)
        rounded = [math.ceil(one * 100) / 100 for one in (mean, stddev)]
        return [*(self.at(percent) for percent in (1, 2.5, 50, 97.5)), *rounded, least]


def pretty(size: float) -> str:
    """Three digits, without zeros at the end."""
    if size < 1:
        return f"{size:g} B"
    power = min(int(math.log10(size) / 3), 4)
    return f"{float(f'{size / 1000**power:.3g}'):.12g} {('B', 'kB', 'MB', 'GB', 'TB')[power]}"


def thousands(count: int) -> str:
    return str(count) if count < 1000 else f"{math.floor(count / 1000 + 0.5)}k"


@given(
    SAMPLES,
    some.lists(some.integers(0, 30_000), min_size=1, max_size=60),
    some.floats(0, 1),
    some.integers(0, 5_000),
    some.sampled_from([1.0, 0.1]),
)
def test_no_print_of_autocannon_contradicts_itself(
    samples: list[tuple[int, int]], times_ms: list[int], wrong: float, lost: int, each_s: float
) -> None:
    requests, sizes = Buckets([n for n, _ in samples]), Buckets([size for _, size in samples])
    total = sum(requests.values)
    other = int(total * wrong)
    shares = {percent: Buckets(times_ms).at(float(percent)) for percent in ("2.5", "50", "97.5")}
    row = [*shares.values(), max(times_ms), statistics.mean(times_ms), statistics.pstdev(times_ms)]
    latency = "  ".join(f"{round(one, 2)} ms" for one in (*row, max(times_ms)))
    counts = "  ".join(f"{one:,}" for one in requests.row)
    often = "once per second" if each_s == 1 else f"every {each_s} seconds"
    statuses = f"{total - other} 2xx responses, {other} non 2xx responses\n" if other else ""
    assert not contradictions(
        f"""Running {len(samples)}s test @ http://x/
10 connections

  Stat      2.5%  50%  97.5%  99%  Avg  Stdev  Max
  Latency   {latency}
  Stat      1%  2.5%  50%  97.5%  Avg  Stdev  Min
  Req/Sec   {counts}
  Bytes/Sec {"  ".join(pretty(one) for one in sizes.row)}
  Code  Count
  200   {total - other}
  500   {other}

Req/Bytes counts sampled {often}.
# of samples: {len(samples)}

  Percentile  Latency (ms)
{chr(10).join(f"  {percent}   {time}" for percent, time in shares.items())}

{statuses}{thousands(total + lost)} requests in {round(len(samples) * each_s + 0.02, 2)}s, """
        f"""{pretty(sum(sizes.values))} read
{thousands(lost)} errors ({thousands(lost // 2)} timeouts)
{thousands(total // 3)} requests with mismatched body
"""
    )
