"""vegeta: the text of `vegeta report`.

Its figures have the same meaning as in its JSON; it prints two rates: what was sent, and what
succeeded. Versions before 12.3 print no throughput.
"""

from __future__ import annotations

from plimsoll.tool_output import numbers, printed
from plimsoll.tool_output.reported import ReportedStatistics, percentile_name
from plimsoll.tool_output.run import OutputRun

NAME = "vegeta_text"
TITLE = "the text output of vegeta (`vegeta report`)"

MARKS = (
    r"Requests\s+\[total, rate",
    r"Duration\s+\[total, attack",
    r"Latencies\s+\[",
    r"Bytes In\s+\[",
    r"Bytes Out\s+\[",
    r"Success\s+\[ratio\]",
    r"Status Codes\s+\[code:count\]",
    r"Error Set:",
)
PASSED_OVER = r"\s*(?:Bytes Out|Status Codes)"
NOTES = (
    "vegeta includes failed requests in its latencies, and estimates its percentiles",
    "vegeta does not print the requested rate, only the number of requests",
)
_NAMES = {"min": "min", "mean": "mean", "max": "max"}


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a report of vegeta.

    Raises:
        InputError: It has no number of requests because it is truncated, or a number is none.
    """
    sent = run.needed(r"Requests\s+\[total, rate(?:, throughput)?\]\s+<c>,.*", "Requests", "vegeta")
    rates = run.values(r"Requests\s+\[total, rate, throughput\]\s+\S+,\s+<n>,\s+<n>")
    older = run.values(r"Requests\s+\[total, rate\]\s+\S+,\s+<n>")
    lasted = run.values(r"Duration\s+\[total, attack, wait\]\s+<t>,\s+<t>,\s+<t>")
    statuses = _statuses(run)
    responded = sum(count for status, count in statuses.items() if status != "0")
    wrong = printed.not_2xx_or_3xx({k: n for k, n in statuses.items() if k != "0"})
    total = run.value(r"Bytes In\s+\[total, mean\]\s+<c>,.*")
    percent = run.value(r"Success\s+\[ratio\]\s+<n>%")
    right = responded - sum(wrong.values())
    return ReportedStatistics(
        source=run.source,
        tool="vegeta",
        model="open",
        duration_s=lasted[0] if lasted else None,
        requests=(right if rates else sent) if statuses or not rates else None,
        failures=printed.some({"incomplete response": statuses.get("0")}),
        counts_failures=bool(statuses),
        wrong_responses=wrong,
        right_ratio=None if percent is None else percent / 100,
        throughput_per_s=rates[1] if rates else (older[0] if older else None),
        counting="successful" if rates else "ends",
        times_s=_times(run),
        times="service",
        timed="ends",
        body_bytes=total / responded if total and responded else None,
        notes=NOTES,
    )


def _statuses(run: OutputRun) -> dict[str, float]:
    """Responses by status: `200:95  0:5`."""
    stated = run.word(r"Status Codes\s+\[code:count\]\s+(.*)")
    pairs = (pair.partition(":") for pair in stated.split())
    return {status: run.read(numbers.count, count) or 0.0 for status, _, count in pairs if count}


def _times(run: OutputRun) -> dict[str, float]:
    names = run.word(r"Latencies\s+\[([^\]]*)\].*").split(", ")
    values = run.word(r"Latencies\s+\[[^\]]*\]\s+(.*)").split(", ")
    found: dict[str, float | None] = {}
    for name, value in zip(names, values, strict=False):
        if value:
            known = _NAMES.get(name) or percentile_name(name.removesuffix("th"))
            found[known] = run.read(numbers.seconds, value)
    return printed.present(found)
