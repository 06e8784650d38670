"""What a load comes to so far: rows of the panel, each a name and a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from plimsoll import wording
from plimsoll.aggregate import outcomes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll import events
    from plimsoll.findings.thresholds import Threshold

Row = tuple[str, Text]

BARS = " ▁▂▃▄▅▆▇█"
BUSY_RATIO = 0.8
"""Share of its threads from which the driver may hold the load back, as in `driver_headroom`."""

MOST_STATUSES = 6
MOST_FAILURES = 4


def rows(
    progress: events.Progress,
    throughputs: Sequence[float],
    p99s_ns: Sequence[float],
    limits: Sequence[Threshold],
    width: int,
) -> Iterator[Row]:
    """The rows for a driver that reports counts; what it does not know has none.

    Args:
        progress: The state of the load.
        throughputs: Complete responses per second, second by second.
        p99s_ns: The 99th percentile of the response times of each second, in nanoseconds.
        limits: Thresholds that fail the command.
        width: Available columns.
    """
    opened = (
        f"{wording.count(progress.connections_open)} of "
        f"{wording.count(progress.connections_requested)} open"
    )
    refused = progress.connections_refused
    yield (
        "connections",
        Text(opened + (f", {wording.count(refused)} failed attempts" if refused else "")),
    )
    latest = wording.per_second(throughputs[-1] if throughputs else None)
    yield "throughput", _barred(latest, throughputs, width)
    if progress.latency is not None:
        yield "latency", Text(latency_text(progress.latency))
        if any(p99s_ns):
            yield "p99", _barred(_time_text(progress.latency.p99_ns), p99s_ns, width)
    if progress.statuses:
        yield "status", Text(statuses_text(progress), no_wrap=True, overflow="ellipsis")
    failed = failures_text(progress)
    yield "failed", Text(failed or "none", style="red" if failed else "green")
    yield "requests", Text(wording.count(outcomes.ended(progress.outcomes)))
    if progress.driver_busy_cores is not None and progress.driver_threads:
        is_busy = progress.driver_busy_cores > BUSY_RATIO * progress.driver_threads
        yield "load generator", Text(driver_text(progress), style="yellow" if is_busy else "")
    for limit in limits:
        yield "fail-if", limit_text(limit, progress, latest_per_s=next(reversed(throughputs), None))


def sparkline(values: Sequence[float]) -> str:
    """Values as a row of bars, the largest one full; empty for none."""
    top = max(values, default=0.0)
    steps = len(BARS) - 1
    return "".join(BARS[round(steps * value / top) if top else 0] for value in values)


def barred(latest: str, values: Sequence[float], width: int) -> str:
    """The latest value in words, and a sparkline of the last ones, as many as there is room for.

    Args:
        latest: The latest value.
        values: All of them.
        width: Available columns.
    """
    room = max(0, width - len(latest) - 2)
    return f"{latest}  {sparkline(list(values)[-room:] if room else [])}".rstrip()


def _barred(latest: str, values: Sequence[float], width: int) -> Text:
    return Text(barred(latest, values, width), no_wrap=True)


def latency_text(latency: events.RecentLatency) -> str:
    """Percentiles of the last second."""
    known = {"p50": latency.p50_ns, "p90": latency.p90_ns, "p99": latency.p99_ns}
    return ", ".join(f"{name} {_time_text(time)}" for name, time in known.items())


def _time_text(time_ns: float | None) -> str:
    return wording.ABSENT if time_ns is None else wording.seconds(time_ns / 1e9)


def statuses_text(progress: events.Progress) -> str:
    """Complete responses by status code, the most frequent first."""
    ordered = sorted(progress.statuses.items(), key=lambda item: -item[1])
    return wording.listed(
        [f"{code} × {wording.count(count)}" for code, count in ordered], MOST_STATUSES
    )


def failures_text(progress: events.Progress) -> str:
    """Failures by kind in words, the most frequent first; empty when there are none."""
    failed = outcomes.failed(progress.outcomes)
    ordered = sorted(failed.items(), key=lambda item: -item[1])
    return wording.listed(
        [f"{wording.count(count)} {_words(name)}" for name, count in ordered], MOST_FAILURES
    )


def _words(outcome: str) -> str:
    return outcomes.BY_NAME[outcome].words if outcome in outcomes.BY_NAME else outcome


def driver_text(progress: events.Progress) -> str:
    """How many of the cores that its threads can use the driver keeps busy."""
    cores = wording.several(progress.driver_threads or 0, "core")
    return f"{wording.decimals(progress.driver_busy_cores or 0.0, 2)} of {cores} busy"


def limit_text(limit: Threshold, progress: events.Progress, latest_per_s: float | None) -> Text:
    """A threshold and the value so far; of times and rates that of the last second.

    Args:
        limit: The threshold.
        progress: The state of the load.
        latest_per_s: Complete responses in the last second; None before it.
    """
    measured = _measured(limit, progress, latest_per_s)
    if measured is None:
        return Text(f"{limit.text}, known at the end", style="dim")
    style = "red" if limit.is_crossed_by(measured) else "green"
    return Text(f"{limit.text}, now {limit.spoken(measured)}", style=style)


def _measured(
    limit: Threshold, progress: events.Progress, latest_per_s: float | None
) -> float | None:
    """The value of a threshold's quantity so far; None where it is not known under load."""
    latency = progress.latency
    failed = sum(outcomes.failed(progress.outcomes).values())
    ended = outcomes.ended(progress.outcomes)
    known = {
        "response_time_p50_ns": latency and latency.p50_ns,
        "response_time_p90_ns": latency and latency.p90_ns,
        "response_time_p99_ns": latency and latency.p99_ns,
        "throughput_per_s": latest_per_s,
        "failed": float(failed),
        "failure_ratio": failed / ended if ended else None,
    }
    return known.get(limit.column)
