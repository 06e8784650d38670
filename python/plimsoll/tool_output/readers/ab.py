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
- `Failed requests` is the sum of the kinds behind it. `HTML transferred` has what was received of
  requests that were not complete at the end, one per connection at most.
- `Waiting` is a part of `Processing`, which is a part of `Total`, in each request.
- A request that takes longer than 30 s fails, unless `-s` was given, which is not printed.
"""

from __future__ import annotations

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import OTHER_LENGTH, ReportedStatistics
from plimsoll.tool_output.restated import Figure, Restated
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
_RATE = r"Requests per second:\s+<r>(?: \[#/sec\].*)?"
_TRANSFER = r"Transfer rate:\s+<r> \[Kbytes/sec\].*"
_EACH = r"Time per request:\s+<r> \[ms\] \(mean\)"
_ACROSS = r"Time per request:\s+<r> \[ms\] \(mean, across all concurrent requests\)"
_FAILED = r"Failed requests:\s+<c>"
_LENGTH = r"Document Length:\s+<c>(?: bytes)?"
_HTML = r"HTML transferred:\s+<c>(?: bytes)?"
_TRANSFERRED = r"Total transferred:\s+<c>(?: bytes)?"
_COMPLETE = r"Complete requests:\s+<c>"
_LEVEL = r"Concurrency Level:\s+<c>"
_TAKEN = r"Time taken for tests:\s+<r>(?: seconds)?"
_KEPT = r"Keep-Alive requests:\s+<c>"
_CLOSED = "of another length, with its connection closed"
_NEWER = r"Concurrency achieved:\s.*"
"""In the version after 2.3 a response of another length is no failure, and some have no kind."""
_TOO_LONG = 10.0
"""Heads that ab cannot hold, each of which counts as not 2xx; with more it gives up."""
_ROW = r"\s+<n>\s+<n>\s+<n>\s+<n>\s+<n>"
_KINDS = r"\(Connect: <c>, Receive: <c>, Length: <c>, Exceptions: <c>\)"


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of ab.

    Raises:
        InputError: It has no rate because ab gave up or it is truncated, or a number is invalid.
    """
    rate = run.needed(_RATE, "Requests per second", NAME)
    received = run.value(_TRANSFER)
    milliseconds = run.value(_EACH)
    other = run.value(r"Non-2xx responses:\s+<c>")
    failed = run.value(_FAILED)
    kinds = run.values(_KINDS)
    body_bytes = run.value(_LENGTH)
    total = run.value(_HTML)
    requests = run.value(_COMPLETE)
    return ReportedStatistics(
        source=run.source,
        tool=NAME,
        subject=run.word(r"Server Software:\s+(\S.*)"),
        endpoint=run.word(r"Document Path:\s+(\S+)"),
        connections=run.value(_LEVEL),
        duration_s=run.value(_TAKEN),
        requests=requests,
        failures=_failures(failed, kinds),
        counts_failures=True,
        wrong_responses=_wrong(run, kinds, other),
        throughput_per_s=rate,
        counting="ends",
        time_per_request_s=None if milliseconds is None else milliseconds / 1e3,
        times_s=_times(run),
        times="service",
        timed="ends",
        times_step_s=1e-3,
        body_bytes=body_bytes,
        mean_body_bytes=total / requests if total and requests else None,
        received_bytes=run.value(_TRANSFERRED),
        received_per_s=None if received is None else received * 1024,
        restated=_restated(run),
        notes=NOTES,
    )


def _broken(kinds: Values) -> float:
    """Requests whose connection broke: they count as `receive` and again as `exceptions`."""
    return max(kinds[1] or 0.0, kinds[3] or 0.0)


def _failures(failed: float | None, kinds: Values | None) -> dict[str, float]:
    if kinds is None:
        return printed.some({"failed": failed})
    return printed.some({"connect": kinds[0], "receive or exceptions": _broken(kinds)})


def _wrong(run: OutputRun, kinds: Values | None, other: float | None) -> dict[str, float]:
    lengths = max((kinds[2] or 0.0) - _broken(kinds), 0.0) if kinds else 0.0
    if lengths and other:  # a request may be both, and which are is not printed
        return {"of another length or not 2xx": max(lengths, other)}
    name = _CLOSED if _closed_those(run, lengths) else OTHER_LENGTH
    return printed.some({name: lengths, "not 2xx": other})


def _closed_those(run: OutputRun, lengths: float) -> bool:
    """Whether as many of kept connections were closed as responses had another length."""
    kept, complete = run.value(_KEPT), run.value(_COMPLETE)
    if kept is None or complete is None or kept <= lengths:
        return False
    return abs(complete - kept - lengths) <= (run.value(_LEVEL) or 0.0)


def _times(run: OutputRun) -> dict[str, float]:
    """The line `Total`, and the percentiles."""
    total = run.values(rf"Total:{_ROW}")
    names = ("min", "mean", "stddev", "p50", "max")
    times = printed.by_name(names, total)
    form = r"(?P<name>\d+)%:?\s+<n>(?: \(longest request\))?"
    shares: dict[str, float | None] = {f"p{name}": value for name, value in run.named(form)}
    longest = shares.pop("p100", None)
    found = printed.present({"max": longest, **times, **shares})
    return {name: value / 1e3 for name, value in found.items()}


def _restated(run: OutputRun) -> tuple[Restated, ...]:
    """What ab prints twice."""
    return (*_of_counts(run), *_of_rates(run), *_of_lengths(run), *_of_times(run))


def _of_counts(run: OutputRun) -> tuple[Restated, ...]:
    """Counts that are parts of others; the last requests of `-t` may fail and not be complete."""
    complete, failed = run.value(_COMPLETE), run.value(_FAILED)
    kept, other = run.value(_KEPT), run.value(r"Non-2xx responses:\s+<c>")
    kinds, last = run.values(_KINDS), run.value(_LEVEL) or 0.0
    by, whole = "`Complete requests`", Figure("`Failed requests`", failed)
    return (
        *restated.at_most("`Keep-Alive requests`", kept, by, complete),
        *restated.at_most("`Non-2xx responses`", other, by, complete, last + _TOO_LONG),
        *restated.at_most("`Length`", kinds[2] if kinds else None, by, complete, last),
        *(() if run.has(_NEWER) else restated.parts(whole, kinds or (), "the sum of its kinds")),
    )


def _of_rates(run: OutputRun) -> tuple[Restated, ...]:
    """Rates and times, which follow from counts, the time, and the concurrency."""
    complete = Figure("`Complete requests`", run.value(_COMPLETE))
    taken = run.figure("`Time taken for tests`", _TAKEN)
    across = run.figure("`Time per request (across all)`", _ACROSS).scaled(1e-3)
    each = run.figure("`Time per request (mean)`", _EACH).scaled(1e-3)
    level = run.value(_LEVEL) or 0.0
    ratio, slack = across.scaled(level).value, each.step + across.step * level
    received = Figure("`Total transferred`", run.value(_TRANSFERRED))
    transfer = run.figure("`Transfer rate`", _TRANSFER).scaled(1024)
    by = f"{across.name} × `Concurrency Level`"
    return (
        *restated.quotient(run.figure("`Requests per second`", _RATE), complete, taken),
        *restated.quotient(across, taken, complete, "s"),
        *(restated.equal(each.name, each.value, by, ratio, slack, "s") if level else ()),
        *restated.quotient(transfer, received, taken, "bytes"),
    )


def _of_lengths(run: OutputRun) -> tuple[Restated, ...]:
    """If all responses have the length of the first, their number gives all bytes."""
    html, length, complete = run.value(_HTML), run.value(_LENGTH), run.value(_COMPLETE)
    name, whole = "`HTML transferred`", run.value(_TRANSFERRED)
    bound = restated.at_most(name, html, "`Total transferred`", whole, unit="bytes")
    if run.value(_FAILED) != 0.0 or length is None or complete is None or run.has(_NEWER):
        return bound
    by, last = "`Document Length` × `Complete requests`", length * (run.value(_LEVEL) or 0.0)
    return (
        *bound,
        *restated.at_least(name, html, by, length * complete, unit="bytes"),
        *restated.at_most(name, html, by, length * complete, last, "bytes"),
    )


def _of_times(run: OutputRun) -> tuple[Restated, ...]:
    """Parts of each request, none of which lasts longer than the whole."""
    rows = {name: run.values(f"{name}:{_ROW}") for name in ("Connect", "Processing", "Waiting")}
    whole = run.values(rf"Total:{_ROW}")
    longest = run.value(r"100%:?\s+<n> \(longest request\)")
    found = restated.equal(
        "the longest request",
        _seconds(longest),
        "`Total`",
        _seconds(whole[4] if whole else None),
        unit="s",
    )
    middle = run.value(r"50%:?\s+<n>")
    found += restated.equal(
        "the 50 % row",
        _seconds(middle),
        "the median of `Total`",
        _seconds(whole[3] if whole else None),
        1e-3,
        "s",
    )
    pairs = (("Connect", whole, "Total"), ("Processing", whole, "Total"))
    for name, other, above in (*pairs, ("Waiting", rows["Processing"], "Processing")):
        found += _inside(name, rows[name], above, other)
    return found


def _inside(
    name: str, part: Values | None, above: str, whole: Values | None
) -> tuple[Restated, ...]:
    """A part of each request: its least, mean, median and greatest are not above the whole's."""
    if part is None or whole is None:
        return ()
    places = (("min", 0), ("mean", 1), ("median", 3), ("max", 4))
    return tuple(
        one
        for what, at in places
        for one in restated.at_most(
            f"the {what} of `{name}`",
            _seconds(part[at]),
            f"that of `{above}`",
            _seconds(whole[at]),
            unit="s",
        )
    )


def _seconds(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1e3
