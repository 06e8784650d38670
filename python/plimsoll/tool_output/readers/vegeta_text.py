"""vegeta: the text of `vegeta report`.

Its figures have the same meaning as in its JSON; it prints two rates: what was sent, and what
succeeded. Versions before 12.3 print no throughput. A time is rounded to the next smaller unit: one
of seconds to whole milliseconds, one of hours to whole minutes.
"""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.tool_output import numbers, printed, restated
from plimsoll.tool_output.reported import ReportedStatistics, percentile_name
from plimsoll.tool_output.restated import Figure, Restated
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
PASSED_OVER = r"\s*Status Codes"
NOTES = (
    "vegeta includes failed requests in its latencies, and estimates its percentiles",
    "vegeta does not print the requested rate, only the number of requests",
)
_NAMES = {"min": "min", "mean": "mean", "max": "max"}
_TOTAL = r"Requests\s+\[total, rate(?:, throughput)?\]\s+<c>,.*"
_PASSED = r"\S+(?:\s\d{3})*,"
"""A number that is not read here, whatever stands between its thousands."""
_RATE = rf"Requests\s+\[total, rate(?:, throughput)?\]\s+{_PASSED}\s+<n>(?:,.*)?"
_THROUGHPUT = rf"Requests\s+\[total, rate, throughput\]\s+{_PASSED}\s+{_PASSED}\s+<r>"
_DURATION = r"Duration\s+\[total, attack, wait\]\s+<t>,\s+<t>,\s+<t>"
_SUCCESS = r"Success\s+\[ratio\]\s+<n>%"
_ROUNDED_S = ((3600.0, 60.0), (60.0, 1.0), (1.0, 1e-3), (1e-3, 1e-6))
"""Times from which on each step is that of the print."""


def read(run: OutputRun) -> ReportedStatistics:
    """The result in a report of vegeta.

    Raises:
        InputError: It has no number of requests because it is truncated, or a number is none.
    """
    sent = run.needed(_TOTAL, "Requests", "vegeta")
    has_both = run.has(_THROUGHPUT)
    lasted = run.values(_DURATION)
    statuses = _statuses(run)
    responded = sum(count for status, count in statuses.items() if status != "0")
    wrong = printed.not_2xx_or_3xx({k: n for k, n in statuses.items() if k != "0"})
    total = run.value(r"Bytes In\s+\[total, mean\]\s+<c>,.*")
    percent = run.value(_SUCCESS)
    right = responded - sum(wrong.values())
    return ReportedStatistics(
        source=run.source,
        tool="vegeta",
        model="open",
        duration_s=lasted[0] if lasted else None,
        requests=(right if has_both else sent) if statuses or not has_both else None,
        failures=printed.some({"incomplete response": statuses.get("0")}),
        counts_failures=bool(statuses),
        wrong_responses=wrong,
        right_ratio=None if percent is None else percent / 100,
        throughput_per_s=_throughput_per_s(run),
        counting="successful" if has_both else "ends",
        times_s=_times(run),
        times="service",
        timed="ends",
        body_bytes=total / responded if total and responded else None,
        restated=_restated(run, sent, statuses),
        notes=NOTES,
    )


def _throughput_per_s(run: OutputRun) -> float | None:
    """What succeeded, or of older versions what was sent; without an attack that is a count."""
    printed_per_s = run.value(_THROUGHPUT if run.has(_THROUGHPUT) else _RATE)
    whole, attack, _ = _durations(run)
    if printed_per_s is None or attack.value != 0 or not whole.value:
        return printed_per_s
    return printed_per_s / whole.value


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


def _restated(run: OutputRun, sent: float, statuses: Mapping[str, float]) -> tuple[Restated, ...]:
    """What vegeta prints twice."""
    requests = Figure("`Requests`", sent)
    sizes = (
        one
        for name in ("Bytes In", "Bytes Out")
        for one in restated.quotient(
            run.figure(f"the mean of `{name}`", rf"{name}\s+\[total, mean\]\s+{_PASSED}\s+<r>"),
            Figure("its total", run.value(rf"{name}\s+\[total, mean\]\s+<c>,.*")),
            requests,
            "bytes",
        )
    )
    by_status = _of_statuses(run, requests, statuses) if statuses else ()
    return (*_of_times(run, requests), *by_status, *sizes)


def _of_times(run: OutputRun, requests: Figure) -> tuple[Restated, ...]:
    """The rate sent, the two parts of the duration, and what the latencies say of the second."""
    whole, attack, wait = _durations(run)
    if attack.value is None or wait.value is None:
        return ()
    slack, both = whole.step + attack.step + wait.step, attack.value + wait.value
    times = _times(run)
    least, most = (_timed(f"`{name}` of `Latencies`", times.get(name)) for name in ("min", "max"))
    return (
        *restated.quotient(run.figure("the rate", _RATE), requests, attack),
        *restated.equal("the total `Duration`", whole.value, "`attack` + `wait`", both, slack, "s"),
        *restated.between(wait, least, most, "s"),
    )


def _of_statuses(
    run: OutputRun, requests: Figure, statuses: Mapping[str, float]
) -> tuple[Restated, ...]:
    """All requests, those that succeeded, and their rate, which of one request is 1."""
    whole, attack, _ = _durations(run)
    right = Figure("responses 2xx and 3xx", sum(n for s, n in statuses.items() if s[:1] in "23"))
    throughput = run.figure("the throughput", _THROUGHPUT)
    return (
        *restated.parts(requests, statuses.values(), "the sum of `Status Codes`"),
        *restated.quotient(
            run.figure("`Success`", _SUCCESS), right.scaled(100), requests, "percent"
        ),
        *(restated.quotient(throughput, right, whole) if attack.value else ()),
    )


def _durations(run: OutputRun) -> tuple[Figure, Figure, Figure]:
    """The whole duration, and its parts."""
    total_s, attack_s, wait_s = run.values(_DURATION) or (None, None, None)
    return _timed("`Duration`", total_s), _timed("`attack`", attack_s), _timed("`wait`", wait_s)


def _timed(name: str, time_s: float | None) -> Figure:
    """A time with the step to which vegeta rounds it."""
    step_s = next((step for least, step in _ROUNDED_S if (time_s or 0.0) >= least), 1e-9)
    return Figure(name, time_s, step_s)
