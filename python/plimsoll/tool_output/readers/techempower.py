"""TechEmpower Framework Benchmarks: `results.json`.

What its figures mean, by the toolset and its wiki:

- wrk measured them, so the remarks on wrk's times hold here; those in the file are mean, standard
  deviation and maximum.
- `totalRequests` are complete responses. The rate is not in the file; here it is `totalRequests` /
  `duration`, which is also how its pages work it out.
- Each test has a list with one result for each level: of connections, or of queries in one request
  (at the highest number of connections) for the tests of several queries.
- The test `plaintext` sends 16 requests in flight on each connection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from plimsoll import wording
from plimsoll.tool_output import numbers, printed
from plimsoll.tool_output.reported import ReportedStatistics, Source

NAME = "TechEmpower"
TITLE = "the `results.json` of TechEmpower's benchmarks"

PIPELINED = 16.0
_BY_QUERIES = ("query", "update", "cached-query")
_FAILURES = ("connect", "read", "write")
_WRONG = {"4xx": "status 4xx", "5xx": "status 5xx", "timeout": "timeout"}
NOTES = (
    "the rate is computed: requests / the length of the measurement",
    "wrk mixes measured with computed latencies; only the maximum is as measured",
)


def recognises(text: str) -> bool:
    """Whether a text is such a file."""
    return printed.has_keys(text, "rawData", "concurrencyLevels")


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The results in such a file, test by test.

    Raises:
        InputError: It is truncated, or a number is missing.
    """
    document = printed.parsed(text, name, NAME)
    duration_s = printed.must(document, "duration", name, NAME)
    return tuple(
        _figures(document, test, framework, level, one, duration_s, name)
        for test, framework, level, one in _results(document)
        if printed.at(one, "totalRequests", name, NAME)
    )


def _results(document: printed.Json) -> Iterator[tuple[str, str, int, printed.Json]]:
    """Test, framework, position among the levels, and result."""
    for test, frameworks in printed.table(document, "rawData").items():
        if not isinstance(frameworks, dict):
            continue
        for framework, results in cast("printed.Json", frameworks).items():
            levels = cast("list[Any]", results) if isinstance(results, list) else []
            for level, one in enumerate(levels):
                if isinstance(one, dict):
                    yield test, framework, level, cast("printed.Json", one)


def _figures(
    document: printed.Json,
    test: str,
    framework: str,
    level: int,
    one: printed.Json,
    duration_s: float,
    name: str,
) -> ReportedStatistics:
    requests = printed.must(one, "totalRequests", name, NAME)
    connections, stated = _level(document, test, level)
    names = {"latencyAvg": "mean", "latencyStdev": "stddev", "latencyMax": "max"}
    times = {ours: numbers.seconds(str(one[key])) for key, ours in names.items() if key in one}
    return ReportedStatistics(
        source=Source(name, f"rawData.{test}.{framework}[{level}]"),
        tool="wrk (TechEmpower)",
        subject=framework,
        endpoint=test,
        at=stated,
        connections=connections,
        in_flight_each=PIPELINED if test == "plaintext" else 1.0,
        duration_s=duration_s,
        requests=requests,
        failures=printed.some({key: printed.at(one, key, name, NAME) for key in _FAILURES}),
        counts_failures=True,
        wrong_responses=printed.some(
            {ours: printed.at(one, key, name, NAME) for key, ours in _WRONG.items()}
        ),
        throughput_per_s=requests / duration_s,
        counting="responses",
        times_s=printed.present(times),
        times="synthetic",
        timed="responses",
        notes=NOTES,
    )


def _level(document: printed.Json, test: str, level: int) -> tuple[float | None, str]:
    """Connections of a level, and what the level is called."""
    concurrency = _numbers(document, "concurrencyLevels")
    if test in _BY_QUERIES:
        queries = _numbers(document, "queryIntervals")
        stated = (
            f"{wording.exact(queries[level])} queries each"
            if level < len(queries)
            else f"level {level + 1}"
        )
        return max(concurrency, default=None), stated
    key = "pipelineConcurrencyLevels" if test == "plaintext" else "concurrencyLevels"
    levels = _numbers(document, key)
    if level >= len(levels):
        return None, f"level {level + 1}"
    return levels[level], f"{wording.exact(levels[level])} connections"


def _numbers(document: printed.Json, key: str) -> list[float]:
    value = document.get(key)
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [float(item) for item in items if isinstance(item, int | float)]
