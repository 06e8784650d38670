"""bombardier: its JSON (`-o json`).

What its figures mean, by its source (`bombardier.go`, `templates.go`):

- `rps.mean` is the mean of the rates of short stretches, and not requests / time; both count every
  request that ended, failed ones too.
- Times are in microseconds, of every request that ended, failed ones too, from sending; percentiles
  are there with `-l`.
- `others` are requests without a response, or with a status that is none; `errors` names them. With
  `--http1` and `--http2` a response that was cut off has its status, and an error besides.
- A standard deviation has each different value once, so it is the real one at most.
- `rate` is there where one was requested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, Source, percentile_name
from plimsoll.tool_output.restated import Figure, Restated

NAME = "bombardier"
TITLE = "the JSON of bombardier (`-o json`)"

NOTES = (
    "bombardier's rate is the mean of the rates of short stretches, and counts failed requests",
    "bombardier includes failed requests in its latencies",
)
_CODES = ("req1xx", "req2xx", "req3xx", "req4xx", "req5xx", "others")
_FEWEST = 3
"""Stretches; of fewer the standard deviation is 0."""


def recognises(text: str) -> bool:
    """Whether a text is JSON of bombardier."""
    return printed.has_keys(text, "spec", "result", "timeTakenSeconds")


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The result in JSON of bombardier.

    Raises:
        InputError: It is truncated, or a number is missing.
    """
    document = printed.parsed(text, name, NAME)
    spec, result = printed.table(document, "spec"), printed.table(document, "result")
    rate = printed.must(document, "result/rps/mean", name, NAME)
    codes = [printed.at(result, key, name, NAME) or 0.0 for key in _CODES]
    requested = printed.at(spec, "rate", name, NAME)
    return (
        ReportedStatistics(
            source=Source(name),
            tool=NAME,
            endpoint="/" + str(spec.get("url", "")).partition("://")[2].partition("/")[2],
            model="open" if requested else "closed",
            connections=printed.at(spec, "numberOfConnections", name, NAME),
            requested_rate_per_s=requested,
            timeout_s=printed.at(spec, "timeoutSeconds", name, NAME),
            duration_s=printed.at(result, "timeTakenSeconds", name, NAME),
            requests=sum(codes),
            failures=_failures(result, codes[-1]),
            counts_failures=True,
            wrong_responses=printed.some({"status 4xx": codes[3], "status 5xx": codes[4]}),
            throughput_per_s=rate,
            sampled=True,
            counting="ends",
            times_s=_times(printed.table(result, "latency")),
            times="service",
            timed="ends",
            restated=_restated(document, codes, name),
            notes=NOTES,
        ),
    )


def _failures(result: printed.Json, others: float) -> dict[str, float]:
    """Errors by kind; the number of all where none is named."""
    listed = cast("list[printed.Json]", result.get("errors") or [])
    named = {str(one["description"]): float(one["count"]) for one in listed}
    return named or printed.some({"others": others})


def _times(latency: printed.Json) -> dict[str, float]:
    names = ("mean", "stddev", "max")
    reported = {key: float(latency[key]) / 1e6 for key in names if key in latency}
    shares = {
        percentile_name(key): value / 1e6
        for key, value in printed.counts(latency, "percentiles").items()
    }
    return {**reported, **shares}


def _restated(document: printed.Json, codes: Sequence[float], name: str) -> tuple[Restated, ...]:
    """What bombardier writes twice."""

    def of(path: str) -> Figure:
        key = f"result/rps/{path}"
        return Figure(f"`rps.{path}`", printed.at(document, key, name, NAME))

    spec, result = printed.table(document, "spec"), printed.table(document, "result")
    listed = cast("list[printed.Json]", result.get("errors") or [])
    errors = sum(float(one["count"]) for one in listed)
    requested = printed.at(spec, "numberOfRequests", name, NAME)
    mean, stddev, most, ended = of("mean"), of("stddev"), of("max"), sum(codes)
    bound = codes[-1] if spec.get("client") == "fasthttp" else ended
    by = "`others`" if spec.get("client") == "fasthttp" else "the sum of the codes"
    return (
        *restated.at_most(mean.name, mean.value, most.name, most.value),
        *restated.spread(stddev.name, stddev, mean, most, 0.0, _FEWEST, "number"),
        *restated.at_most("the sum of `errors`", errors, by, bound),
        *restated.at_most("the sum of the codes", ended, "`numberOfRequests`", requested),
    )
