"""The numbers of a trial as people read them: main ones, times, connections, steady state."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.summary import STATISTICS
from plimsoll.statistics import quantiles

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from plimsoll.aggregate.steady_state import SteadyState
    from plimsoll.aggregate.summary import Summary
    from plimsoll.campaign.load import Load, UnknownLoad
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.recording import Driver, Recording

MOST_LEVELS = 6
"""Levels of a hold that are listed one by one."""

STATISTIC_HEADINGS = (
    *("mean", "min", "25 %", "50 %", "75 %", "90 %", "95 %", "99 %"),
    *("99.9 %", "99.99 %", "max"),
)
"""Headings of `tables.STATISTICS`."""

TIMES = {
    "response_time": ("response time", "done − due"),
    "service_time": ("service time", "done − sent"),
    "first_byte": ("time to first byte", "first byte − sent"),
    "connect": ("time to connect", "handshake complete − connect called, whole trial"),
    "lag": ("scheduling delay", "sent − due"),
}
"""Times of a summary: their names, and what they are."""

_TIME_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def time_name(name: str, load: Load | UnknownLoad) -> str:
    """What a time of a summary is called; that of a message is its round trip."""
    if name == "response_time" and load.events:
        return "between events"
    if name == "response_time" and load.protocol == "websocket":
        return "round trip"
    return TIMES[name][0]


def measured_time(value_ns: float | None, recording: Recording) -> str:
    """A time as the load generator resolves it: `5 ms`, `< 1 ms`; `–` for none."""
    step_s = 0.0 if recording.driver is None else recording.driver.durations_step_s
    if value_ns is not None and value_ns < step_s * 1e9:
        return f"< {wording.seconds(step_s)}"
    return wording.duration(value_ns)


def headline(trial: TrialFindings) -> list[tuple[str, str, str]]:
    """The main numbers of a trial: name, number, and what belongs to it."""
    summary = trial.summary
    if summary is None:
        return []
    time = summary.time(summary.latency_kind)
    return [
        (
            "Goodput",
            wording.per_second(summary.goodput_per_s),
            f"throughput {wording.per_second(summary.throughput_per_s)}",
        ),
        (
            f"{TIMES[summary.latency_kind][0].capitalize()}, median",
            measured_time(time.p50_ns, trial.recording),
            f"99 % {measured_time(time.p99_ns, trial.recording)}",
        ),
        (
            "Failed",
            wording.percent(summary.failure_ratio),
            f"{wording.count(summary.failed)} of {wording.count(summary.ok + summary.failed)}",
        ),
        (
            "Server CPU",
            wording.busy_cores(summary.server_busy_cores),
            f"{wording.per_second(summary.requests_per_core_s)} per busy core"
            if summary.requests_per_core_s is not None
            else "",
        ),
        (
            "Server memory, peak",
            wording.size(summary.server_peak_rss_bytes),
            f"PSS {wording.size(summary.server_peak_pss_bytes)}",
        ),
        (
            "Load generator CPU",
            wording.busy_cores(summary.driver_busy_cores),
            f"busiest core {wording.percent(summary.driver_peak_busy_ratio)}",
        ),
        *_energy(summary),
    ]


def _energy(summary: Summary) -> Iterator[tuple[str, str, str]]:
    """Energy of a response at the wall, and by RAPL, where it was measured."""
    for source, name in (("wall", "Energy at the wall"), ("rapl", "Energy, RAPL")):
        total_j = summary.value(f"{source}_j_per_ok")
        net_j = summary.value(f"{source}_net_j_per_ok")
        if net_j is not None:
            yield (
                f"{name}, above idle",
                f"{wording.joules(net_j)}/response",
                f"total {wording.joules(total_j)}",
            )
        elif total_j is not None:
            yield f"{name}, total", f"{wording.joules(total_j)}/response", ""


def times(summary: Summary) -> list[tuple[str, str, list[str]]]:
    """The table of times: name with unit, what it is, and its statistics in that unit.

    All numbers of a row have the same decimals, so that they can be compared at a glance.
    """
    rows: list[tuple[str, str, list[str]]] = []
    for kind, (name, meaning) in TIMES.items():
        values = [summary.time(kind).of(statistic) for statistic in STATISTICS]
        middle = values[0] or max((value for value in values if value), default=0.0)
        factor, unit = _unit_of(middle)
        digits = 0 if middle <= 0 else 2 - math.floor(math.log10(middle / factor))
        places = min(max(digits, 0), 3)
        texts = [
            wording.ABSENT if v is None else wording.decimals(v / factor, places) for v in values
        ]
        is_known = any(value is not None for value in values)
        rows.append((f"{name}, {unit}" if is_known else name, meaning, texts))
    return rows


def _unit_of(value_ns: float) -> tuple[float, str]:
    return next((pair for pair in _TIME_UNITS[:3] if value_ns >= pair[0]), _TIME_UNITS[2])


def why_absent(summary: Summary) -> str:
    """Why some percentiles are not shown; empty when all are."""
    responses, opened = summary.completed, summary.connections_opened or 0
    hidden = [
        f"{heading} from {wording.count(quantiles.rows_needed(quantiles.QUANTILES[statistic]))}"
        for statistic, heading in zip(STATISTICS, STATISTIC_HEADINGS, strict=True)
        if statistic in quantiles.QUANTILES
        and not quantiles.enough(min(responses, opened), quantiles.QUANTILES[statistic])
    ]
    if not hidden:
        return ""
    return (
        f"A percentile is shown where at least {quantiles.ROWS_ABOVE} values lie above it: "
        f"{', '.join(hidden)} values on; this trial has {wording.several(responses, 'response')} "
        "in the "
        f"measurement window and {wording.several(opened, 'connection')}."
    )


def percentile_needs(summary: Summary, statistics: Mapping[str, str], name: str) -> str:
    """How many responses those percentiles need that have too few; empty if there are none.

    `p99 needs 1,000 responses, 412 came; p99.9 10,000`.

    Args:
        summary: The summary.
        statistics: The statistics that are shown, and their headings.
        name: The time.
    """
    known, came = summary.time(name), summary.completed
    needs = [
        (heading, quantiles.rows_needed(quantiles.QUANTILES[one]))
        for one, heading in statistics.items()
        if one in quantiles.QUANTILES and known.of(one) is None
    ]
    lacking = [(heading, wording.count(rows)) for heading, rows in needs if rows > came]
    if not lacking:
        return ""
    (heading, rows), *others = lacking
    first = f"{heading} needs {rows} responses, {wording.count(came)} came"
    return "; ".join([first, *(" ".join(one) for one in others)])


def connection_count(name: str, summary: Summary, driver: Driver | None) -> float | None:
    """How many connections were `opened`, `refused` and so on.

    Args:
        name: What became of them.
        summary: The summary of a trial, by its rows.
        driver: Its load generator, whose own counters tell where rows stayed on hosts.
    """
    by_rows = summary.value(f"connections_{name}")
    if by_rows is not None or driver is None:
        return by_rows
    return {"opened": driver.opened, "refused": driver.refused}.get(name)


def connections(summary: Summary, driver: Driver | None) -> list[tuple[str, str, str]]:
    """What became of the connections: name, count, and what it counts."""
    names = {
        "requested": "largest number requested",
        "opened": "handshakes that completed",
        "with_response": "of these, with at least one response byte",
        "refused": "failed connection attempts",
        "lost": "closed by the server or by an error",
        "peak_open": "largest number open at one time",
    }
    return [
        (
            name.replace("_", " "),
            wording.count(connection_count(name, summary, driver)),
            meaning,
        )
        for name, meaning in names.items()
    ]


def steady_state(state: SteadyState | None) -> list[tuple[str, str]]:
    """How soon throughput was there, and how it went in the hold: name and value."""
    if state is None:
        return []
    risen_s, levels = state.risen_after_s, state.levels_per_s
    reported = " → ".join(wording.per_second(level) for level in levels[:MOST_LEVELS])
    more = f" and {len(levels) - MOST_LEVELS} more" if levels[MOST_LEVELS:] else ""
    facts = [
        ("90 % of steady throughput after", _risen(risen_s)),
        ("Steady state", f"{state.name}{': ' if reported else ''}{reported}{more}"),
    ]
    return [fact for fact in facts if fact[1]]


def _risen(after_s: float | None) -> str:
    if after_s is None:
        return ""
    return wording.seconds(after_s) if after_s else "no time"
