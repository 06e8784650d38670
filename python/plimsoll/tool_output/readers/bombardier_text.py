"""bombardier: its text, with and without `-l`.

What its figures mean, by its source (`bombardier.go`, `templates.go`):

- `Reqs/sec` is the mean of the rates of short stretches, and not requests / time; the two differ by
  some per cent, more where stretches differ. Both count every request that ended, failed ones too.
- Times are of every request that ended, failed ones too, from sending, connecting included where
  a connection was lost.
- `others` (once `errored`) are requests without a response, or with a status that is none; `Errors`
  names them. With `--http1` and `--http2` a response that was cut off has its status, and an error.
- A standard deviation has each different value once, so it is the real one at most.
- The duration is the requested one; requests in flight at its end are waited for, and count.
- A request that takes longer than 2 s fails unless `-t` was given. A KB is 1,024 bytes, of heads,
  bodies and what was sent together.
"""

from __future__ import annotations

import re

from plimsoll.tool_output import numbers, printed, restated
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.tool_output.run import OutputRun

NAME = "bombardier_text"
TITLE = "the text output of bombardier"

MARKS = (
    r"Bombarding \S+",
    r"(?#head)Statistics\s+Avg\s+Stdev\s+Max",
    r"Reqs/sec\s+\d",
    r"Latency\s+\d",
    r"(?#again)Latency Distribution(?: \(\w+\))?\s*$",
    r"HTTP codes:",
    r"1xx - \d",
    r"(?:others|errored) - \d",
    r"Errors:",
    r"Throughput:",
)
PASSED_OVER = r"\s*(?:\[?[=>-]|\d+ / \d+|Errors|Latency Dist)"
NOTES = (
    "bombardier's rate is the mean of the rates of short stretches, and counts failed requests",
    "bombardier includes failed requests in its latencies",
)
_RATES = r"Reqs/sec\s+<n>\s+<n>\s+<n>"
_FEWEST = 3
"""Stretches; of fewer the standard deviation is 0."""
_CODES = r"1xx - <c>, 2xx - <c>, 3xx - <c>, 4xx - <c>, 5xx - <c>"
_ENTRY = r"(?P<name>[^\d\s<][^<]*?) - <c>"


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of bombardier.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    rate = run.needed(_RATES, "Reqs/sec", "bombardier")
    url = run.word(r"Bombarding (\S+).*")
    requested = r"Bombarding \S+ .*using <c> connections?(?:\(s\))?"
    connections = run.value(requested)
    codes = run.values(_CODES)
    others = run.value(r"(?:others|errored) - <c>")
    bad = {"status 4xx": codes[3], "status 5xx": codes[4]} if codes else {}
    ended = sum(count or 0.0 for count in (*codes, others)) if codes else None
    if not run.has(r"Throughput:\s+[\d.,]+/s"):  # below a KB/s it has no unit
        run.value(r"Throughput:\s+<b>/s")
    return ReportedStatistics(
        source=run.source,
        tool="bombardier",
        endpoint="/" + url.partition("://")[2].partition("/")[2] if url else "",
        model="closed" if _is_closed(run) else "unknown",
        connections=connections if connections is not None else _requested_rate(run),
        duration_s=_lasted_s(run),
        overrun_s=_times(run).get("max", 0.0),
        requests=ended,
        failures=_failures(run, others),
        counts_failures=codes is not None,
        wrong_responses=printed.some(bad),
        throughput_per_s=rate,
        sampled=True,
        counting="ends",
        times_s=_times(run),
        times="service",
        timed="ends",
        restated=_restated(run, ended, others),
        notes=NOTES,
    )


def _is_closed(run: OutputRun) -> bool:
    """Whether the command is there and requests no rate."""
    command = run.command(r"(\bbombardier\b.*)")
    return bool(command) and not re.search(r"\s(?:-r|--rate)\b", command)


def _requested_rate(run: OutputRun) -> float | None:
    found = run.command(r"\bbombardier\b.*?\s(?:-c|--connections)[ =]?(\d+)\b")
    return float(found) if found else None


def _lasted_s(run: OutputRun) -> float | None:
    found = run.word(r"Bombarding \S+ for (\S+) using.*")
    return run.read(numbers.seconds, found) if found else None


def _failures(run: OutputRun, others: float | None) -> dict[str, float]:
    """Errors by kind; the number of all where none is named."""
    return _errors(run) or printed.some({"others": others})


def _errors(run: OutputRun) -> dict[str, float]:
    if not run.has(r"Errors:"):
        return {}
    return {
        name.strip(): count
        for name, count in run.named(_ENTRY)
        if not name.startswith(("others", "errored", "1xx"))
    }


def _times(run: OutputRun) -> dict[str, float]:
    names = ("mean", "stddev", "max")
    table = run.values(r"Latency\s+<t>\s+<t>\s+<t>")
    shares: dict[str, float] = {}
    for percent, time_s in run.named(r"(?P<name>\d+)%:?\s+<t>"):
        shares.setdefault(f"p{percent}", time_s)  # those of all stand before those of one status
    return printed.present({**printed.by_name(names, table), **shares})


def _restated(run: OutputRun, ended: float | None, others: float | None) -> tuple[Restated, ...]:
    """What bombardier prints twice."""
    requested = run.value(r"Bombarding \S+ with <c> requests?(?:\(s\))? using .*")
    errors = sum(_errors(run).values())
    by, bound = ("`others`", others) if _is_fasthttp(run) else ("the sum of the codes", ended)
    return (
        *_of_rates(run),
        *restated.at_most("the sum of `Errors`", errors, by, bound),
        *restated.at_most("the sum of the codes", ended, "the requested number", requested),
    )


def _of_rates(run: OutputRun) -> tuple[Restated, ...]:
    """The greatest rate of a short stretch bounds the mean and the standard deviation of all."""
    row, steps = run.values(_RATES), run.steps(_RATES)
    if row is None or steps is None:
        return ()
    names = ("`Avg` of `Reqs/sec`", "`Stdev` of `Reqs/sec`", "`Max` of `Reqs/sec`")
    mean, stddev, most = map(Figure, names, row, steps)
    return (
        *restated.at_most(mean.name, mean.value, most.name, most.value),
        *restated.spread(stddev.name, stddev, mean, most, 0.0, _FEWEST, "number"),
    )


def _is_fasthttp(run: OutputRun) -> bool:
    """Whether the command is there and names no other client, which has errors beside a status."""
    command = run.command(r"(\bbombardier\b.*)")
    return bool(command) and not re.search(r"\s--http[12]\b", command)
