"""oha: its JSON (`--output-format json`).

What its figures mean, found by comparing its own counts (oha 1.16) and by its manual:

- `requestsPerSec` counts every request that ended, failed ones too, and those that the end of the
  measurement cut off (`aborted due to deadline`).
- Times are of the requests with a response, from sending; with `--latency-correction` they run
  from the instant at which a request was due. The output does not say which.
- Neither the connections nor the rate that were requested are in it, nor how many requests shared a
  connection of HTTP/2 (`-p`).
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, Source, percentile_name
from plimsoll.tool_output.restated import Figure, Restated

NAME = "oha"
TITLE = "the JSON of oha (`--output-format json`)"

_CUT_OFF = "aborted due to deadline"
_SUMMARY = ("requestsPerSec", "total", "totalData", "sizePerRequest", "sizePerSec", "slowest")
NOTES = (
    "oha includes failed and unfinished requests in its rate, and excludes them from its latencies",
    "oha's JSON does not contain the number of connections; supply it with `--set connections=…`",
)


def recognises(text: str) -> bool:
    """Whether a text is JSON of oha."""
    return printed.has_keys(text, "summary", "requestsPerSec")


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The result in JSON of oha.

    Raises:
        InputError: It is truncated, or a number is missing.
    """
    document = printed.parsed(text, name, NAME)
    statuses = printed.counts(document, "statusCodeDistribution")
    errors = printed.counts(document, "errorDistribution")
    lines = {"min": "fastest", "mean": "average", "max": "slowest"}
    times = {
        ours: printed.at(document, f"summary/{theirs}", name, NAME)
        for ours, theirs in lines.items()
    }
    shares = printed.counts(document, "latencyPercentiles")
    return (
        ReportedStatistics(
            source=Source(name),
            tool=NAME,
            model="unknown",
            in_flight_printed=False,
            duration_s=printed.must(document, "summary/total", name, NAME),
            requests=sum(statuses.values()) + sum(errors.values()),
            failures=printed.some({k: n for k, n in errors.items() if k != _CUT_OFF}),
            counts_failures=True,
            wrong_responses=printed.not_2xx_or_3xx(statuses),
            throughput_per_s=printed.must(document, "summary/requestsPerSec", name, NAME),
            counting="ends",
            times_s={
                **printed.present(times),
                **{percentile_name(q.removeprefix("p")): time for q, time in shares.items()},
            },
            timed="responses",
            body_bytes=printed.at(document, "summary/sizePerRequest", name, NAME),
            restated=_restated(document, name),
            notes=NOTES,
        ),
    )


def _restated(document: printed.Json, name: str) -> tuple[Restated, ...]:
    """What oha writes twice."""
    summary = {key: printed.at(document, f"summary/{key}", name, NAME) for key in _SUMMARY}
    rate, total, data, each, per_s, slowest = (summary[key] for key in _SUMMARY)
    responses = sum(printed.counts(document, "statusCodeDistribution").values())
    ended = responses + sum(printed.counts(document, "errorDistribution").values())
    histogram = printed.counts(document, "responseTimeHistogram")
    lasted, bytes_read = Figure("`total`", total), Figure("`totalData`", data)
    by = "the sum of the status codes"
    size = data // responses if data is not None and responses else None
    return (
        *restated.quotient(
            Figure("`requestsPerSec`", rate), Figure("all that ended", ended), lasted
        ),
        *restated.quotient(Figure("`sizePerSec`", per_s), bytes_read, lasted, "bytes"),
        *restated.equal("`sizePerRequest`", each, "`totalData` / responses", size, 1.0, "bytes"),
        *(
            restated.parts(Figure(by, responses), histogram.values(), "the sum of the histogram")
            if histogram
            else ()
        ),
        *restated.equal("`slowest`", slowest, "the histogram", _last(histogram), unit="s"),
    )


def _last(histogram: Mapping[str, float]) -> float | None:
    """The end of the last bucket."""
    try:
        return max((float(mark) for mark in histogram), default=None)
    except ValueError:
        return None
