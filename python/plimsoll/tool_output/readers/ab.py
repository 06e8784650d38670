"""ab, the Apache HTTP server benchmarking tool: its text.

What its figures mean, by its manual and its own counts (ab 2.3):

- `Complete requests` are all that ended, failed ones too, and `Requests per second` is that number
  / time.
- `Time per request (mean)` is concurrency × time / complete requests: computed, not measured.
- A request fails if it could not connect, if nothing could be received, if its response had another
  length than the first one (`Length`), or by an exception. One whose connection was reset counts as
  all of the last three. Responses of other lengths are complete, and may be correct. Responses that
  are not 2xx are counted separately, not as failed.
- Times are of all requests that ended, from connecting to the end of the response, in whole
  milliseconds.
- A request that takes longer than 30 s fails, unless `-s` was given, which is not printed.
"""

from __future__ import annotations

from plimsoll.tool_output import printed
from plimsoll.tool_output.reported import OTHER_LENGTH, ReportedStatistics
from plimsoll.tool_output.run import OutputRun, Values

NAME = "ab"
TITLE = "the text output of ab"

NOTES = (
    "ab includes failed requests in its rate",
    "ab computes its time per request from rate and concurrency, so these always agree",
)


MARKS = (
    r"This is ApacheBench",
    r"(?#head)Benchmarking \S+ \(be patient\)",
    r"(?#head)Server Software:",
    r"(?#head)Server Hostname:",
    r"(?#head)Document Path:",
    r"Document Length:",
    r"(?#head)Concurrency Level:",
    r"Time taken for tests:",
    r"Complete requests:",
    r"Failed requests:",
    r"Non-2xx responses:",
    r"Total transferred:",
    r"Requests per second:",
    r"Transfer rate:",
    r"Connection Times \(ms\)",
    r"Total:\s+\d",
    r"Percentage of the requests served within a certain time",
)
PASSED_OVER = (
    r"\s*(?:This is ApacheBench|Copyright|Benchmarking|Completed \d+ requests|Finished \d+|Server |"
    r"(?:Connect|Processing|Waiting):|SSL/TLS|HTML transferred|Total body sent|Write errors|"
    r"Keep-Alive|TLS Server|[\d.]+ kb/s|Licensed)"
)
_KINDS = r"\(Connect: <c>, Receive: <c>, Length: <c>, Exceptions: <c>\)"


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of ab.

    Raises:
        InputError: It has no rate because ab gave up or it is truncated, or a number is invalid.
    """
    rate = run.needed(r"Requests per second:\s+<r>(?: \[#/sec\].*)?", "Requests per second", NAME)
    received = run.value(r"Transfer rate:\s+<r> \[Kbytes/sec\].*")
    milliseconds = run.value(r"Time per request:\s+<r> \[ms\] \(mean\)")
    run.value(r"Time per request:\s+<r> \[ms\] \(mean, across all concurrent requests\)")
    other = run.value(r"Non-2xx responses:\s+<c>")
    failed = run.value(r"Failed requests:\s+<c>")
    kinds = run.values(_KINDS)
    body_bytes = run.value(r"Document Length:\s+<c>(?: bytes)?")
    total = run.value(r"HTML transferred:\s+<c>(?: bytes)?")
    requests = run.value(r"Complete requests:\s+<c>")
    return ReportedStatistics(
        source=run.source,
        tool=NAME,
        subject=run.word(r"Server Software:\s+(\S.*)"),
        endpoint=run.word(r"Document Path:\s+(\S+)"),
        connections=run.value(r"Concurrency Level:\s+<c>"),
        duration_s=run.value(r"Time taken for tests:\s+<r>(?: seconds)?"),
        requests=requests,
        failures=_failures(failed, kinds),
        counts_failures=True,
        wrong_responses=_wrong(kinds, other),
        throughput_per_s=rate,
        counting="ends",
        time_per_request_s=None if milliseconds is None else milliseconds / 1e3,
        times_s=_times(run),
        times="service",
        timed="ends",
        times_step_s=1e-3,
        body_bytes=body_bytes,
        mean_body_bytes=total / requests if total and requests else None,
        received_bytes=run.value(r"Total transferred:\s+<c>(?: bytes)?"),
        received_per_s=None if received is None else received * 1024,
        notes=NOTES,
    )


def _broken(kinds: Values) -> float:
    """Requests whose connection broke: they count as `receive` and again as `exceptions`."""
    return max(kinds[1] or 0.0, kinds[3] or 0.0)


def _failures(failed: float | None, kinds: Values | None) -> dict[str, float]:
    if kinds is None:
        return printed.some({"failed": failed})
    return printed.some({"connect": kinds[0], "receive or exceptions": _broken(kinds)})


def _wrong(kinds: Values | None, other: float | None) -> dict[str, float]:
    lengths = max((kinds[2] or 0.0) - _broken(kinds), 0.0) if kinds else 0.0
    if lengths and other:  # a request may be both, and which are is not printed
        return {"of another length or not 2xx": max(lengths, other)}
    return printed.some({OTHER_LENGTH: lengths, "not 2xx": other})


def _times(run: OutputRun) -> dict[str, float]:
    """The line `Total`, and the percentiles."""
    total = run.values(r"Total:\s+<n>\s+<n>\s+<n>\s+<n>\s+<n>")
    names = ("min", "mean", "stddev", "p50", "max")
    times = printed.by_name(names, total)
    form = r"(?P<name>\d+)%:?\s+<n>(?: \(longest request\))?"
    shares: dict[str, float | None] = {f"p{name}": value for name, value in run.named(form)}
    longest = shares.pop("p100", None)
    found = printed.present({"max": longest, **times, **shares})
    return {name: value / 1e3 for name, value in found.items()}
