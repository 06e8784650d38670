"""h2load: its text.

What its figures mean, by its source (`src/h2load.cc` of nghttp2) and its own counts (1.52):

- `req/s` counts requests with a response of any status (its own counts say so).
  Succeeded are those with a status of 2xx or 3xx, `failed` all others. Of these `errored` had no
  response, and of those `timeout` were in flight at a timeout.
- A connection that was reset is not opened again, and its request is never done. With `-n` it is
  `errored`, as are all that its connection still had to send; with `-D` it is in no count.
- Times run from sending a request to the end of its response.
- A command without a rate of requests or connections (`--rps`, `--rate`, `--timing-script-file`) is
  a closed load: each connection sends as soon as it has a response.
- Several requests may share a connection (`-m`), which is not printed; the command may stand above.
  By HTTP/1.1 those with a body do not.
"""

from __future__ import annotations

import re

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.tool_output.run import OutputRun, Values

NAME = "h2load"
TITLE = "the text output of h2load"

SHARED = "h2load does not print how many requests were in flight on each HTTP/2 connection (`-m`)"
_DEPTH = re.compile(r"\s(?:-m[ =]?|--max-concurrent-streams[ =])(\d+)\b")
_PACED = re.compile(r"\s(?:-r|--rate|--rps|--timing-script-file)(?![a-z])")
_BODY = re.compile(r"\s(?:-d|--data\b)")

MARKS = (
    r"starting benchmark\.\.\.",
    r"(?#again)spawning thread #\d+:",
    r"(?#head)Application protocol:",
    r"(?#head)finished in \d",
    r"requests: \d",
    r"status codes: \d",
    r"traffic: \S",
    r"time for request:",
    r"time for connect:",
    r"time to 1st byte:",
    r"request\s+:",
    r"connect\s+:",
    r"TTFB\s+:",
    r"req/s\s+:",
)
PASSED_OVER = (
    r"\s*(?:progress:|Warm-up|Main benchmark|spawning|starting|TLS|Cipher|Server Temp|UDP|"
    r"time (?:for|to)|min\s|Process Request Failure|\S+-\s*\S+ \[[/ ]*\]\(|"
    r"(?:req/s|connect|TTFB|min RTT|smoothed RTT|packets \w+|GRO packets)\s*:|"
    r"Application|h2load|client|Stopped)"
)
_FOUR, _SEVEN = (r"\s+".join(["<t>"] * count) for count in (4, 7))
_TABLES = {
    rf"time for request:\s+{_FOUR}\s+<n>%": "min max mean stddev".split(),
    rf"request\s+:\s+{_SEVEN}\s+<n>%": "min max p50 p95 p99 mean stddev".split(),
}
"""Names of the times in each form of their line; the second one is of 1.69 and newer."""
_TRAFFIC = r"traffic: <b> \(<c>\) total, <b> \(<c>\) headers \(.*\), <b> \(<c>\) data"
_CODES = r"status codes: <c> 2xx, <c> 3xx, <c> 4xx, <c> 5xx"
_FINISHED = r"finished in <t>, <n> req/s, <b>/s"
_REQUESTS = (
    r"requests: <c> total, <c> started, <c> done, <c> succeeded, <c> failed, "
    r"<c> errored, <c> timeout"
)


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of h2load.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    rate = run.needed(r"finished in \S+ <n> req/s,.*", "finished in", NAME)
    finished = run.values(_FINISHED) or (None, None, None)
    counts = run.values(_REQUESTS)
    clients = [row[0] or 0.0 for row in run.rows(r"spawning thread #\d+: <c> total client.*")]
    is_http1 = run.has(r"Application protocol: http/1\.1")
    command = run.command(r"\bh2load(\s.*\bhttps?://.*)")
    is_known = is_http1 or bool(command)
    return ReportedStatistics(
        source=run.source,
        tool=NAME,
        model="closed" if command and not _PACED.search(command) else "unknown",
        connections=sum(clients) if clients and is_known else None,
        in_flight_each=_depth(command, is_http1=is_http1),
        in_flight_known=bool(command),
        in_flight_printed=False,
        duration_s=finished[0],
        threads=len(clients) or None,
        requests=_responded(counts),
        failures=_failures(counts),
        counts_failures=counts is not None,
        wrong_responses=_wrong(run),
        throughput_per_s=rate,
        counting="responses",
        times_s=printed.present(_times(run)),
        times="service",
        timed="responses",
        received_bytes=run.value(r"traffic: \S+ \(<c>\) total,.*"),
        received_per_s=finished[2],
        restated=_restated(run),
        notes=() if is_known else (SHARED,),
    )


def _depth(command: str, *, is_http1: bool) -> float:
    """Requests in flight on each connection, by the command; 1 without it."""
    depth = _DEPTH.search(command)
    if depth is None or (is_http1 and _BODY.search(command)):
        return 1.0
    return float(depth[1])


def _times(run: OutputRun) -> dict[str, float | None]:
    """The times of requests by name."""
    for form, names in _TABLES.items():
        if table := run.values(form):
            return printed.by_name(names, table)
    return {}


def _responded(counts: Values | None) -> float | None:
    """Requests with a response: all that succeeded or failed, without those that had none."""
    if counts is None or counts[3] is None:
        return None
    return counts[3] + (counts[4] or 0.0) - (counts[5] or 0.0)


def _failures(counts: Values | None) -> dict[str, float]:
    """Requests without a response, each once."""
    *_, errored, timeout = counts or (None, None)
    beside = max((errored or 0.0) - (timeout or 0.0), 0.0)
    return printed.some({"errored": beside, "timeout": timeout})


def _wrong(run: OutputRun) -> dict[str, float]:
    found = run.values(_CODES)
    return printed.some({"status 4xx": found[2], "status 5xx": found[3]}) if found else {}


def _restated(run: OutputRun) -> tuple[Restated, ...]:
    """What h2load prints twice."""
    return (*_of_counts(run), *_of_traffic(run))


def _of_counts(run: OutputRun) -> tuple[Restated, ...]:
    """A status counts when it comes, even if the rest of the response does not.

    A request without a response is done if its stream ended, and not if its connection did.
    """
    counts = run.values(_REQUESTS)
    shares = [row[-1] for row in map(run.values, _TABLES) if row]
    _, started, done, succeeded, failed, errored, timeout = counts or (None,) * 7
    codes = sum(one or 0.0 for one in run.values(_CODES) or ())
    ended = Figure(
        "`succeeded` + `failed`", None if succeeded is None else succeeded + (failed or 0)
    )
    responded = Figure(f"{ended.name} − `errored`", _responded(counts))
    return (
        *restated.share("`+/- sd`", shares[0] if shares else None),
        *restated.between(Figure("`done`", done), responded, ended),
        *restated.at_most("`done`", done, "`started`", started),
        *restated.at_most("`errored`", errored, "`failed`", failed),
        *restated.at_most("`timeout`", timeout, "`errored`", errored),
        *(
            restated.at_most("`done`", done, "status codes and `errored`", codes + (errored or 0.0))
            if run.has(_CODES)
            else ()
        ),
    )


def _of_traffic(run: OutputRun) -> tuple[Restated, ...]:
    """Bytes are printed in units, and one by one."""
    row, steps = run.values(_TRAFFIC), run.steps(_TRAFFIC)
    if row is None or steps is None:
        return ()
    inner = (row[3] or 0.0) + (row[5] or 0.0)
    found = restated.at_most("headers and data", inner, "all traffic", row[1], unit="bytes")
    for at, name in enumerate(("traffic", "headers", "data")):
        by, rounding = f"`{name}` in bytes", steps[2 * at]
        value, whole = row[2 * at], row[2 * at + 1]
        found += restated.equal(f"`{name}`", value, by, whole, rounding, "bytes")
    return found
