"""Fortio: its JSON (`fortio load -json`).

What its figures mean, by its documentation and by what it printed of servers with known faults:

- `ActualQPS` counts every request, failed ones too; `RetCodes` has them by status, `-1` being those
  without a response. A response that was cut off counts with its status, and only `Sizes` shows it.
- A request is sent again on a new connection if its own was lost, or if it ran into the time limit
  on one that had served others. It counts once, with the time of both. `SocketCount` gives the
  number of connections used.
- Each of `NumThreads` has one request in flight at a time. Times run from sending; percentiles are
  read off a histogram, so they lie between two measured times.
- `RequestedQPS` is `max` where no rate was requested. `Labels` is the address with the name of the
  host of Fortio where no label was given.
"""

from __future__ import annotations

from typing import cast

from plimsoll import wording
from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, Source, percentile_name
from plimsoll.tool_output.restated import Figure, Restated

NAME = "Fortio"
TITLE = "the JSON of Fortio (`fortio load -json`)"

_NO_ANSWER = "-1"
LOST = (
    "{} of the {} connections replaced closed or lost ones; a request that was repeated "
    "on one counts once, with its response"
)
NOTES = (
    "Fortio includes failed requests in its rate and latencies",
    "Fortio computes percentiles from a histogram, so they are approximate",
)


def recognises(text: str) -> bool:
    """Whether a text is JSON of Fortio."""
    return printed.has_keys(text, "ActualQPS", "DurationHistogram")


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The result in JSON of Fortio.

    Raises:
        InputError: It is truncated, or a number is missing.
    """
    document = printed.parsed(text, name, NAME)
    pairs = _restated(document, name)
    statuses = printed.counts(document, "RetCodes")
    requested = _rate(str(document.get("RequestedQPS", "")))
    threads = printed.at(document, "NumThreads", name, NAME)
    size = printed.at(document, "Sizes/Avg", name, NAME)
    heads = printed.at(document, "HeaderSizes/Avg", name, NAME)
    return (
        ReportedStatistics(
            source=Source(name),
            tool=" ".join(filter(None, (NAME, str(document.get("Version", ""))))),
            subject=_label(document),
            endpoint="/" + str(document.get("URL", "")).partition("://")[2].partition("/")[2],
            connections=threads,
            requested_rate_per_s=requested,
            duration_s=printed.must(document, "ActualDuration", name, NAME) / 1e9,
            threads=None if threads is None else round(threads),
            requests=printed.at(document, "DurationHistogram/Count", name, NAME),
            failures=printed.some({"no response": statuses.pop(_NO_ANSWER, None)}),
            counts_failures=True,
            wrong_responses=printed.not_2xx_or_3xx(statuses),
            throughput_per_s=printed.must(document, "ActualQPS", name, NAME),
            counting="ends",
            times_s=_times(printed.table(document, "DurationHistogram")),
            times="service",
            timed="ends",
            percentiles_step_s=_widest(printed.table(document, "DurationHistogram")),
            body_bytes=None if size is None or heads is None else size - heads,
            shortest_bytes=printed.at(document, "Sizes/Min", name, NAME),
            longest_bytes=printed.at(document, "Sizes/Max", name, NAME),
            restated=pairs,
            notes=(*NOTES, *_reconnected(document, threads, name)),
        ),
    )


def _rate(text: str) -> float | None:
    """The rate that was requested; None for `max`."""
    try:
        return float(text)
    except ValueError:
        return None


def _label(document: printed.Json) -> str:
    """The label that was given; empty where Fortio made one up of the address and its host."""
    label = str(document.get("Labels") or "")
    address = str(document.get("URL", "")).partition("://")[2]
    return "" if label.partition(" , ")[0] in address else label


def _reconnected(document: printed.Json, threads: float | None, name: str) -> tuple[str, ...]:
    """That connections were lost, where there were more of them than were requested."""
    opened = printed.at(document, "SocketCount", name, NAME)
    each = printed.at(document, "NumConnections", name, NAME) or 1.0
    if not opened or not threads or document.get("DisableKeepAlive"):
        return ()
    lost = opened - threads * each
    return (LOST.format(wording.count(lost), wording.count(opened)),) if lost > 0 else ()


def _times(histogram: printed.Json) -> dict[str, float]:
    names = {"Min": "min", "Avg": "mean", "StdDev": "stddev", "Max": "max"}
    reported = {
        ours: float(histogram[theirs]) for theirs, ours in names.items() if theirs in histogram
    }
    shares = {
        percentile_name(f"{float(one['Percentile']):g}"): float(one["Value"])
        for one in cast("list[printed.Json]", histogram.get("Percentiles") or [])
        if {"Percentile", "Value"} <= one.keys()
    }
    return {**reported, **shares}


def _widest(histogram: printed.Json) -> float:
    """The width of the widest bucket that a percentile was read off."""
    values = [one for name, one in _times(histogram).items() if name.startswith("p")]
    buckets = cast("list[printed.Json]", histogram.get("Data") or [])
    spans = [(float(one["Start"]), float(one["End"])) for one in buckets]
    return max(
        (end - start for start, end in spans for value in values if start <= value <= end),
        default=0.0,
    )


def _restated(document: printed.Json, name: str) -> tuple[Restated, ...]:
    """What Fortio writes twice."""

    def of(path: str) -> Figure:
        return Figure(f"`{path.replace('/', '.')}`", printed.at(document, path, name, NAME))

    count, lasted = of("DurationHistogram/Count"), of("ActualDuration").scaled(1e-9)
    codes = printed.counts(document, "RetCodes").values()
    histogram = printed.table(document, "DurationHistogram")
    buckets = cast("list[printed.Json]", histogram.get("Data") or [])
    mean, whole = of("DurationHistogram/Avg"), of("DurationHistogram/Sum")
    return (
        *restated.quotient(of("ActualQPS"), count, lasted),
        *restated.quotient(mean, whole, count, "s"),
        *restated.parts(count, codes, "the sum of `RetCodes`"),
        *restated.parts(count, [float(one["Count"]) for one in buckets], "the sum of the buckets"),
    )
