"""autocannon: its JSON (`--json`).

What its figures mean, by its documentation and by comparing its own counts (autocannon 8):

- `requests.average` is the mean of what was counted in each second, or in each `sampleInt`, which
  `-L` sets; `requests.total` is the number of responses of any status.
- Times are of responses, in whole milliseconds. With `-R` they have been corrected with a fixed
  interval.
- `errors` are requests without a response, timeouts among them. The limit is 10 s unless `-t` was
  given, which is not printed.
"""

from __future__ import annotations

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, Source, percentile_name
from plimsoll.tool_output.restated import Figure, Restated

NAME = "autocannon"
TITLE = "the JSON of autocannon (`--json`)"

NOTES = ("autocannon's times are whole milliseconds",)


def recognises(text: str) -> bool:
    """Whether a text is JSON of autocannon."""
    return printed.has_keys(text, "pipelining", "connections", "latency")


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The result in JSON of autocannon.

    Raises:
        InputError: It is truncated, or a number is missing.
    """
    document = printed.parsed(text, name, NAME)
    timeouts = printed.at(document, "timeouts", name, NAME) or 0.0
    errors = printed.at(document, "errors", name, NAME) or 0.0
    each_s = (printed.at(document, "sampleInt", name, NAME) or 1e3) / 1e3
    received = printed.at(document, "throughput/average", name, NAME)
    return (
        ReportedStatistics(
            source=Source(name),
            tool=NAME,
            model="unknown",
            subject=str(document.get("title") or ""),
            endpoint="/" + str(document.get("url", "")).partition("://")[2].partition("/")[2],
            connections=printed.at(document, "connections", name, NAME),
            in_flight_each=printed.at(document, "pipelining", name, NAME) or 1.0,
            duration_s=_sampled_s(document, name),
            requests=printed.at(document, "requests/total", name, NAME),
            failures=printed.some({"errors": errors - timeouts, "timeout": timeouts}),
            counts_failures=True,
            wrong_responses=printed.some(
                {
                    "not 2xx": printed.at(document, "non2xx", name, NAME),
                    "another body": printed.at(document, "mismatches", name, NAME),
                }
            ),
            throughput_per_s=printed.must(document, "requests/average", name, NAME) / each_s,
            counting="responses",
            times_s=_times(printed.counts(document, "latency")),
            times="unknown",
            timed="responses",
            times_step_s=1e-3,
            received_bytes=printed.at(document, "throughput/total", name, NAME),
            received_per_s=None if received is None else received / each_s,
            restated=_restated(document, name),
            notes=NOTES,
        ),
    )


def _sampled_s(document: printed.Json, name: str) -> float:
    """Length of the whole samples that the mean rate is taken over, or of all if unknown.

    Each worker has its own samples, and those of an instant are one of the rate.
    """
    workers = printed.at(document, "workers", name, NAME) or 1.0
    samples = printed.at(document, "samples", name, NAME)
    each_ms = printed.at(document, "sampleInt", name, NAME)
    if samples and each_ms:
        return samples / workers * each_ms / 1e3
    return printed.must(document, "duration", name, NAME)


def _times(latency: dict[str, float]) -> dict[str, float]:
    """Percentiles, `p97_5` and the like, and the rest."""
    times = {
        ours: latency[ours] / 1e3 for ours in ("min", "mean", "stddev", "max") if ours in latency
    }
    shares = {
        percentile_name(key[1:].replace("_", ".")): value / 1e3
        for key, value in latency.items()
        if key[:1] == "p"
    }
    return {**times, **shares}


def _restated(document: printed.Json, name: str) -> tuple[Restated, ...]:
    """What autocannon writes twice."""
    total = printed.at(document, "requests/total", name, NAME)
    kinds = [printed.at(document, f"{first}xx", name, NAME) for first in range(1, 6)]
    timeouts = printed.at(document, "timeouts", name, NAME)
    errors = printed.at(document, "errors", name, NAME)
    wrong = [one or 0.0 for one in (kinds[0], *kinds[2:])]
    other = Figure("`non2xx`", printed.at(document, "non2xx", name, NAME))
    return (
        *restated.parts(Figure("`requests.total`", total), kinds, "the sum of `1xx` to `5xx`"),
        *(restated.parts(other, wrong, "the sum of the others") if None not in kinds else ()),
        *restated.at_most("`timeouts`", timeouts, "`errors`", errors),
    )
