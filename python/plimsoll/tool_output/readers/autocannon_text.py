"""autocannon: its text, with the tables of newer versions or the plain ones of older.

Its figures have the same meaning as in its JSON (autocannon 8):

- `Req/Sec` is the mean of the counts of whole seconds, of responses of any status; the number of
  requests in the last line is not read if it is rounded to thousands.
- Times are of responses, in whole milliseconds; their mean has two decimals. With `-R` they are
  corrected with a fixed interval, which is not printed.
- `errors` are requests without a response, timeouts among them.
- An MB is 1,000,000 bytes.
"""

from __future__ import annotations

from plimsoll.tool_output import printed
from plimsoll.tool_output.reported import ReportedStatistics
from plimsoll.tool_output.run import OutputRun

NAME = "autocannon_text"
TITLE = "the text output of autocannon"

MARKS = (
    r"Running \S+(?: \S+)? test @",
    r"\d\S* connections?(?: with \d+ (?:pipelining factor|workers?).*)?\s*$",
    r"(?#head)Stat\s+(?:2\.5%\s+50%|Avg\s+Stdev\s+Max)",
    r"Latency(?: \(ms\))?\s+\d",
    r"Stat\s+1%\s+2\.5%",
    r"Req/Sec\s+\d",
    r"Bytes/Sec\s+\d",
    r"Req/Bytes counts sampled",
    r"(?:# )?of samples:",
    r"\d\S* 2xx responses",
    r"\d\S* requests in \S+, \d",
    r"\d\S* errors \(\d",
)
PASSED_OVER = (
    r"\s*(?:Stat\s|Code\s|(?:# )?of samples|\d{3}\s+\d+\s*$|\d+%\s+\d+\s*$|[\d.]+%?\s+\d+\s*$)"
)
NOTES = (
    "autocannon's times are whole milliseconds, and its rate is the mean of whole seconds",
    "autocannon does not print whether a rate was set",
)
_ROUNDED = r"\d\S*[kMG] requests in .*"
_TABLE = r"Latency\s+<t>\s+<t>\s+<t>\s+<t>\s+<t>\s+<t>\s+<t>"
_PLAIN = r"Latency \(ms\)\s+<n>\s+<n>\s+<n>"


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a run of autocannon.

    Raises:
        InputError: It has no rate because it is truncated, or a number cannot be read.
    """
    table = run.values(r"Req/Sec\s+<n>\s+<n>\s+<n>\s+<n>\s+<n>\s+<n>\s+<n>")
    rate = table[4] if table else run.needed(r"Req/Sec\s+<n>\s+<n>\s+<n>", "Req/Sec", "autocannon")
    url = run.word(r"Running \S+(?: \S+)? test @\s*(\S*).*")
    total = run.values(r"<k> requests in <t>, <d> read")
    is_rounded = run.has(_ROUNDED)
    lost = run.values(r"<k> errors \(<k> timeouts?\)") or (None, None)
    timeouts = lost[1] or 0.0
    bad = run.values(r"<c> 2xx responses, <c> non 2xx responses")
    received = run.values(r"Bytes/Sec\s+<d>\s+<d>\s+<d>\s+<d>\s+<d>\s+<d>\s+<d>")
    run.values(r"Bytes/Sec\s+<d>\s+<d>\s+<d>")
    return ReportedStatistics(
        source=run.source,
        tool="autocannon",
        model="unknown",
        endpoint="/" + url.partition("://")[2].partition("/")[2] if url else "",
        connections=run.value(r"<c> connections?(?: with .*)?"),
        in_flight_each=run.value(r"\S+ connections? with <c> pipelining factor.*") or 1.0,
        duration_s=total[1] if total else None,
        requests=_responded(bad, None if is_rounded or not total else total[0]),
        failures=printed.some({"errors": (lost[0] or 0.0) - timeouts, "timeout": timeouts}),
        counts_failures=total is not None,
        wrong_responses=printed.some({"not 2xx": bad[1] if bad else None}),
        throughput_per_s=rate,
        sampled=True,
        counting="responses",
        times_s=_times(run),
        times="unknown",
        timed="responses",
        times_step_s=1e-3,
        received_per_s=received[4] if received else None,
        notes=NOTES,
    )


def _responded(by_status: tuple[float | None, ...] | None, total: float | None) -> float | None:
    """Responses: those of each status are printed whole, all together rounded to thousands."""
    if by_status is None or None in by_status:
        return total
    return sum(count or 0.0 for count in by_status)


def _times(run: OutputRun) -> dict[str, float]:
    table = run.values(_TABLE)
    if table is not None:
        names = ("p025", "p50", "p975", "p99", "mean", "stddev", "max")
        return printed.present(printed.by_name(names, table))
    plain = run.values(_PLAIN)
    reported = printed.by_name(("mean", "stddev", "max"), plain)
    return {name: value / 1e3 for name, value in printed.present(reported).items()}
