"""What a calibration found, as tables for a terminal and as Markdown.

Both are drawn from the same sheets: a title, headings, rows of texts, and sentences below.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll import wording
from plimsoll.calibration import accuracy, capacity, pacing, stalls
from plimsoll.calibration.truth import QUANTILES
from plimsoll.report.results import sheet
from plimsoll.report.results.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from rich.console import RenderableType

    from plimsoll.calibration.accuracy import CaseFound, LoopbackRoundTrip
    from plimsoll.calibration.agreement import AgreementPoint
    from plimsoll.calibration.calibration import Calibration
    from plimsoll.calibration.capacity import CapacitiesFound
    from plimsoll.calibration.stalls import StallFound
    from plimsoll.capacity import EngineCapacity
    from plimsoll.report.results.machine_readable import JsonObject

FORMAT = 1
"""Version of the JSON document; its schema is `docs/schemas/calibrate-1.json`."""

FULL = 0.9
"""Share of its time from which on a side was at its limit."""

GOOD, BAD = "✓", "✗"
NAMES = {"p50": "50 %", "p90": "90 %", "p95": "95 %", "p99": "99 %", "p999": "99.9 %", "max": "max"}

INDENT = "  "


def document(found: Calibration, capacities_at: Path | None) -> JsonObject:
    """Everything that was found, ready for JSON; times are nanoseconds.

    Args:
        found: What was found.
        capacities_at: File that the capacities were written to; None when they were not.
    """
    kept = str(capacities_at) if capacities_at else None
    verdict = {"within": not found.misses, "misses": list(found.misses)}
    return {"format": FORMAT, **verdict, **asdict(found), "capacities_kept": kept}


def show(found: Calibration, capacities_at: Path | None, console: Console | None = None) -> None:
    """Prints every table.

    Args:
        found: What was found.
        capacities_at: File that the capacities were written to; None when they were not.
        console: Where to; None for stdout.
    """
    out = console or Console(highlight=False, emoji=False)
    for one in sheets(found, capacities_at):
        for part in _drawn(one):
            out.print(part)
    out.print(_styled(verdict(found)))


def markdown(found: Calibration, capacities_at: Path | None) -> str:
    """Every table as Markdown.

    Args:
        found: What was found.
        capacities_at: File that the capacities were written to; None when they were not.
    """
    parts = [_markdown(one) for one in sheets(found, capacities_at)]
    return "\n".join([*parts, verdict(found), ""])


def verdict(found: Calibration) -> str:
    """Whether the instrument is within its limits, in one sentence."""
    if found.misses:
        return f"{BAD} Limits exceeded: {'; '.join(found.misses)}."
    if not (found.cases or found.protocols or found.paces or found.stall):
        return "No measured part has a limit."
    return f"{GOOD} The load generator is within its limits."


def sheets(found: Calibration, capacities_at: Path | None) -> Iterator[Sheet]:
    """The tables of what was requested.

    Args:
        found: What was found.
        capacities_at: File that the capacities were written to; None when they were not.
    """
    if found.way is not None:
        yield _accuracy("", found.way, found.cases)
    for one in found.protocols:
        yield _accuracy(f" by {one.name}", one.way, one.cases)
    if found.paces:
        yield _pacing(found)
    if found.stall is not None:
        yield _stall(found.stall)
    if found.tools:
        yield _tools(found)
    if found.capacities is not None:
        yield from _capacities(found.capacities, capacities_at)


def _accuracy(by: str, way: LoopbackRoundTrip, cases: Sequence[CaseFound]) -> Sheet:
    rows = [("loopback alone", *_times(way.times))]
    for case in cases:
        rows += [(case.name,), *_compared(case.points)]
    remarks = (
        "True is the service time by the clock of the server plus the loopback round trip. "
        "The tolerance is 1 % or 20 µs. The maximum is not judged, nor is a difference that "
        "exceeds the tolerance by less than its scatter during the load.",
        *_noise(way),
    )
    return Sheet(f"Service times{by}, in ms", ("", *NAMES.values()), tuple(rows), remarks)


def _noise(way: LoopbackRoundTrip) -> Iterator[str]:
    if not way.is_quiet:
        slow = way.times.get("p99", way.times["max"]) / way.times["p50"]
        yield (
            "This host was not idle: the 99th percentile of the loopback round trip was "
            f"{wording.count(slow)} times its median; up to {wording.exact(accuracy.QUIET)} times "
            "is usual. Stop other "
            "programs and calibrate again."
        )


def _compared(points: Sequence[AgreementPoint]) -> Iterator[tuple[str, ...]]:
    yield (f"{INDENT}true", *_times({one.statistic: one.true_ns for one in points}))
    yield (f"{INDENT}reported", *_times({one.statistic: one.reported_ns for one in points}))
    off = {one.statistic: f"{_ms(one.off_ns, '+')}{_mark(one.within)}" for one in points}
    yield (f"{INDENT}off by", *(off.get(name, wording.ABSENT) for name in QUANTILES))


def _mark(within: bool | None) -> str:
    if within is None:
        return ""
    return f" {GOOD}" if within else f" {BAD}"


def _pacing(found: Calibration) -> Sheet:
    rows = [
        (
            wording.count(pace.rate_per_s),
            f"{wording.count(pace.arrived)} of {wording.count(pace.requested)}",
            *(_us(pace.late.get(name)) for name in ("p50", "p99", "max")),
            _us(pace.longest_pause_ns),
            GOOD if pace.within else BAD,
        )
        for pace in found.paces
    ]
    remarks = (
        "Late is sent − due. The limit of the 99th percentile is "
        f"{wording.exact(pacing.LIMIT_NS / 1e3)} µs.",
        "Stall is the longest pause of a load generator thread; over all loads it was "
        f"{_us(found.longest_pause_ns)} µs. Every recording has its own value.",
    )
    headings = ("arrivals/s", "arrived", "late 50 %", "99 %", "max", "stall", "")
    return Sheet("Send times, in µs", headings, tuple(rows), remarks)


def _stall(found: StallFound) -> Sheet:
    rows = (
        *_compared(found.points),
        (f"{INDENT}service", *_times(found.service_times)),
    )
    remarks = (
        "True follows from the intended starts and the ends of the stalls. The tolerance is 5 "
        "ms for the median and 20 ms for the 90th and 99th percentile and the maximum, while "
        "the server works off its backlog.",
        "Service is the service time alone, as reported by tools that omit the wait before "
        "sending.",
    )
    title = f"Response times in ms, {_spoken(found)}"
    return Sheet(title, ("", *NAMES.values()), rows, remarks)


def _spoken(found: StallFound) -> str:
    duration, period = found.stall.duration_ns / 1e9, found.stall.period_ns / 1e9
    return (
        f"{wording.count(stalls.RATE_PER_S)} arrivals/s, server stalled "
        f"{wording.exact(duration)} s in every {wording.exact(period)} s"
    )


def _tools(found: Calibration) -> Sheet:
    stall = found.stall
    known = [tool for tool in found.tools if tool.times]
    rows = [(tool.title, *_times(tool.times)) for tool in known]
    if stall is not None:
        rows = [
            ("true", *_times({one.statistic: one.true_ns for one in stall.points})),
            ("plimsoll", *_times({one.statistic: one.reported_ns for one in stall.points})),
            *rows,
        ]
    missing = {tool.missing: tool.title for tool in found.tools if tool.missing}
    remarks = (
        "wrk and ab send after the last response, so they stop with the server; wrk then "
        "corrects for requests that it assumes it would have sent.",
        *(f"{title} was skipped; install it with `{get}`." for get, title in missing.items()),
        *(f"{tool.title} failed: {tool.failed}." for tool in found.tools if tool.failed),
    )
    title = "What other load generators report of the same stall, in ms"
    return Sheet(title, ("", *NAMES.values()), tuple(rows), remarks)


def _capacities(found: CapacitiesFound, capacities_at: Path | None) -> Iterator[Sheet]:
    kept = (f"Stored in {capacities_at}, where every trial on this host finds it.",)
    remarks = (
        "Reached is the rate of engine and reference server together, with the busy share of "
        "their cores. CPU is the cost of a request in the engine; alone is the rate its "
        "threads could reach at that cost.",
        *_disturbed(found),
        *(
            f"{wording.count(one.connections)} connections: {one.reason}; {one.remedy}."
            for one in found.left
        ),
        *(kept if capacities_at else ()),
    )
    headings = ("response", "reached/s", "engine", "server", "CPU", "alone/s")
    plain = [one for one in found.reached if not _by(one)]
    rows = [(wording.count(one.connections), *_capacity(one)) for one in plain]
    title = "Capacity of the engine on this host"
    yield Sheet(title, ("connections", *headings), tuple(rows), remarks)
    rows = [(_by(one), *_capacity(one)) for one in found.reached if _by(one)]
    if rows:
        connections = wording.count(capacity.CASE_BY_PROTOCOL[0])
        title = f"The same on {connections} connections"
        remarks = ("× 8 stands for 8 streams on each connection.",)
        yield Sheet(title, ("by", *headings), tuple(rows), remarks)


def _by(one: EngineCapacity) -> str:
    """What was spoken: `HTTP/2 over TLS × 8`; empty for HTTP/1.1 without TLS."""
    if one.protocol == "http1" and not one.tls:
        return ""
    name = {"http1": "HTTP/1.1", "http2": "HTTP/2", "websocket": "WebSocket"}[one.protocol]
    secured = " over TLS" if one.tls else ""
    several = f" × {one.in_flight_each}" if one.in_flight_each > 1 else ""
    return f"{name}{secured}{several}"


def _disturbed(found: CapacitiesFound) -> Iterator[str]:
    busy = [max(one.driver_busy_ratio, one.server_busy_ratio) for one in found.reached]
    idle = sum(1 for ratio in busy if ratio < FULL)
    if idle:
        yield (
            f"In {idle} of {len(busy)} cases neither side was saturated: other programs used their "
            "cores, so this host can do more. Stop other programs and calibrate again."
        )


def _capacity(one: EngineCapacity) -> tuple[str, ...]:
    return (
        f"{wording.count(one.response_bytes)} B",
        wording.count(one.throughput_per_s),
        wording.percent(round(one.driver_busy_ratio, 2)),
        wording.percent(round(one.server_busy_ratio, 2)),
        f"{wording.decimals(one.cpu_per_request_s * 1e6, 2)} µs",
        wording.count(one.thread_per_s * one.threads),
    )


def _times(times: Mapping[str, int]) -> tuple[str, ...]:
    """Times in milliseconds, in the order of the columns."""
    return tuple(_ms(times[name]) if name in times else wording.ABSENT for name in QUANTILES)


def _ms(value_ns: int, sign: str = "") -> str:
    """Milliseconds to the microsecond; to the tenth where there are many."""
    digits = 3 if abs(value_ns) < _MANY_NS else 1
    text = wording.decimals(value_ns / 1e6, digits)
    return f"{sign}{text}" if value_ns >= 0 else text


_MANY_NS = 100_000_000


def _us(value_ns: int | None) -> str:
    return wording.ABSENT if value_ns is None else wording.count(value_ns / 1e3)


def _drawn(sheet: Sheet) -> Iterator[RenderableType]:
    title = Text(sheet.title, style="bold")
    table = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_edge=False,
    )
    for number, heading in enumerate(sheet.headings):
        justify = "right" if number else "left"
        table.add_column(heading, justify=justify, header_style="dim", no_wrap=True)
    for row in sheet.rows:
        table.add_row(*map(_styled, row))
    yield table
    for remark in sheet.remarks:
        yield Text(remark, style="dim")
    yield ""


def _styled(text: str) -> RenderableType:
    style = "red" if BAD in text else "green" if GOOD in text else ""
    return Text(text, style=style)


def _markdown(one: Sheet) -> str:
    rows = tuple(tuple(map(_indented, row)) for row in one.rows)
    table = sheet.markdown(replace(one, rows=rows))
    return "\n".join([f"**{one.title}**", "", *table, "", *(f"{text}\n" for text in one.remarks)])


def _indented(cell: str) -> str:
    """A cell whose indentation Markdown shows."""
    return cell.replace(INDENT, "&emsp;", 1) if cell.startswith(INDENT) else cell
