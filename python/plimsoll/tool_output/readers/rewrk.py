"""rewrk: its text.

What its figures mean, by its source (`src/results.rs`):

- `Req/Sec` is the number of requests that ended, failed ones too, / the mean time that its
  connections worked.
- Times are of all that ended, failed ones too, which have the connecting anew among them.
- What it calls a percentile is the mean of the slowest requests: behind `99%` stands the mean of
  the slowest 1 %, which is above p99. So they are not read as percentiles.
- Requests without a response are counted by kind besides; `Total` has them too, but for those after
  which the end of the measurement came while connecting anew, one per connection at most.
- `Transfer Rate` is the bytes read / the same mean time as that of `Req/Sec`.
- A MB is 1,048,576 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.tool_output.run import OutputRun

NAME = "rewrk"
TITLE = "the text output of rewrk"

MARKS = (
    r"(?:Beginning round|Benchmarking) \d+",
    r"(?#head)Benchmarking \d+ connections @",
    r"Latencies:",
    r"Avg\s+Stdev\s+Min\s+Max",
    r"Requests:",
    r"Total:\s+\d\S*\s+Req/Sec:",
    r"Transfer:",
    r"Percentile\s+Avg Latency",
)
PASSED_OVER = r"\s*(?:Beginning|[\d.]+%\s)"
_COUNTED = r"Total:\s+<c>\s+Req/Sec:\s+<n>"
_TIMES = r"<t>\s+<t>\s+<t>\s+<t>"
_TRANSFER = r"Total:\s+<b>\s+Transfer Rate:\s+<b>/Sec"
_LOAD = r"Benchmarking <c> connections @ .*"
_ERRORS = r"<c> Errors: (?P<name>.+)"
_STEP_S = 1e-5
TAILS = (
    "what rewrk calls a percentile is the mean of the requests beyond it, so it is not read as one"
)


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of rewrk.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    counted = run.values(_COUNTED)
    rate = counted[1] if counted else run.needed(r"Req/Sec:\s+<n>", "Req/Sec", NAME)
    row = run.values(_TIMES)
    bytes_read = run.values(_TRANSFER) or (None, None)
    url = run.word(r"Benchmarking \S+ connections @ (\S+).*")
    return ReportedStatistics(
        source=run.source,
        tool=NAME,
        endpoint="/" + url.partition("://")[2].partition("/")[2] if url else "",
        connections=run.value(_LOAD),
        duration_s=_lasted_s(run),
        requests=counted[0] if counted else None,
        failures=dict(run.named(_ERRORS)),
        counts_failures=counted is not None,
        throughput_per_s=rate,
        sampled=True,
        counting="ends",
        times_s=printed.present(printed.by_name(("mean", "stddev", "min", "max"), row)),
        times="service",
        timed="ends",
        times_step_s=_STEP_S,
        received_bytes=bytes_read[0],
        received_per_s=bytes_read[1],
        restated=_restated(run),
        notes=(TAILS,) if run.has(r"99%\s+<t>") else (),
    )


def _lasted_s(run: OutputRun) -> float | None:
    """The length that was requested: `5 seconds`, `2 second(s)`, `1 minute(s)`."""
    at = r"Benchmarking \S+ connections @ \S+ for "
    return run.value(at + r"<n> second(?:s|\(s\))?")


def _restated(run: OutputRun) -> tuple[Restated, ...]:
    """What rewrk prints twice."""
    counted = run.values(_COUNTED)
    if counted is None or not counted[0]:
        return ()
    errors = sum(count for _, count in run.named(_ERRORS))
    last = run.value(_LOAD)
    name, by = "the sum of the errors", "`Total`"
    bound = () if last is None else restated.at_most(name, errors, by, counted[0], last)
    return (*_of_rates(run), *_of_tails(run, counted[0]), *bound)


def _of_rates(run: OutputRun) -> tuple[Restated, ...]:
    """Requests and bytes, each of which with its rate gives the time."""
    counted, steps = run.values(_COUNTED), run.steps(_COUNTED)
    row, row_steps = run.values(_TRANSFER), run.steps(_TRANSFER)
    if not (counted and steps and row and row_steps):
        return ()
    (total, rate), least = counted, (counted[1] or 0.0) - steps[1]
    if not total or not rate or least <= 0:
        return ()
    lasted = Figure("(`Total` / `Req/Sec`)", total / rate, total / least - total / rate)
    read, read_per_s = map(Figure, ("the bytes read", "`Transfer Rate`"), row, row_steps)
    return restated.quotient(read_per_s, read, lasted, "bytes")


def _of_tails(run: OutputRun, total: float) -> tuple[Restated, ...]:
    """Means of more and more of the slowest requests, from the slowest one to all.

    A longer tail has the shorter one in it, and no request faster than the minimum.
    """
    least_s = (run.values(_TIMES) or (None, None, None, None))[2]
    if least_s is None:
        return ()
    found: tuple[Restated, ...] = ()
    for (few, above, slow_s), (many, name, mean_s) in pairwise(sorted(_tails(run, total))):
        lowest_s = least_s + few / many * (slow_s - least_s)
        found += restated.at_most(name, mean_s, above, slow_s, 2 * _STEP_S, "s")
        by = f"{above} and `Min`"
        found += restated.at_least(name, mean_s, by, lowest_s, 2 * _STEP_S, "s")
    return found


def _tails(run: OutputRun, total: float) -> Iterator[tuple[float, str, float]]:
    """How many of the slowest requests each mean is of, its name, and the mean."""
    mean_s, _, _, most_s = run.values(_TIMES) or (None, None, None, None)
    if most_s is not None:
        yield 1.0, "`Max`", most_s
    if mean_s is not None:
        yield total, "`Avg`", mean_s
    rows = run.named(r"(?P<name>99[.,]9|99|95|90|75|50)%\s+<t>")
    for percent, tail_s in dict(reversed(rows)).items():  # the first of each is of the table
        known = percent.replace(",", ".")
        share = round(1.0 - float(known) / 100, 6)
        yield max(float(int(total * share)), 1.0), f"`{known}%`", tail_s
