"""k6: the summary that it prints at the end.

Its figures have the same meaning as in its JSON:

- `http_reqs` counts every request, failed ones too; the rate is that number / the test's length.
- `http_req_duration` is sending, waiting and receiving, without connecting; requests that could not
  connect are in it with 0 s.
- `http_req_failed` are requests without a whole response and, unless the script sets it otherwise,
  responses with a status of 400 or more. Before k6 1.0 the mark ✓ stands before those that failed,
  since then `out of` stands between.
- Virtual users may pause between requests, so they say nothing about requests in flight.
- A kB is 1,000 bytes, and `data_received` has the heads in it.
"""

from __future__ import annotations

from plimsoll.tool_output import numbers, printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, percentile_name
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.tool_output.run import OutputRun

NAME = "k6_text"
TITLE = "the summary that k6 prints"

MARKS = (
    r"execution: local",
    r"(?#head)scenarios: \(",
    r"(?#head)(?:█ )?TOTAL RESULTS",
    r"(?#head)http_req_duration\.{2,}: *\w+(?:\([\d.]+\))?=",
    r"http_req_failed\.{2,}: *\d",
    r"http_reqs\.{2,}: *\d",
    r"iteration_duration\.{2,}: *\w",
    r"iterations\.{2,}: *\d",
    r"vus\.{2,}: *\d",
    r"vus_max\.{2,}: *\d",
)
PASSED_OVER = r".*"
_DOTS = r"\.{2,}:\s*"
NOTES = (
    "k6 includes failed requests in its rate, and failed connections in its latencies with 0 ms",
    "k6's virtual users may pause, so the number of requests in flight is not known",
)


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a summary of k6.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    counted = run.values(rf"http_reqs{_DOTS}<c>\s+<r>/s.*")
    rate = counted[1] if counted else run.needed(rf"http_reqs{_DOTS}<r>/s.*", "http_reqs", "k6")
    requests = counted[0] if counted else None
    received = run.values(rf"data_received{_DOTS}<d>\s+<d>/s.*") or (None, None)
    failed = _failed(run)
    return ReportedStatistics(
        source=run.source,
        tool="k6",
        model="unknown",
        requests=requests,
        failures=printed.some({"failed": failed}),
        never_sent=run.value(rf"dropped_iterations{_DOTS}<c>\s.*"),
        counts_failures=failed is not None,
        throughput_per_s=rate,
        counting="ends",
        times_s=_times(run),
        times="service",
        timed="ends",
        received_bytes=received[0],
        received_per_s=received[1],
        restated=_restated(run),
        notes=NOTES,
    )


def _counted(name: str) -> str:
    """The line of a counter, which has its rate."""
    return rf"{name}{_DOTS}<c>\s+<r>/s.*"


def _failed(run: OutputRun) -> float | None:
    """Requests that failed; None where k6 does not say."""
    marked = run.values(rf"http_req_failed{_DOTS}\S+%\s+✓ <c>\s+✗ <c>")
    out_of = run.values(rf"http_req_failed{_DOTS}\S+%\s+<c> out of <c>")
    found = marked or out_of
    return found[0] if found else None


def _times(run: OutputRun) -> dict[str, float]:
    """The line of times: `avg=… min=… med=… max=… p(90)=…`."""
    names = {"min": "min", "avg": "mean", "med": "p50", "max": "max"}
    found: dict[str, float | None] = {}
    for pair in run.pairs(rf"http_req_duration{_DOTS}(?=\S+=)(.*)"):
        name, value = pair
        if name in names:
            found[names[name]] = run.read(numbers.seconds, value)
        elif name.startswith("p("):
            found[percentile_name(name[2:-1])] = run.read(numbers.seconds, value)
    return printed.present(found)


def _restated(run: OutputRun) -> tuple[Restated, ...]:
    """What k6 prints twice: counts and rates are of the same time, failures are of all."""
    counted = run.values(_counted("http_reqs")) or (None, None)
    steps = run.steps(_counted("http_reqs")) or (0.0, 0.0)
    others = run.values(_counted("iterations")) or (None, None)
    lasted_s = others[0] / others[1] if others[0] and others[1] else None
    count, rate = Figure("`http_reqs`", counted[0]), Figure("its rate", counted[1], steps[1])
    lasted = Figure("the time of `iterations`", lasted_s, 1e-3 * (lasted_s or 0.0))
    of_all = run.values(rf"http_req_failed{_DOTS}\S+%\s+<c> out of <c>") or (None, None)
    marked = run.values(rf"http_req_failed{_DOTS}\S+%\s+✓ <c>\s+✗ <c>") or ()
    return (
        *restated.quotient(rate, count, lasted),
        *restated.equal(count.name, count.value, "`http_req_failed`", of_all[1]),
        *restated.parts(count, marked, "`http_req_failed`"),
    )
