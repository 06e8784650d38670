"""Artillery: its JSON (`artillery run -o`), of version 2 and of those before.

What its figures mean, by its documentation and by what it printed of servers with known faults:

- `http.requests` counts every request that was sent, `http.responses` those with a response, and
  `errors.…` those that were not. `http.request_rate` is a mean over its periods of 10 s, in whole
  requests.
- `http.response_time` runs from sending to the first byte of the response, in milliseconds;
  percentiles are read off buckets about 2 % wide.
- Users arrive at a rate, so connections may be idle.
"""

from __future__ import annotations

from typing import cast

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, Source, percentile_name
from plimsoll.tool_output.restated import Figure

NAME = "Artillery"
TITLE = "the JSON of Artillery (`artillery run -o`)"

NOTES = (
    "the rate is computed: requests / the time from the first to the last that was counted",
    "Artillery's latencies end with the first byte of a response",
)
_OLD = (
    "the rate is the mean that Artillery printed, of whole requests",
    "Artillery's latencies end with the first byte of a response",
)
_WIDTH = 0.02


def recognises(text: str) -> bool:
    """Whether a text is JSON of Artillery."""
    return printed.has_keys(text, "aggregate", "counters") or printed.has_keys(
        text, "aggregate", "scenariosCreated"
    )


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The result of the whole test.

    Raises:
        InputError: It is truncated, or a number is missing.
    """
    document = printed.parsed(text, name, NAME)
    aggregate = printed.table(document, "aggregate")
    if "requestsCompleted" not in aggregate:
        return (_newer(aggregate, name),)
    return (_older(aggregate, name),)


def _newer(aggregate: printed.Json, name: str) -> ReportedStatistics:
    counters = printed.counts(aggregate, "counters")
    first = printed.at(aggregate, "firstCounterAt", name, NAME)
    last = printed.at(aggregate, "lastCounterAt", name, NAME)
    lasted_s = (last - first) / 1e3 if first is not None and last is not None else None
    sent = counters.get("http.requests")
    responses = counters.get("http.responses")
    codes = {key[11:]: n for key, n in counters.items() if key.startswith("http.codes.")}
    errors = {key[7:]: n for key, n in counters.items() if key.startswith("errors.")}
    times = printed.table(printed.table(aggregate, "summaries"), "http.response_time")
    return ReportedStatistics(
        source=Source(name),
        tool=NAME,
        model="open",
        duration_s=lasted_s,
        requests=sent,
        failures=printed.some(errors),
        counts_failures=True,
        wrong_responses=printed.not_2xx_or_3xx(codes),
        throughput_per_s=sent / lasted_s if sent and lasted_s else None,
        counting="ends",
        times_s=_times(times),
        times="service",
        timed="responses",
        times_step_s=1e-3,
        percentiles_step_s=_widest(times),
        restated=(
            *restated.at_most("responses", responses, "`http.requests`", sent),
            *(restated.parts(Figure("responses", responses), codes.values(), "the status codes")),
        ),
        notes=NOTES,
    )


def _older(aggregate: printed.Json, name: str) -> ReportedStatistics:
    times = printed.table(aggregate, "latency")
    return ReportedStatistics(
        source=Source(name),
        tool=NAME,
        model="open",
        requests=printed.must(aggregate, "requestsCompleted", name, NAME),
        failures=printed.some(printed.counts(aggregate, "errors")),
        counts_failures=True,
        wrong_responses=printed.not_2xx_or_3xx(printed.counts(aggregate, "codes")),
        throughput_per_s=printed.at(aggregate, "rps/mean", name, NAME),
        counting="responses",
        times_s=_times(times),
        times="service",
        timed="responses",
        times_step_s=1e-3,
        percentiles_step_s=_widest(times),
        notes=_OLD,
    )


def _times(held: printed.Json) -> dict[str, float]:
    """Times by name; `p999` is p99.9."""
    named: dict[str, float] = {}
    for key, value in held.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        if key in ("min", "max", "mean"):
            named[key] = float(value) / 1e3
        elif key == "median":
            named["p50"] = float(value) / 1e3
        elif key[:1] == "p" and key[1:].isdigit():
            named["p999" if key == "p999" else percentile_name(key[1:])] = float(value) / 1e3
    return named


def _widest(held: printed.Json) -> float:
    """The width of the bucket that the greatest percentile was read off."""
    values = [
        cast("float", held[key])
        for key in ("p99", "p999")
        if isinstance(held.get(key), int | float)
    ]
    return max(values, default=0.0) / 1e3 * _WIDTH
