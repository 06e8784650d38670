"""wrk: its text, with and without `--latency`; several runs in one text are several results.

What its figures mean, by its source (`src/wrk.c`):

- Requests are complete responses of any status, late ones too; rate is requests / time.
- Before it prints, wrk adds times that it did not measure: for every time longer than the mean
  distance of two requests on a connection it adds shorter ones in steps of that distance
  (`stats_correct`). All times but the maximum are therefore mixed.
- A response after the timeout (`--timeout`, 2 s by default) counts as a request and as
  `timeout`, and its time is left out. A request without a response is not counted at all.
- A connection that could not be opened is counted as `connect` and not tried again.
- A thread's rate is sampled every 100 ms, if a response came since the last sample. So however many
  requests there are, two samples may be all. The scatter is that of a sample, divided by n − 1.
- `pipeline.lua` with a depth puts that many requests on a connection at a time, and wrk times them
  together. A command with `-R` is one of wrk2, whose text is the same without its calibration.
- Each thread opens connections / threads of them, without a remainder: of 50 on 4 threads it opens
  48. It refuses fewer connections than threads.
"""

from __future__ import annotations

import re
from dataclasses import replace

from plimsoll import wording
from plimsoll.tool_output import numbers, printed, restated
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.tool_output.run import OutputRun

NAME = "wrk"
TITLE = "the text output of wrk"

DEFAULT_TIMEOUT_S = 2.0

SYNTHETIC = (
    "wrk mixes measured latencies with computed ones for requests it could not send; only the "
    "maximum is as measured"
)
LIMIT = (
    "wrk's timeout is 2 s unless `--timeout` was given, which it does not print; a later "
    "response is counted, but its latency is excluded"
)
PIPELINED = (
    "wrk measures requests that it sends together as one, without the time between "
    "batches, so connections seem idle"
)
PACED = (
    "wrk2 sends at a fixed rate, and its latencies start at the intended start; it is "
    "recognised by the option `-R`, or by a run too short for its `Req/Sec`"
)
MARKS = (
    r"Running \S+(?: \S+)? test @",
    r"(?#head)\d\S* threads? and \d\S* connections?",
    r"Thread Stats\s+Avg",
    r"Latency\s+[~≈]?[\d.]",
    r"Req/Sec\s+\d",
    r"Latency Distribution:?\s*$",
    r"\d[\w.,'’ ]* requests in \d",
    r"Socket errors:",
    r"Non-2xx or 3xx responses:",
    r"Requests/sec:",
    r"Transfer/sec:",
)
PASSED_OVER = r"(?!)"
_DONE = r"<c> requests in <t>, <b> read"
_LOAD = r"<c> threads? and <c> connections?.*"
_LATENCY = r"Latency\s+<t>\s+<t>\s+<t>\s+<n>%"
_EACH = r"Req/Sec\s+<n>\s+<n>\s+<n>\s+<n>%"
_RATE = r"Requests/sec:\s*<r>"
_TRANSFER = r"Transfer/sec:\s*<b>"
_ERRORS = r"Socket errors: connect <c>, read <c>, write <c>, timeout <c>"


_ASKED = r"Running <t> test @.*"
"""The duration that was asked for. An interrupted run is shorter, and a late one longer."""


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of wrk.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    done = run.values(_DONE)
    times = _times(run)
    slowest_s = times.get("max", 0.0)
    each, _, most_each, _ = run.values(_EACH) or (None, None, None, None)
    threads, requested = run.values(_LOAD) or (None, None)
    opened, lost = _opened(requested, threads)
    errors = run.values(_ERRORS) or (None, None, None, None)
    connect, received, written, late = errors
    found = ReportedStatistics(
        source=run.source,
        tool=NAME,
        endpoint=_endpoint(run.word(r"Running \S+(?: \S+)? test @\s*(\S*).*")),
        connections=opened,
        in_flight_printed=False,
        timeout_s=DEFAULT_TIMEOUT_S if slowest_s <= DEFAULT_TIMEOUT_S else None,
        duration_s=done[1] if done else None,
        threads=None if threads is None else round(threads),
        requests=done[0] if done else None,
        failures=printed.some({"connect": connect, "read": received, "write": written}),
        counts_failures=True,
        wrong_responses=printed.some(
            {"timeout": late, "not 2xx or 3xx": run.value(r"Non-2xx or 3xx responses: <c>")}
        ),
        throughput_per_s=run.needed(_RATE, "Requests/sec", NAME),
        counting="responses",
        thread_throughput_per_s=each,
        thread_most_per_s=most_each,
        times_s=times,
        times="synthetic",
        timed="responses",
        timed_together=True,
        received_bytes=done[2] if done else None,
        received_per_s=run.value(_TRANSFER),
        restated=_restated(run),
        notes=(SYNTHETIC, LIMIT, *lost),
    )
    return _as_commanded(run, found)


def _as_commanded(run: OutputRun, figures: ReportedStatistics) -> ReportedStatistics:
    """What the command above, or a rate that was never sampled, shows of the load."""
    depth = run.command(r"\bwrk\b.*\bpipeline\S*\.lua\b.*\s--\s+\S+\s+(\d+)\s*$")
    if depth:
        notes = (*figures.notes, PIPELINED)
        return replace(
            figures,
            in_flight_each=float(depth),
            in_flight_known=True,
            model="unknown",
            notes=notes,
        )
    rate = run.command(r"\bwrk2?\b.*?\s(?:-R|--rate)[ =]?(\d+[kM]?)\b")
    if not rate and not run.has(r"Req/Sec\s+-?nan.*"):
        return replace(figures, in_flight_known=_is_one_at_a_time(run))
    return replace(
        figures,
        tool="wrk2",
        model="open",
        requested_rate_per_s=run.read(numbers.number, rate) if rate else None,
        timeout_s=None,
        times="response",
        notes=(PACED,),
    )


def _is_one_at_a_time(run: OutputRun) -> bool:
    """Whether the command is there and names no script, which alone can send several at a time."""
    command = run.command(r"(\bwrk\b\s.*\bhttps?://.*)")
    return bool(command) and not re.search(r"\s(?:-s|--script)\b", command)


def _opened(requested: float | None, threads: float | None) -> tuple[float | None, tuple[str, ...]]:
    """The connections that its threads open, and a note where these are fewer than requested."""
    if not requested or not threads or requested < threads or requested % threads == 0:
        return requested, ()
    opened = requested // threads * threads
    note = (
        f"wrk opens equally many connections per thread: {wording.exact(opened)} of "
        f"{wording.exact(requested)} requested"
    )
    return opened, (note,)


def _restated(run: OutputRun) -> tuple[Restated, ...]:
    """What wrk prints twice; times and rates of its threads are bounded by their maxima."""
    threads, requested = run.values(_LOAD) or (None, None)
    done, steps = run.values(_DONE) or (None, None, None), run.steps(_DONE) or (0.0, 0.0, 0.0)
    count, lasted = Figure("the requests", done[0]), Figure("the duration", done[1], steps[1])
    read = Figure("the bytes read", done[2], steps[2])
    return (
        *restated.at_least("the number of connections", requested, "that of threads", threads),
        *restated.quotient(run.figure("`Requests/sec`", _RATE), count, lasted),
        *restated.quotient(run.figure("`Transfer/sec`", _TRANSFER), read, lasted, "bytes"),
        *restated.twice_at_most(lasted, "the duration in its first line", run.value(_ASKED)),
        *_shares(run),
        *_of_threads(run),
    )


def _shares(run: OutputRun) -> tuple[Restated, ...]:
    """The shares within one standard deviation."""
    rows = {"Latency": run.values(_LATENCY), "Req/Sec": run.values(_EACH)}
    return tuple(
        one
        for name, row in rows.items()
        for one in restated.share(f"`+/- Stdev` of `{name}`", row[3] if row else None)
    )


def _of_threads(run: OutputRun) -> tuple[Restated, ...]:
    """The scatter of the rates of single threads, of which there may be few."""
    row, steps = run.values(_EACH), run.steps(_EACH)
    if row is None or steps is None:
        return ()
    names = ("mean", "the standard deviation of `Req/Sec`", "its maximum")
    mean, stddev, most = map(Figure, names, row, steps)
    whole = Figure("its mean", mean.value, mean.step)
    return restated.spread(
        stddev.name, stddev, whole, most, 0.0, restated.FEWEST_SCATTERED, "number"
    )


def _endpoint(url: str) -> str:
    return "/" + url.partition("://")[2].partition("/")[2]


def _times(run: OutputRun) -> dict[str, float]:
    """The line `Latency`, which has three times and a per cent, and the percentiles."""
    names = ("mean", "stddev", "max")
    table = run.values(_LATENCY)
    shares = {f"p{name}": time_s for name, time_s in run.named(r"(?P<name>\d+)%:?\s+<t>")}
    if table and table[3] is None:
        return {}  # without a time the share is `-nan`, and all the rest is 0
    return printed.present({**printed.by_name(names, table), **shares})
