"""Gatling: `global_stats.json`, `stats.json` and `stats.js` of its report.

What its figures mean, by its documentation and by what it printed of servers with known faults:

- `numberOfRequests` counts every request; `ko` are those without a response and those whose check
  failed, which by default is a status that is not 2xx or 3xx.
- Times are in whole milliseconds, of all requests, failed ones too, connecting included.
- `percentiles1` to `percentiles4` are p50, p75, p95 and p99 unless the configuration specifies
  otherwise, which is not in the file.
- Its users pause, and arrive at a rate, so they say nothing about requests in flight.
"""

from __future__ import annotations

import json
import re
from typing import Any

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, Source
from plimsoll.tool_output.restated import Figure, Restated

NAME = "Gatling"
TITLE = "the JSON of Gatling (`global_stats.json`, `stats.json`, `stats.js`)"

NOTES = (
    "Gatling includes failed requests in its rate and latencies",
    "percentiles are taken to be p50, p75, p95 and p99, which a configuration may have changed",
)
_TIMES = {
    "minResponseTime": "min", "meanResponseTime": "mean", "standardDeviation": "stddev",
    "percentiles1": "p50", "percentiles2": "p75", "percentiles3": "p95", "percentiles4": "p99",
    "maxResponseTime": "max",
}  # fmt: skip


_KEYS = ("numberOfRequests", "meanNumberOfRequestsPerSecond")
_SCRIPT = re.compile(r"var stats = \{.*?\bstats: (?=\{)", re.DOTALL)


def recognises(text: str) -> bool:
    """Whether a text is such a file."""
    return printed.has_keys(_without_script(text), *_KEYS)


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The result of all requests together.

    Raises:
        InputError: It is truncated, or a number is missing.
    """
    document = printed.parsed(_without_script(text), name, NAME)
    found = printed.table(document, "stats") or dict(document)
    stats = {key: _totals(value) for key, value in found.items()}
    rate = printed.must(stats, "meanNumberOfRequestsPerSecond/total", name, NAME)
    times = {
        ours: printed.at(stats, f"{theirs}/total", name, NAME) for theirs, ours in _TIMES.items()
    }
    return (
        ReportedStatistics(
            source=Source(name),
            tool=NAME,
            model="unknown",
            requests=printed.at(stats, "numberOfRequests/total", name, NAME),
            failures=printed.some({"KO": printed.at(stats, "numberOfRequests/ko", name, NAME)}),
            counts_failures=True,
            throughput_per_s=rate,
            counting="ends",
            times_s={key: value / 1e3 for key, value in printed.present(times).items()},
            times="service",
            timed="ends",
            times_step_s=1e-3,
            restated=_restated(stats, name),
            notes=NOTES,
        ),
    )


def _without_script(text: str) -> str:
    """The first object of `stats.js`, which is that of all requests; other texts as they are."""
    match = _SCRIPT.match(text)
    if match is None:
        return text
    try:
        return text[match.end() : json.JSONDecoder().raw_decode(text, match.end())[1]]
    except ValueError:
        return text[match.end() :]


def _totals(value: Any) -> Any:
    """Numbers that older versions write as text, `-` being none."""
    if not isinstance(value, dict):
        return value
    return {
        key: _number(one) if isinstance(one, str) else one
        for key, one in value.items()  # pyright: ignore[reportUnknownVariableType]
    }


def _number(text: str) -> float | str | None:
    if text == "-":
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _restated(stats: printed.Json, name: str) -> tuple[Restated, ...]:
    """What Gatling writes twice: all are those that are right, and those that are not."""

    def of(path: str) -> float | None:
        return printed.at(stats, path, name, NAME)

    whole = Figure("all requests", of("numberOfRequests/total"))
    groups = [of(f"group{number}/count") for number in range(1, 5)]
    kinds = (of("numberOfRequests/ok"), of("numberOfRequests/ko"))
    return (
        *(restated.parts(whole, kinds, "OK + KO") if None not in kinds else ()),
        *(restated.parts(whole, groups, "the sum of the groups") if None not in groups else ()),
    )
