"""hey: its text.

What its figures mean, by its source (`requester/report.go`):

- `Requests/sec` counts every request that ended, failed ones too.
- Times are of the requests with a response of any status; the average is printed in
  steps of 0.1 ms.
- Of more than 1,000,000 responses it keeps the times of the first 1,000,000, but divides the sum of
  all by that number: the average is then too great, and is left out here.
- `Status code distribution` counts responses, `Error distribution` requests without one. A response
  that was cut off counts with its status, and `Total data` adds up the lengths that responses
  announced, not what came: nothing in the text distinguishes them from whole ones.
- Neither the connections that were requested nor the rate are printed.
"""

from __future__ import annotations

import re

from plimsoll.tool_output import printed
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.run import OutputRun

NAME = "hey"
TITLE = "the text output of hey"

_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+:\d+|\[[0-9a-f:]*\]:\d+")
_STATUS = r"\[(?P<name>\d{3})\]\s+<c> responses?"
COUNTS = "hey includes failed requests in its rate, and excludes them from its latencies"
KEPT = 1_000_000
"""Times that hey keeps."""
WRONG_MEAN = "hey's average is too high above 1,000,000 responses, and is ignored"
CUT = "hey counts truncated responses as complete, and sums their announced lengths"
SILENT = "hey does not print its number of connections; supply it with `--set connections=…`"


MARKS = (
    r"Summary:\s*$",
    r"(?#head)Total:\s+\d\S* secs?",
    r"Slowest:",
    r"Fastest:",
    r"Average:",
    r"Requests/sec:",
    r"Total data:",
    r"Size/request:",
    r"Response time histogram:",
    r"Latency distribution:",
    r"Details \(average, fastest, slowest\):",
    r"Status code distribution:",
    r"Error distribution:",
)
PASSED_OVER = r"\s*(?:[\d.,]+\s+\[\d[^\]]*\]|DNS|req write|resp |Total data)"


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of hey.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    rate = run.needed(r"Requests/sec:\s+<r>", "Requests/sec", NAME)
    command = run.command(r"(\b(?:hey|boom)\b\s.*\s-.*)")
    requested = re.search(r"\s-c[ =]?(\d+)", command)
    connections = float(requested[1]) if requested else None
    run.require_all(r"Status code distribution:", _STATUS)
    run.require_all(r"Error distribution:", r"\[<c>\]\s+\S.*")
    statuses = dict(run.named(_STATUS))
    failures = _failures(run)
    ended = sum(statuses.values()) + sum(failures.values())
    return ReportedStatistics(
        source=run.source,
        tool=NAME,
        model=("open" if re.search(r"\s-q[ =]?\d", command) else "closed")
        if requested
        else "unknown",
        connections=connections,
        duration_s=run.value(r"Total:\s+<t>"),
        requests=ended or None,
        failures=failures,
        counts_failures=True,
        wrong_responses=printed.not_2xx_or_3xx(statuses),
        throughput_per_s=rate,
        counting="ends",
        times_s=_times(run, sum(statuses.values())),
        times="service",
        timed="responses",
        times_step_s=1e-4,
        body_bytes=run.value(r"Size/request:\s+<c> bytes"),
        notes=_notes(connections, sum(statuses.values())),
    )


def _notes(connections: float | None, responded: float) -> tuple[str, ...]:
    silent = () if connections else (SILENT,)
    return (COUNTS, CUT, *silent, *((WRONG_MEAN,) if responded > KEPT else ()))


def _times(run: OutputRun, responded: float) -> dict[str, float]:
    lines = {"min": "Fastest", "mean": "Average", "max": "Slowest"}
    reported = {name: run.value(rf"{line}:\s+<t>") for name, line in lines.items()}
    if responded > KEPT:
        del reported["mean"]
    shares = {f"p{share}": value for share, value in run.named(r"(?P<name>\d+)%+ in <t>")}
    return printed.present({**reported, **shares})


def _failures(run: OutputRun) -> dict[str, float]:
    """Errors by kind: the text behind the address, since each has a port of its own."""
    found: dict[str, float] = {}
    for message, count in run.named(r"\[<c>\]\s+(?P<name>(?!\d.* responses?$)\S.*)"):
        kind = _ADDRESS.sub("…", message).strip().rpartition(": ")[2]
        found[kind] = found.get(kind, 0.0) + count
    return found
