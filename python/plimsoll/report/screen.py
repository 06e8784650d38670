"""What came of one load, on one screen of a terminal."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll.aggregate.summaries import told_time
from plimsoll.canvas import counted
from plimsoll.report import hidden, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from plimsoll.recording import Recording
    from plimsoll.report.findings import TrialFindings
    from plimsoll.verdicts.verdict import Level, Verdict

STATISTICS = ("p50", "p90", "p99", "p999", "max")
HEADINGS = ("50 %", "90 %", "99 %", "99.9 %", "max")
STYLES: dict[Level, str] = {"sound": "green", "doubtful": "yellow", "void": "red"}
MOST_FAILURES = 4
MOST_KINDS = 6
LABEL = 13
"""Columns that the name of a line has."""

_UNIT = re.compile(r"(?<=\d) (?=(?:[nµm]?s|min|[kMGT]?B|cores?|%)\b|%)")


def show(found: TrialFindings, console: Console | None = None) -> None:
    """Prints throughput, times, connections, failures and verdicts of a load.

    Args:
        found: What is known of its trial.
        console: Where to; None for stdout.
    """
    out = console or Console(highlight=False)
    recording, summary = found.recording, found.summary
    for text in _head(recording, out.width):
        out.print(text)
    if summary is not None:
        out.print(_times(summary))
        for name, sentence, style in _facts(found, summary, recording):
            out.print(_line(name, sentence, out.width, style))
        if found.kinds:
            out.print(_kinds(found.kinds))
    for text in _verdicts(found, out.width):
        out.print(text)


def _head(recording: Recording, width: int) -> Iterator[Text]:
    is_named = recording.load.get("model") == "unknown" and not recording.endpoint.startswith("/")
    space = " " if is_named else ""
    title = words.plain(f"{recording.title}{space}{recording.endpoint}")
    yield Text(_cut(title, width), style="bold")
    yield Text(_wrapped(words.load_text(recording.load), width), style="dim")
    if recording.ending.kind != "completed":
        ending = f"{recording.ending.kind}: {recording.ending.message}"
        yield Text(_wrapped(ending, width), style="red")


def _times(summary: Mapping[str, Any]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", min_width=LABEL)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", min_width=9)
    for name in ("response_time", "service_time", "first_byte", "connect"):
        values = [words.duration(summary[f"{name}_{each}_ns"]) for each in STATISTICS]
        table.add_row(words.TIMES[name][0].removeprefix("time to "), *values)
    return table


def _facts(
    found: TrialFindings, summary: Mapping[str, Any], recording: Recording
) -> Iterator[tuple[str, str, str]]:
    """Name, words and style of each line."""
    yield "throughput", _throughput(summary), ""
    yield "requests", _requests(summary), ""
    yield "connections", _connections(summary), ""
    if recording.driver is not None:
        yield "driver", _driver(summary, recording), ""
    for name, text in _failures(found):
        yield name, text, "red"
    if found.silences is not None:
        yield "hidden", f"by the closed model: {hidden.amount(found.silences, summary)}", "dim"


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
    return ", ".join(
        f"{name} {words.counted_or_absent(summary[f'connections_{name}'])}" for name in names
    )


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


def _kinds(kinds: tuple[Mapping[str, Any], ...]) -> Table:
    """What came of each URL."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("", overflow="ellipsis", no_wrap=True, min_width=LABEL, max_width=30)
    for heading in ("answers", "per second", "failed", "50 %", "99 %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for kind in kinds[:MOST_KINDS]:
        time = told_time(kind)
        times = [words.duration(kind[f"{time}_{name}_ns"]) for name in ("p50", "p99")]
        failed, per_second = counted(kind["failed"]), words.rate(kind["throughput_per_s"])
        name = Text(words.plain(kind["request"]))
        table.add_row(name, counted(kind["completed"]), per_second, failed, *times)
    if kinds[MOST_KINDS:]:
        table.add_row(f"and {len(kinds) - MOST_KINDS} more")
    return table


def _verdicts(found: TrialFindings, width: int) -> Iterator[Text]:
    level = found.level
    sound = sum(verdict.level == "sound" for verdict in found.verdicts)
    yield Text.assemble(
        (words.level_text(level), f"bold {STYLES[level]}"),
        f" by {sound} of {words.plural(len(found.verdicts), 'check')}" if level == "sound" else "",
    )
    doubts = [verdict for verdict in found.verdicts if verdict.level != "sound"]
    untold = [verdict for verdict in doubts if words.is_untold(verdict, found.recording)]
    for verdict in sorted(doubts, key=lambda one: one.level != "void"):
        if verdict not in untold:
            yield from _verdict(verdict, width)
    if untold:
        mark = words.MARKS["doubtful"]
        text = Text(_wrapped(f"{mark} {words.untold_text(untold)}", width, "  "))
        text.stylize(STYLES["doubtful"], 0, len(mark))
        yield text


def _verdict(verdict: Verdict, width: int) -> Iterator[Text]:
    head = f"{words.MARKS[verdict.level]} {words.check_name(verdict.check)}: "
    text = Text(_wrapped(f"{head}{verdict.statement}", width, "  "))
    text.stylize(STYLES[verdict.level], 0, len(head))
    yield text
    if verdict.remedy:
        yield Text(_wrapped(f"  → {verdict.remedy}", width, "    "), style="dim")


def _line(name: str, text: str, width: int, style: str) -> Text:
    """A line with its name in front; what is too long goes on below."""
    label = f"{name:<{LABEL}}  "
    line = Text(_wrapped(f"{label}{text}", width, " " * len(label)))
    line.stylize(style, len(label))
    return line


def _wrapped(text: str, width: int, indent: str = "") -> str:
    """A text broken into lines between words; a number stays with its unit."""
    bound = _UNIT.sub("\u00a0", words.plain(text))
    lines = textwrap.wrap(
        bound, width, subsequent_indent=indent, drop_whitespace=True, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\u00a0", " ")


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"
