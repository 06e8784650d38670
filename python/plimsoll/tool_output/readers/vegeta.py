"""vegeta: the JSON of `vegeta report -type=json`.

What its figures mean, by its source (`lib/metrics.go` and `hit` in `lib/attack.go`) and by what it
printed of servers with known faults:

- Requests are sent at a rate, independent of responses. `rate` is the number of sent requests / the
  time from the first to the last; the requested rate is not in the file.
- `throughput` counts requests that succeeded (2xx and 3xx), / `duration` + `wait`. Where `duration`
  is 0, as of one request, both rates are counts.
- `wait` is the time from the last request to the last response, of whichever request.
- Times are of all requests, failed ones too, from sending. Status `0` is a request without an
  response, or with one that was cut off. Percentiles are estimated (t-digest).
- `bytes_in` are bodies without heads; of responses that were cut off nothing is counted.
- A request whose connection had been closed while idle is sent again by Go, and is one request.
"""

from __future__ import annotations

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, Source
from plimsoll.tool_output.restated import Figure, Restated

NAME = "vegeta"
TITLE = "the JSON of vegeta (`vegeta report -type=json`)"

_NAMES = {
    "min": "min", "mean": "mean", "50th": "p50", "90th": "p90", "95th": "p95", "99th": "p99",
    "max": "max",
}  # fmt: skip
NOTES = (
    "vegeta includes failed requests in its latencies, and estimates its percentiles",
    "vegeta's JSON does not contain the requested rate, only the number of requests",
)


def recognises(text: str) -> bool:
    """Whether a text is JSON of vegeta."""
    return printed.has_keys(text, "latencies", "status_codes")


def read(text: str, name: str) -> tuple[ReportedStatistics, ...]:
    """The result in JSON of vegeta.

    Raises:
        InputError: It is truncated, or a number is missing.
    """
    document = printed.parsed(text, name, NAME)
    latencies = printed.counts(document, "latencies")
    pairs = _restated(document, name)
    statuses = printed.counts(document, "status_codes")
    sent_s = printed.must(document, "duration", name, NAME) / 1e9
    statuses_right = [n for status, n in statuses.items() if status[:1] in ("2", "3")]
    right = float(sum(statuses_right)) if statuses else None
    wait_s = (printed.at(document, "wait", name, NAME) or 0.0) / 1e9
    throughput = printed.must(document, "throughput", name, NAME)
    return (
        ReportedStatistics(
            source=Source(name),
            tool=NAME,
            model="open",
            duration_s=sent_s + wait_s,
            requests=right,
            failures=printed.some({"incomplete response": statuses.pop("0", None)}),
            counts_failures=True,
            wrong_responses=printed.not_2xx_or_3xx(statuses),
            right_ratio=printed.at(document, "success", name, NAME),
            throughput_per_s=throughput / (1.0 if sent_s else wait_s or 1.0),
            counting="successful",
            times_s={
                ours: latencies[key] / 1e9 for key, ours in _NAMES.items() if key in latencies
            },
            times="service",
            timed="ends",
            body_bytes=_mean_body_bytes(document, sum(statuses.values()), name),
            restated=pairs,
            notes=NOTES,
        ),
    )


def _mean_body_bytes(document: printed.Json, responded: float, name: str) -> float | None:
    total = printed.at(document, "bytes_in/total", name, NAME)
    return None if total is None or not responded else total / responded


def _restated(document: printed.Json, name: str) -> tuple[Restated, ...]:
    """What vegeta writes twice."""

    def of(path: str) -> Figure:
        return Figure(f"`{path.replace('/', '.')}`", printed.at(document, path, name, NAME))

    sent_s, wait = of("duration").scaled(1e-9), of("wait").scaled(1e-9)
    whole_s = Figure("`duration` + `wait`", (sent_s.value or 0.0) + (wait.value or 0.0))
    statuses = printed.counts(document, "status_codes")
    right = Figure("responses 2xx and 3xx", sum(n for s, n in statuses.items() if s[:1] in "23"))
    requests, mean, total = of("requests"), of("latencies/mean"), of("latencies/total")
    least, most = of("latencies/min").scaled(1e-9), of("latencies/max").scaled(1e-9)
    return (
        *(restated.parts(requests, statuses.values(), "status codes") if statuses else ()),
        *restated.quotient(of("rate"), requests, sent_s),
        *(restated.quotient(of("throughput"), right, whole_s) if statuses and sent_s.value else ()),
        *(restated.quotient(of("success"), right, requests) if statuses else ()),
        *restated.quotient(of("bytes_in/mean"), of("bytes_in/total"), requests, "bytes"),
        *restated.quotient(Figure(mean.name, mean.value, 1.0), total, requests),
        *restated.between(wait, least, most, "s"),
    )
