"""Gatling: the summary that it prints at the end.

Its figures have the same meaning as in its JSON; the summary names its percentiles.
"""

from __future__ import annotations

from plimsoll.tool_output import printed, restated
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.tool_output.run import OutputRun

NAME = "gatling_text"
TITLE = "the summary that Gatling prints"

MARKS = (
    r"-{2,}\s*Global Information\s*-",
    r"(?#head)(?:> )?request count\s",
    r"(?:> )?min response time",
    r"(?:> )?max response time",
    r"(?:> )?mean response time",
    r"(?:> )?(?:response time )?std(?:\.|andard)? deviation",
    r"(?:> )?response time 50th percentile",
    r"(?:> )?response time 99th percentile",
    r"(?:> )?mean (?:requests/sec|throughput)",
    r"-{2,}\s*Response Time Distribution\s*-",
)
PASSED_OVER = (
    r"\s*(?:(?:> )?(?:OK:|KO:|response time \d+|\d+ ms <|t [<>]|failed|[\d.]+ms)|.*%\)?\s*$|=|-)"
)
NOTES = ("Gatling includes failed requests in its rate and latencies",)
_NAMES = {
    "min": "min response time",
    "max": "max response time",
    "mean": "mean response time",
    "stddev": r"(?:response time )?std(?:\.|andard)? deviation",
}


def read(run: OutputRun) -> ReportedStatistics:
    """The result of all requests together.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    rate = run.needed(
        _first(r"mean (?:requests/sec|throughput)(?: \(rps\))?"), "mean requests/sec", "Gatling"
    )
    counted = run.values(_form("request count"))
    failed = (counted[2] if counted[2] is not None else counted[4]) if counted else None
    times = {ours: run.value(_first(theirs)) for ours, theirs in _NAMES.items()}
    shares = {
        f"p{name}": value
        for name, value in run.named(
            r"(?:> )?response time (?P<name>\d+)th percentile(?: \(ms\))?\s+<n>\s.*"
        )
    }
    return ReportedStatistics(
        source=run.source,
        tool="Gatling",
        model="unknown",
        requests=counted[0] if counted else None,
        failures=printed.some({"KO": failed}),
        counts_failures=counted is not None,
        throughput_per_s=rate,
        counting="ends",
        times_s={k: v / 1e3 for k, v in printed.present({**times, **shares}).items()},
        times="service",
        timed="ends",
        times_step_s=1e-3,
        restated=_restated(run),
        notes=NOTES,
    )


def _restated(run: OutputRun) -> tuple[Restated, ...]:
    """All requests are those that are right, and those that are not."""
    counted = run.values(_form("request count"))
    kinds = [one for one in counted[1:] if one is not None] if counted else []
    return restated.parts(Figure("all requests", counted[0] if counted else None), kinds, "OK + KO")


def _form(what: str) -> str:
    return rf"(?:> )?{what}(?: \(ms\))?\s+<c>\s+(?:\(OK=<c>\s+KO=<c>\s*\)|<c>\s+<c>)"


def _first(what: str) -> str:
    return rf"(?:> )?{what}(?: \(ms\))?\s+<n>\s.*"
