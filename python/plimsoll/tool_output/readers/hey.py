"""hey: its text.

What its figures mean, by its source (`requester/report.go`):

- `Requests/sec` counts every request that ended, failed ones too.
- Times are of the requests with a response of any status; the average is printed in
  steps of 0.1 ms.
- Of more than 1,000,000 responses it keeps the times of the first 1,000,000, but divides the sum of
  all by that number: the average is then too great, and is left out here.
- `Size/request` is `Total data` / the times that it keeps, rounded down. The histogram counts these
  times, from the fastest to the slowest in ten buckets of equal width.
- `Status code distribution` counts responses, `Error distribution` requests without one. A response
  that was cut off counts with its status, and `Total data` adds up the lengths that responses
  announced, not what came: nothing in the text distinguishes them from whole ones.
- Neither the connections that were requested nor the rate are printed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from plimsoll import wording
from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.tool_output.run import OutputRun

NAME = "hey"
TITLE = "the text output of hey"

_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+:\d+|\[[0-9a-f:]*\]:\d+")
_STATUS = r"\[(?P<name>\d{3})\]\s+<c> responses?"
_RATE = r"Requests/sec:\s+<r>"
_TOTAL = r"Total:\s+<t>"
_SIZE = r"Size/request:\s+<c> bytes"
_PERCENTILE = r"(?P<name>\d+)%+ in <t>"
_BUCKET = r"<n>\s+\[<c>\](?:\s.*)?"
COUNTS = "hey includes failed requests in its rate, and excludes them from its latencies"
_STEP_S = 1e-4
_MARK_S = 5.5e-4
"""Half of the last digit of a bucket's end, and of a time."""
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
    rate = run.needed(_RATE, "Requests/sec", NAME)
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
        duration_s=run.value(_TOTAL),
        requests=ended or None,
        failures=failures,
        counts_failures=True,
        wrong_responses=printed.not_2xx_or_3xx(statuses),
        throughput_per_s=rate,
        counting="ends",
        times_s=_times(run, sum(statuses.values())),
        times="service",
        timed="responses",
        times_step_s=_STEP_S,
        body_bytes=run.value(_SIZE),
        restated=_restated(run, sum(statuses.values()), ended),
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
    shares = {f"p{share}": value for share, value in run.named(_PERCENTILE)}
    return printed.present({**reported, **shares})


def _failures(run: OutputRun) -> dict[str, float]:
    """Errors by kind: the text behind the address, since each has a port of its own."""
    found: dict[str, float] = {}
    for message, count in run.named(r"\[<c>\]\s+(?P<name>(?!\d.* responses?$)\S.*)"):
        kind = _ADDRESS.sub("…", message).strip().rpartition(": ")[2]
        found[kind] = found.get(kind, 0.0) + count
    return found


def _restated(run: OutputRun, responded: float, ended: float) -> tuple[Restated, ...]:
    """What hey prints twice."""
    return (
        *_of_rate(run, ended),
        *_of_sizes(run, responded),
        *_of_histogram(run, responded),
        *_of_details(run, responded),
    )


def _of_rate(run: OutputRun, ended: float) -> tuple[Restated, ...]:
    all_ended = Figure("all responses and errors", ended or None)
    rate, lasted = run.figure("`Requests/sec`", _RATE), run.figure("`Total`", _TOTAL)
    return restated.quotient(rate, all_ended, lasted)


def _of_sizes(run: OutputRun, responded: float) -> tuple[Restated, ...]:
    """`Size/request`, which is rounded down."""
    total = run.value(r"Total data:\s+<c> bytes")
    kept = min(responded, KEPT)
    if total is None or not kept:
        return ()
    by = "`Total data` / the number of responses"
    return restated.equal("`Size/request`", run.value(_SIZE), by, total // kept, unit="bytes")


def _of_histogram(run: OutputRun, responded: float) -> tuple[Restated, ...]:
    """Its sum, its ends, and how many responses it has up to each percentile."""
    rows = [(mark, count) for mark, count in run.rows(_BUCKET)]
    buckets = [(mark or 0.0, count or 0.0) for mark, count in rows]
    if not buckets or not responded:
        return ()
    whole = sum(count for _, count in buckets)
    by, kept = "the sum of the status codes", min(responded, KEPT)
    found = restated.equal("the sum of the histogram", whole, by, kept)
    for name, (mark, _) in (("Fastest", buckets[0]), ("Slowest", buckets[-1])):
        value = run.value(rf"{name}:\s+<t>")
        found += restated.equal(f"`{name}`", value, "the histogram", mark, _MARK_S, "s")
    for percent, time_s in run.named(_PERCENTILE):
        found += _up_to(buckets, percent, time_s)
    return found


def _up_to(
    buckets: Sequence[tuple[float, float]], percent: str, time_s: float
) -> tuple[Restated, ...]:
    """Responses in the buckets that certainly end before, or behind, a percentile."""
    whole = sum(count for _, count in buckets)
    by, wanted = f"p{percent}", float(percent) / 100 * whole
    found: tuple[Restated, ...] = ()
    up_to = 0.0
    for mark, count in buckets:
        up_to += count
        name = f"the histogram up to {wording.seconds(mark)}"
        if mark + _MARK_S + _STEP_S < time_s:
            found += restated.at_most(name, up_to, by, wanted, 1.0)
        elif mark - _MARK_S - _STEP_S > time_s:
            found += restated.at_least(name, up_to, by, wanted, 1.0)
    return found


def _of_details(run: OutputRun, responded: float) -> tuple[Restated, ...]:
    """Waiting and reading are parts of each request; above `KEPT` the means are wrong."""
    found: tuple[Restated, ...] = ()
    for part in ("req write", "resp wait", "resp read"):
        row = run.values(rf"{part}:\s+<t>, <t>, <t>") or (None, None, None)
        pairs = (("average", "Average", row[0]), ("slowest", "Slowest", row[2]))
        for what, line, value in pairs if responded <= KEPT else ():
            whole = run.value(rf"{line}:\s+<t>")
            name = f"the {what} of `{part}`"
            found += restated.at_most(name, value, f"`{line}`", whole, _STEP_S, "s")
    return found
