"""Figures of one load, on one screen of a terminal; what to doubt of them is `screen_doubts`.

Of a load that went well both have at most `MOST_LINES` lines, and for doubts at most
`screen_doubts.MOST_LINES` more; `-v` shows everything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rich.console import Console
from rich.table import Table
from rich.text import Text

from plimsoll import report, texts, wording
from plimsoll.recording.ran import ran
from plimsoll.report import host_lines, level_text, load_text, status_codes, trial_numbers, wrapping
from plimsoll.report.load import failed
from plimsoll.report.load.screen_lines import LABEL, cut, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.aggregate.counted import StatusTotal
    from plimsoll.aggregate.summary import Summary
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.recording import Recording

STATISTICS = {
    "mean": "mean",
    "p50": "p50",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p999": "p99.9",
    "max": "max",
}
"""Statistics of a time, and their headings."""

LEFT_OUT = ("p95", "mean", "p999", "p90", "max", "p99")
"""Those that a narrow terminal has no room for, in this order; the median always stays."""

LEAST = 8
"""Columns that a statistic has at least, so that tables of several loads look alike."""

MOST_LINES = 12
"""Lines of a load that went well, with those of `screen_doubts`."""


class Counted(failed.CountedFailures, Protocol):
    """The figures of a load."""

    @property
    def recording(self) -> Recording:
        """What happened."""
        ...

    @property
    def summary(self) -> Summary | None:
        """What it amounts to; None when there is nothing."""
        ...

    @property
    def statuses(self) -> Sequence[StatusTotal]:
        """Complete responses by status code."""
        ...


def show(found: TrialFindings, console: Console | None = None, *, verbose: bool = False) -> None:
    """Prints figures and verdicts of a load.

    Args:
        found: What is known of its trial.
        console: Where to; None for stdout.
        verbose: Whether everything is shown.
    """
    show_figures(found, console, verbose=verbose)
    report.screen_doubts.show(found, console, verbose=verbose)


def show_figures(found: Counted, console: Console | None = None, *, verbose: bool = False) -> None:
    """Prints throughput, status codes, connections, failures and times of a load.

    Args:
        found: Its figures.
        console: Where to; None for stdout.
        verbose: Whether every time is shown.
    """
    out = console or Console(highlight=False)
    for text in _head(found.recording, out.width, verbose=verbose):
        out.print(text)
    if found.summary is not None:
        for name, sentence, style in facts(found, found.summary, verbose=verbose):
            out.print(line(name, sentence, out.width, style))
        rows = _rows(found.summary, found.recording, verbose=verbose)
        shown = _fitting(rows, out.width)
        out.print(_times(rows, shown))
        if needs := _needs(found.summary, shown):
            out.print(line("", needs, out.width, "dim"))
    if found.recording.hosts:
        out.print(_hosts(found.recording))
        for host, link in _links(found.recording) if verbose else ():
            out.print(line(f"link of {host}", link, out.width, ""))


def show_interruption(recording: Recording, console: Console | None = None) -> None:
    """Prints in place of verdicts that a load was not judged, as its JSON says.

    Args:
        recording: What happened of a load that a signal ended.
        console: Where to; None for stdout.
    """
    out = console or Console(highlight=False)
    reason = f"not judged: interrupted {ran(recording.stages, recording.load)}"
    out.print(Text.assemble((level_text.marked("void"), "bold red"), f" ({reason})"))


def _head(recording: Recording, width: int, *, verbose: bool) -> Iterator[Text]:
    is_named = recording.load.model == "unknown" and not recording.endpoint.startswith("/")
    space = " " if is_named else ""
    title = texts.line(f"{recording.title}{space}{recording.endpoint}")
    yield Text(cut(title, width), style="bold")
    yield Text(wrapping.wrapped(load_with_seed(recording, verbose=verbose), width), style="dim")
    if recording.ending.kind != "completed":
        ending = f"{recording.ending.kind}: {recording.ending.message}"
        yield Text(wrapping.wrapped(ending, width), style="red")


def load_with_seed(recording: Recording, *, verbose: bool) -> str:
    """The load, with the seed that repeats what was drawn.

    Args:
        recording: What happened.
        verbose: Whether what is so by default is told too.
    """
    drawn = f"; --seed {recording.seed}" if _is_drawn(recording) else ""
    return f"{load_text.sentence(recording.load, unusual=not verbose)}{drawn}"


def _rows(
    summary: Summary, recording: Recording, *, verbose: bool
) -> list[tuple[str, dict[str, str]]]:
    """Each time that is shown: its name, and its statistics in words."""
    rows: list[tuple[str, dict[str, str]]] = []
    for name in _shown_times(summary, recording, verbose=verbose):
        time = summary.time(name)
        told = {each: trial_numbers.measured_time(time.of(each), recording) for each in STATISTICS}
        rows.append((trial_numbers.time_name(name, recording.load).removeprefix("time to "), told))
    return rows


def _fitting(rows: Sequence[tuple[str, dict[str, str]]], width: int) -> tuple[str, ...]:
    """The statistics for which a terminal has room, so that none of their numbers is cropped."""
    label = max([LABEL, *(len(name) for name, _ in rows)])
    columns = {
        each: 1 + max(LEAST, len(heading), *(len(told[each]) for _, told in rows))
        for each, heading in STATISTICS.items()
    }
    for each in LEFT_OUT:
        if label + sum(columns.values()) <= width:
            break
        del columns[each]
    return tuple(columns)


def _times(rows: Sequence[tuple[str, dict[str, str]]], shown: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("", min_width=LABEL)
    for each in shown:
        table.add_column(STATISTICS[each], justify="right", min_width=LEAST)
    for name, told in rows:
        table.add_row(name, *(told[each] for each in shown))
    return table


def _needs(summary: Summary, shown: Sequence[str]) -> str:
    """Why some percentiles of the time that users see have no number; empty where all have one."""
    headings = {one: STATISTICS[one] for one in shown}
    return trial_numbers.percentile_needs(summary, headings, summary.latency_kind)


def _hosts(recording: Recording) -> Table:
    """The load generators of several hosts beside each other, without their links."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    link = host_lines.HEADINGS.index(host_lines.LINK)
    for place, name in enumerate(host_lines.HEADINGS):
        is_number = 0 < place < len(host_lines.HEADINGS) - 1
        if place != link:
            table.add_column(name, justify="right" if is_number else "left")
    for cells in host_lines.lines(recording):
        shown = (*cells[:link], *cells[link + 1 :])
        table.add_row(*(Text(texts.line(cell)) for cell in shown))
    return table


def _links(recording: Recording) -> Iterator[tuple[str, str]]:
    """Each host, and its link to the server."""
    link = host_lines.HEADINGS.index(host_lines.LINK)
    for cells in host_lines.lines(recording):
        yield cells[0], cells[link]


def _shown_times(summary: Summary, recording: Recording, *, verbose: bool) -> Iterator[str]:
    """The time that users see; in the open model the server's part of it as well."""
    if verbose:
        yield from ("response_time", "service_time", "first_byte", "connect")
        return
    yield summary.latency_kind
    load = recording.load
    if load.model == "open" and summary.latency_kind != "service_time":
        yield "service_time"
    if load.model != "unknown" and not load.keep_alive:
        yield "connect"


def facts(found: Counted, summary: Summary, *, verbose: bool) -> Iterator[tuple[str, str, str]]:
    """Name, words and style of each line.

    Args:
        found: The figures.
        summary: Their summary.
        verbose: Whether every kind of failure is named.
    """
    recording = found.recording
    yield "throughput", _throughput(summary, recording), ""
    yield load_text.requests(recording.load), _requests(found, summary), ""
    if codes := status_codes.told(found):
        is_wrong = any(one.held_wrong for one in found.statuses)
        yield "status", codes, "red" if is_wrong else ""
    if followed := load_text.redirects(recording):
        yield "redirects", followed, ""
    if decoded := load_text.decoded(recording):
        yield "compression", decoded, ""
    yield "connections", _connections(summary, recording), ""
    if allowed := load_text.streams(recording):
        yield "streams", allowed, ""
    if secured := load_text.tls(recording):
        yield "TLS", secured, ""
    for place, text in enumerate(failed.lines(found, verbose=verbose)):
        yield "" if place else "failures", text, "red"


def _is_drawn(recording: Recording) -> bool:
    """Whether something of a load of ours was drawn: its arrivals, or the order of its requests."""
    load = recording.load
    arrives_at_random = load.model == "open" and load.arrivals == "poisson"
    is_ours = load.model != "unknown" and not load_text.is_imported(recording)
    return is_ours and (arrives_at_random or len(recording.requests) > 1)


def _throughput(summary: Summary, recording: Recording) -> str:
    right, all_of_them = summary.goodput_per_s, summary.throughput_per_s
    if right is None:
        wrong = ", and it is unknown how many are successful"
    else:
        wrong = "" if right == all_of_them else f", goodput {wording.per_second(right)}"
    rate = wording.per_second(all_of_them)
    if (what := load_text.requests(recording.load)) != "requests":
        rate = rate.replace("/s", f" {what}/s")
    return f"{rate}{wrong}{_bytes(summary)}"


def _bytes(summary: Summary) -> str:
    """Bytes of responses per second, and those of requests where these are more."""
    per_s, sent, received = (
        summary.received_bytes_per_s,
        summary.sent_bytes,
        summary.received_bytes,
    )
    if per_s is None:
        return ""
    if not (sent and summary.duration_s and sent > (received or 0)):
        return f"; {wording.size(per_s)}/s"
    sent_per_s = sent / summary.duration_s
    return f"; sent {wording.size(sent_per_s)}/s, received {wording.size(per_s)}/s"


def _requests(found: Counted, summary: Summary) -> str:
    """How the requests ended; where some failed, counts that add up to all of them."""
    is_split = summary.failed and summary.goodput_per_s is not None
    well = f"{wording.count(summary.ok)} successful" if is_split else _complete(summary)
    failed = f"{wording.count(summary.failed)} failed"
    how = f": {_failed_how(found, summary)}" if is_split else ""
    share = wording.percent(summary.failure_ratio)
    return f"{well}, {failed} ({share}{how}), {wording.count(summary.unfinished)} unfinished"


def _complete(summary: Summary) -> str:
    return f"{wording.count(summary.completed)} complete"


def _failed_how(found: Counted, summary: Summary) -> str:
    """How many of those that failed have a wrong response, and how many have none."""
    wrong = summary.completed - summary.ok
    kinds = {one.outcome for one in found.failures if one.outcome != "wrong_status"}
    without = "never sent" if kinds == {"not_sent"} else "without response"
    counts = {"wrong": wrong, without: summary.failed - wrong}
    return ", ".join(f"{wording.count(count)} {how}" for how, count in counts.items() if count > 0)


def _connections(summary: Summary, recording: Recording) -> str:
    connections = trial_numbers.connections(summary, recording.driver)[:-1]
    return ", ".join(f"{name} {count}" for name, count, _ in connections)
