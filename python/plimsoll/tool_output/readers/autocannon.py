"""autocannon: its JSON (`--json`).

What its figures mean, by its documentation and by comparing its own counts (autocannon 8):

- `requests.average` is the mean of what was counted in each second, or in each `sampleInt`, which
  `-L` sets; `requests.total` is the number of responses of any status.
- A busy autocannon samples late, so its samples may last longer than `sampleInt`. Their means are
  of histograms, whose buckets are 1/1024 of their value wide at most. Each worker has its own.
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


_BUCKET_RATIO = 1 / 1024
_STEP = 0.01
"""Means are rounded up to it."""


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
            duration_s=_lasted_s(document, name),
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
            sampled=True,
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


def _lasted_s(document: printed.Json, name: str) -> float:
    """Length of the whole samples that the mean rate is over; of the run if samples were late."""
    workers = printed.at(document, "workers", name, NAME) or 1.0
    samples = printed.at(document, "samples", name, NAME)
    each_ms = printed.at(document, "sampleInt", name, NAME)
    whole_s = printed.must(document, "duration", name, NAME)
    if not samples or not each_ms:
        return whole_s
    sampled_s, each_s = samples / workers * each_ms / 1e3, each_ms / 1e3
    return whole_s if whole_s > sampled_s + each_s else sampled_s


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
        *_of_samples(document, "requests", name),
        *_of_samples(document, "throughput", name),
    )


def _of_samples(document: printed.Json, what: str, name: str) -> tuple[Restated, ...]:
    """A total, which the samples add up to; those of workers are not those of the mean."""
    mean, total = (
        printed.at(document, f"{what}/{key}", name, NAME) for key in ("average", "total")
    )
    samples = printed.at(document, "samples", name, NAME)
    workers = printed.at(document, "workers", name, NAME) or 1.0
    if mean is None or not samples or workers > 1:
        return ()
    slack = (mean * _BUCKET_RATIO + _STEP) * samples
    by = f"`{what}.average` × `samples`"
    return restated.equal(f"`{what}.total`", total, by, mean * samples, slack)
