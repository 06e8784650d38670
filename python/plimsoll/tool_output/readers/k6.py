"""k6: its summary as JSON, by `--summary-export` or from `handleSummary`.

What its figures mean, by its documentation and by what it printed of servers with known faults:

- `http_reqs` counts every request, failed ones too.
- `http_req_duration` is sending, waiting and receiving, without connecting; requests that could not
  connect are in it with 0 ms.
- `http_req_failed` are requests without a whole response and, unless the script sets it otherwise,
  responses with a status of 400 or more; in both layouts `passes` counts those that failed.
- `data_received` has the heads in it.
- Virtual users may pause between requests, so they say nothing about requests in flight.
- `dropped_iterations` were due and were never sent.
- A request whose connection had been closed while idle is sent again by Go, and is one request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, Source, percentile_name
from plimsoll.tool_output.restated import Figure, Restated

NAME = "k6"
TITLE = "the JSON of k6 (`--summary-export`, or the data of `handleSummary`)"

NOTES = (
    "k6 includes failed requests in its rate, and failed connections in its latencies with 0 ms",
    "k6's virtual users may pause, so the number of requests in flight is not known",
)


def recognises(text: str) -> bool:
    """Whether a text is a summary of k6."""
    return printed.has_keys(text, "metrics", "http_reqs") or printed.has_keys(
        text, "http_req_duration", "vus_max"
    )


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The result in a summary of k6.

    Raises:
        InputError: It is truncated, or a number is missing.
    """
    document = printed.parsed(text, name, NAME)
    metrics = {metric: _values(one) for metric, one in printed.table(document, "metrics").items()}
    printed.must(metrics, "http_reqs/rate", name, NAME)
    requests = printed.must(metrics, "http_reqs/count", name, NAME)
    rate = metrics["http_reqs"]["rate"]
    milliseconds = printed.at(document, "state/testRunDurationMs", name, NAME)
    received = metrics.get("data_received", {})
    dropped = metrics.get("dropped_iterations", {}).get("count")
    return (
        ReportedStatistics(
            source=Source(name),
            tool=NAME,
            model="unknown",
            duration_s=None if milliseconds is None else milliseconds / 1e3,
            requests=requests,
            failures=printed.some({"failed": _failed(metrics, requests)}),
            never_sent=dropped,
            counts_failures=True,
            throughput_per_s=rate,
            counting="ends",
            times_s=_times(metrics.get("http_req_duration", {})),
            times="service",
            timed="ends",
            received_bytes=received.get("count"),
            received_per_s=received.get("rate"),
            restated=_restated(metrics),
            notes=NOTES,
        ),
    )


def _failed(metrics: Mapping[str, Mapping[str, float]], requests: float) -> float | None:
    """Requests that failed; None where k6 does not say."""
    found = metrics.get("http_req_failed", {})
    if "passes" in found:
        return found["passes"]
    ratio = found.get("rate", found.get("value"))
    return None if ratio is None else round(ratio * requests)


def _values(metric: Any) -> dict[str, float]:
    """The numbers of a metric, which one of the two layouts has in `values`."""
    if not isinstance(metric, dict):
        return {}
    one = cast("printed.Json", metric)
    inner = one.get("values", one)
    return {
        key: float(value)
        for key, value in cast("printed.Json", inner).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _times(values: dict[str, float]) -> dict[str, float]:
    names = {"min": "min", "avg": "mean", "med": "p50", "max": "max"}
    reported = {ours: values[theirs] / 1e3 for theirs, ours in names.items() if theirs in values}
    shares = {
        percentile_name(key[2:-1]): value / 1e3
        for key, value in values.items()
        if key.startswith("p(") and key.endswith(")")
    }
    return {**reported, **shares}


def _restated(metrics: Mapping[str, Mapping[str, float]]) -> tuple[Restated, ...]:
    """What k6 writes twice: every count and its rate are of the same time."""
    requests, failed = metrics.get("http_reqs", {}), metrics.get("http_req_failed", {})
    count = Figure("`http_reqs`", requests.get("count"))
    lasted_s = _lasted_s(requests)
    found: tuple[Restated, ...] = ()
    for name in ("iterations", "data_received", "data_sent"):
        by, length_s = f"that of `{name}`", _lasted_s(metrics.get(name, {}))
        slack = 1e-3 * (lasted_s or 0.0)
        found += restated.equal("the time of `http_reqs`", lasted_s, by, length_s, slack, "s")
    if {"passes", "fails"} <= failed.keys():
        both = (failed["passes"], failed["fails"])
        found += restated.parts(count, both, "`passes` + `fails` of `http_req_failed`")
    return found


def _lasted_s(metric: Mapping[str, float]) -> float | None:
    count, rate = metric.get("count"), metric.get("rate")
    return count / rate if count and rate else None
