"""wrk2: its text; several runs in one text are several results.

What its figures mean, by its documentation (giltene/wrk2, `README.md`) and by what it printed:

- Requests are due at a rate that was requested (`-R`) and that the output does not repeat.
- `Recorded Latency` runs from the instant at which a request was due, so it has the wait before
  sending; `Uncorrected Latency`, printed with `--u_latency`, runs from sending.
- Times of the first 10 s, in which it calibrates, are not in the percentiles; `Total count` gives
  how many requests are left.
"""

from __future__ import annotations

from plimsoll.tool_output import numbers, printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, percentile_name
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.tool_output.run import OutputRun

NAME = "wrk2"
TITLE = "the text output of wrk2"

NOTES = (
    "wrk2's latencies start at the intended start, so they include the wait before "
    "sending and may exceed connections / throughput",
    "wrk2 does not print the requested rate",
)


MARKS = (
    r"Running \S+(?: \S+)? test @",
    r"(?#head)\d\S* threads? and \d\S* connections?",
    r"(?#again)Thread calibration:",
    r"Thread Stats\s+Avg",
    r"Latency\s+[~≈]?[\d.]",
    r"Req/Sec\s+\d",
    r"Latency Distribution \(HdrHistogram - Recorded Latency\)",
    r"Latency Distribution \(HdrHistogram - Uncorrected Latency",
    r"\d[\w.,'’ ]* requests in \d",
    r"Socket errors:",
    r"Non-2xx or 3xx responses:",
    r"Requests/sec:",
    r"Transfer/sec:",
)
PASSED_OVER = r"\s*(?:[\d.,]+\s+[\d.,]+\s+\d[\d.,]*\s|Thread calibration|#\[|Req/Sec|Value )"
_ERRORS = r"Socket errors: connect <c>, read <c>, write <c>, timeout <c>"
_DONE = r"<c> requests in <t>, <b> read"
_RATE = r"Requests/sec:\s*<r>"
_TRANSFER = r"Transfer/sec:\s*<b>"
_LATENCY = r"Latency\s+<t>\s+<t>\s+<t>\s+<n>%"
_COUNT = r"#\[Max\s*=.*Total count\s*=\s*<c>\]"


_ASKED = r"Running <t> test @.*"


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of wrk2.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    done = run.values(_DONE)
    threads, connections = run.values(r"<c> threads? and <c> connections?.*") or (None, None)
    url = run.word(r"Running \S+(?: \S+)? test @\s*(\S*).*")
    requested = run.command(r"\bwrk2?\b.*?\s(?:-R|--rate)[ =]?(\d+[kM]?)\b")
    kinds = ("connect", "read", "write", "timeout")
    errors = printed.by_name(kinds, run.values(_ERRORS))
    return ReportedStatistics(
        source=run.source,
        tool=NAME,
        model="open",
        endpoint="/" + url.partition("://")[2].partition("/")[2],
        connections=connections,
        requested_rate_per_s=numbers.number(requested) if requested else None,
        duration_s=done[1] if done else None,
        threads=None if threads is None else round(threads),
        requests=done[0] if done else None,
        failures=printed.some(errors),
        counts_failures=True,
        wrong_responses=printed.some(
            {"not 2xx or 3xx": run.value(r"Non-2xx or 3xx responses: <c>")}
        ),
        throughput_per_s=run.needed(_RATE, "Requests/sec", NAME),
        counting="responses",
        times_s=_times(run),
        times="response",
        timed="responses",
        timed_requests=run.value(_COUNT),
        received_bytes=done[2] if done else None,
        received_per_s=run.value(_TRANSFER),
        restated=_restated(run),
        notes=NOTES,
    )


def _times(run: OutputRun) -> dict[str, float]:
    """The recorded times: the first of each percentile, because uncorrected ones follow."""
    names = ("mean", "stddev", "max")
    table = run.values(_LATENCY)
    shares: dict[str, float] = {}
    for percent, time_s in run.named(r"(?P<name>[\d.,]+)%:?\s+<t>"):
        shares.setdefault(percentile_name(percent.replace(",", ".")), time_s)
    if table and table[3] is None:
        return {}  # without a time the share is `-nan`, and all the rest is 0
    return printed.present({**printed.by_name(names, table), **shares})


def _restated(run: OutputRun) -> tuple[Restated, ...]:
    """What wrk2 prints twice."""
    done, steps = run.values(_DONE) or (None, None, None), run.steps(_DONE) or (0.0, 0.0, 0.0)
    count, lasted = Figure("the requests", done[0]), Figure("the duration", done[1], steps[1])
    read = Figure("the bytes read", done[2], steps[2])
    table = run.values(_LATENCY)
    within = table[3] if table else None
    return (
        *restated.quotient(run.figure("`Requests/sec`", _RATE), count, lasted),
        *restated.quotient(run.figure("`Transfer/sec`", _TRANSFER), read, lasted, "bytes"),
        *restated.twice_at_most(lasted, "the duration in its first line", run.value(_ASKED)),
        *restated.share("`+/- Stdev` of `Latency`", within),
        *restated.at_most("`Total count`", run.value(_COUNT), "the requests", done[0]),
    )
