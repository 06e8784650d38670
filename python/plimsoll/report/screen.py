"""What came of one load, on one screen of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.canvas import counted
from plimsoll.report import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from plimsoll.recording import Recording
    from plimsoll.report.findings import TrialFindings
    from plimsoll.verdicts.verdict import Level, Verdict

STATISTICS = ("p50", "p90", "p99", "p999", "max")
HEADINGS = ("50 %", "90 %", "99 %", "99.9 %", "max")
STYLES: dict[Level, str] = {"sound": "green", "doubtful": "yellow", "void": "red"}
MOST_FAILURES = 6


def show(found: TrialFindings, console: Console | None = None) -> None:
    """Prints throughput, times, connections, failures and verdicts of a load.

    Args:
        found: What is known of its trial.
        console: Where to; None for stdout.
    """
    out = console or Console(highlight=False)
    recording, summary = found.recording, found.summary
    out.print(Text(f"{recording.title}{recording.endpoint}", style="bold"))
    out.print(Text(words.load_text(recording.load), style="dim"))
    if recording.ending.kind != "completed":
        out.print(Text(f"{recording.ending.kind}: {recording.ending.message}", style="red"))
    if summary is not None:
        out.print(_times(summary))
        out.print(_facts(found, summary, recording))
    for line in _verdicts(found):
        out.print(line)


def _times(summary: Mapping[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", min_width=15)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", min_width=9)
    for name in ("response_time", "service_time", "first_byte", "connect"):
        values = [words.duration(summary[f"{name}_{each}_ns"]) for each in STATISTICS]
        table.add_row(words.TIMES[name][0].removeprefix("time to "), *values)
    return table


def _facts(found: TrialFindings, summary: Mapping[str, Any], recording: Recording) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(min_width=15)
    table.add_column(overflow="fold")
    table.add_row("throughput", _throughput(summary))
    table.add_row("requests", _requests(summary))
    table.add_row("connections", _connections(summary))
    if recording.driver is not None:
        table.add_row("driver", _driver(summary, recording))
    for name, text in _failures(found):
        table.add_row(name, Text(text, style="red"))
    return table


def _throughput(summary: Mapping[str, Any]) -> str:
    right, all_of_them = summary["goodput_per_s"], summary["throughput_per_s"]
    wrong = "" if right == all_of_them else f", of it right {words.rate(right)}"
    return f"{words.rate(all_of_them)}{wrong}; {words.size(summary['received_bytes_per_s'])}/s"


def _requests(summary: Mapping[str, Any]) -> str:
    return (
        f"{counted(summary['completed'])} complete, {counted(summary['failed'])} failed"
        f" ({words.share(summary['failure_ratio'])}), {counted(summary['unfinished'])} unfinished"
    )


def _connections(summary: Mapping[str, Any]) -> str:
    names = ("asked", "opened", "answered", "refused", "lost")
    return ", ".join(f"{name} {_count(summary[f'connections_{name}'])}" for name in names)


def _count(value: int | None) -> str:
    return words.ABSENT if value is None else counted(value)


def _driver(summary: Mapping[str, Any], recording: Recording) -> str:
    driver = recording.driver
    threads = driver.threads if driver else 0
    memory = words.size(driver.peak_rss_bytes if driver else None)
    busy = words.cores(summary["driver_busy_cores"])
    return f"{busy} busy, {words.plural(threads, 'thread')}; {memory}"


def _failures(found: TrialFindings) -> Iterator[tuple[str, str]]:
    shown = found.failures[:MOST_FAILURES]
    for place, failure in enumerate(shown):
        name = "" if place else "failures"
        errno = f" ({failure.errno_name})" if failure.errno_name else ""
        when = f"{failure.first_at_s:.1f} to {failure.last_at_s:.1f} s"
        yield name, f"{failure.outcome}{errno} {counted(failure.count)}, {when}"
    if found.failures[MOST_FAILURES:]:
        yield "", f"and {len(found.failures) - MOST_FAILURES} kinds more"


def _verdicts(found: TrialFindings) -> Iterator[Text]:
    level = found.level
    yield Text(words.level_text(level), style=f"bold {STYLES[level]}")
    for verdict in found.verdicts:
        if verdict.level != "sound":
            yield from _verdict(verdict)


def _verdict(verdict: Verdict) -> Iterator[Text]:
    name = words.check_name(verdict.check)
    yield Text.assemble(
        (f"{words.MARKS[verdict.level]} {name}: ", STYLES[verdict.level]), verdict.statement
    )
    if verdict.remedy:
        yield Text(f"  → {verdict.remedy}", style="dim")
