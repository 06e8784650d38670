"""oha: its text (`--no-tui`, or what it leaves on the screen).

Its figures have the same meaning as in its JSON (oha 1.16):

- `Requests/sec` counts every request that ended, failed ones too, and those that the end of the
  measurement cut off.
- Times are of the requests with a response of any status, from sending; with
  `--latency-correction` they run from the instant at which a request was due, which is not printed.
- Neither the connections nor the rate that were requested are in it, nor the requests in flight on
  each connection (`-p`, which HTTP/1.1 ignores); the command may stand above.
- With `--stats-success-breakdown` histogram and distribution are printed three times: of all
  responses, of those with a status of 2xx, and of those with 4xx or 5xx.
"""

from __future__ import annotations

import re

from plimsoll.tool_output import numbers, printed, restated
from plimsoll.tool_output.reported import Model, ReportedStatistics, percentile_name
from plimsoll.tool_output.restated import Figure, Restated
from plimsoll.tool_output.run import OutputRun

NAME = "oha_text"
TITLE = "the text output of oha"

MARKS = (
    r"Summary:\s*$",
    r"(?#head)Success rate:\s+\d",
    r"Total:\s+\d\S*\s+(?:secs?|[nµu]?m?s|(?:10 )?(?:sec|min)|hr)\b",
    r"Slowest:",
    r"Fastest:",
    r"Average:",
    r"Requests/sec:",
    r"Total data:",
    r"Size/request:",
    r"Size/sec:",
    r"Response time histogram:",
    r"(?:Response time|Latency) distribution:",
    r"Details \(average, fastest, slowest\)",
    r"Status code distribution:",
    r"Error distribution:",
)
PASSED_OVER = (
    r"\s*(?:NaN|[\d.,]+(?: (?:10 )?\w+)? +\[\d[^\]]*\]|"
    r"DNS|Success rate|Total data|Size/|Response time \w+ \(|Latency \w+ \()"
)
COUNTS = (
    "oha includes failed and unfinished requests in its rate, and excludes them from its latencies"
)
SILENT = "oha does not print its number of connections; supply it with `--set connections=…`"
_RATE = r"Requests/sec:\s+<r>"
_TOTAL = r"Total:\s+<t>"
_SIZE = r"Size/request:\s+<b>"
_DATA = r"Total data:\s+<b>"
_BUCKET = r"[\d.,]+(?: (?:10 )?\w+)?\s+\[<c>\](?:\s.*)?"
_OF_SOME = r"(?:Response time|Latency) \w+ \(.* only\):"
_STATUS = r"\[(?P<name>\d{3})\]\s+<c> responses?"
_HTTP2 = re.compile(r"\s--http(?:2\b|-version[ =]?[23])")
_CUT_OFF = "aborted due to deadline"


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of oha.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    run.needed(r"Success rate:\s+(?:<n>%|<n>)", "Success rate", "oha")
    rate = run.needed(_RATE, "Requests/sec", "oha")
    command = run.command(r"(\boha\b.*)")
    requested = re.search(r"\s-c[ =]?(\d+)\b", command)
    paced = re.search(r"\s-q[ =]?(\d+)\b", command)
    shared = re.search(r"\s-p[ =]?(\d+)\b", command) if _HTTP2.search(command) else None
    run.require_all(r"Status code distribution:", _STATUS)
    run.require_all(r"Error distribution:", r"\[<c>\]\s+\S.*")
    statuses = dict(run.named(_STATUS))
    errors = _errors(run)
    size = run.value(_SIZE)
    return ReportedStatistics(
        source=run.source,
        tool="oha",
        model=_model(command, is_paced=paced is not None),
        connections=float(requested[1]) if requested else None,
        in_flight_each=float(shared[1]) if shared else 1.0,
        in_flight_known=bool(command),
        in_flight_printed=False,
        requested_rate_per_s=float(paced[1]) if paced else None,
        duration_s=run.value(_TOTAL),
        requests=(sum(statuses.values()) + sum(errors.values())) or None,
        failures=printed.some({k: n for k, n in errors.items() if k != _CUT_OFF}),
        counts_failures=bool(statuses or errors),
        wrong_responses=printed.not_2xx_or_3xx(statuses),
        throughput_per_s=rate,
        counting="ends",
        times_s=_times(run),
        timed="responses",
        times_step_s=_step_s(run),
        body_bytes=size,
        restated=_restated(run, sum(statuses.values()), sum(errors.values())),
        notes=(COUNTS, *(() if requested else (SILENT,))),
    )


def _model(command: str, *, is_paced: bool) -> Model:
    """The options of the command, if it is printed above."""
    if not command:
        return "unknown"
    return "open" if is_paced or "--burst" in command else "closed"


def _errors(run: OutputRun) -> dict[str, float]:
    return {
        message.strip(): count
        for message, count in run.named(r"\[<c>\]\s+(?P<name>(?!\d.* responses?$)\S.*)")
    }


def _times(run: OutputRun) -> dict[str, float]:
    lines = {"min": "Fastest", "mean": "Average", "max": "Slowest"}
    reported = {name: run.value(rf"{line}:\s+<t>") for name, line in lines.items()}
    shares: dict[str, float] = {}
    for percent, time_s in run.named(r"(?P<name>[\d.,]+)%+ in <t>"):
        # The first of each is of all responses.
        shares.setdefault(percentile_name(percent.replace(",", ".")), time_s)
    return printed.present({**reported, **shares})


def _step_s(run: OutputRun) -> float:
    """Four decimals are printed, of the unit that fits."""
    unit = run.word(r"Average:\s+\S+ (.+)")
    return numbers.SECONDS.get(unit, 1.0) * 1e-4


def _restated(run: OutputRun, responses: float, errors: float) -> tuple[Restated, ...]:
    """What oha prints twice."""
    lasted, data = run.figure("`Total`", _TOTAL), run.figure("`Total data`", _DATA)
    rate, size = run.figure("`Requests/sec`", _RATE), run.figure("`Size/request`", _SIZE)
    per_s = run.figure("`Size/sec`", r"Size/sec:\s+<b>(?:/s)?")
    buckets = [count for (count,) in run.before(_OF_SOME).rows(_BUCKET)]
    all_ended = Figure("all responses and errors", responses + errors or None)
    of_status = Figure("the sum of the status codes", responses or None)
    return (
        *restated.quotient(rate, all_ended, lasted),
        *restated.quotient(per_s, data, lasted, "bytes"),
        *restated.quotient(Figure(size.name, size.value, size.step + 1), data, of_status, "bytes"),
        *restated.parts(of_status, buckets, "the sum of the histogram"),
    )
