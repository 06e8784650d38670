"""rewrk: its text.

What its figures mean, by its source (`src/results.rs`):

- `Req/Sec` is the number of requests that ended, failed ones too, / the mean time that its
  connections worked.
- Times are of all that ended, failed ones too, which have the connecting anew among them.
- What it calls a percentile is the mean of the slowest requests: behind `99%` stands the mean of
  the slowest 1 %, which is above p99. So they are not read as percentiles.
- Requests without a response are counted by kind besides.
- A MB is 1,048,576 bytes.
"""

from __future__ import annotations

from plimsoll.tool_output import printed
from plimsoll.tool_output.reported import ReportedStatistics
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
TAILS = (
    "what rewrk calls a percentile is the mean of the requests beyond it, so it is not read as one"
)


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of rewrk.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    counted = run.values(r"Total:\s+<c>\s+Req/Sec:\s+<n>")
    rate = counted[1] if counted else run.needed(r"Req/Sec:\s+<n>", "Req/Sec", NAME)
    row = run.values(r"<t>\s+<t>\s+<t>\s+<t>")
    bytes_read = run.values(r"Total:\s+<b>\s+Transfer Rate:\s+<b>/Sec") or (None, None)
    url = run.word(r"Benchmarking \S+ connections @ (\S+).*")
    return ReportedStatistics(
        source=run.source,
        tool=NAME,
        endpoint="/" + url.partition("://")[2].partition("/")[2] if url else "",
        connections=run.value(r"Benchmarking <c> connections @ .*"),
        duration_s=_lasted_s(run),
        requests=counted[0] if counted else None,
        failures={name: count for name, count in run.named(r"<c> Errors: (?P<name>.+)")},
        counts_failures=counted is not None,
        throughput_per_s=rate,
        sampled=True,
        counting="ends",
        times_s=printed.present(printed.by_name(("mean", "stddev", "min", "max"), row)),
        times="service",
        timed="ends",
        times_step_s=1e-5,
        received_bytes=bytes_read[0],
        received_per_s=bytes_read[1],
        notes=(TAILS,) if run.has(r"99%\s+<t>") else (),
    )


def _lasted_s(run: OutputRun) -> float | None:
    """The length that was requested: `5 seconds`, `2 second(s)`, `1 minute(s)`."""
    at = r"Benchmarking \S+ connections @ \S+ for "
    return run.value(at + r"<n> second(?:s|\(s\))?")
