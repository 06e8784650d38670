"""What an audit found, for a terminal, as Markdown, and as JSON.

One line per result shows what was read. Then come the verdicts that are not sound, each with its
remedy; sound ones are counted, or shown where that is requested.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from plimsoll import texts, wording
from plimsoll.report import level_text
from plimsoll.report.level_text import MARKS
from plimsoll.report.results import judged
from plimsoll.report.wrapping import wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.errors import Problem
    from plimsoll.published.claims import ClaimCheck
    from plimsoll.report.results.machine_readable import JsonObject
    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.audit import Audit, Audited
    from plimsoll.verdicts.verdict import Level, Verdict

TOGETHER = "all together"
CLAIMED = "claims"

STYLES: dict[Level, str] = {
    "not_checked": "dim",
    "sound": "green",
    "doubtful": "yellow",
    "void": "bold red",
}

SHOWN_TIMES = ("mean", "p50", "p90", "p95", "p99", "p999", "max")


@dataclass(frozen=True)
class Unread:
    """What could not be read of files that were.

    Attributes:
        refused: What looks like a result and could not be read.
        left: Lines within results that nothing was taken from.
    """

    refused: tuple[Problem, ...] = ()
    left: tuple[Problem, ...] = ()


def document(
    found: Audit, claimed: Sequence[ClaimCheck] = (), unread: Unread = Unread()
) -> JsonObject:
    """Everything that was read and found, ready for JSON; what is missing is null."""
    return {
        "refused": [asdict(one) for one in unread.refused],
        "unread": [asdict(one) for one in unread.left],
        "level": found.level,
        "claims": [_claim(one) for one in claimed],
        "results": [_result(one) for one in found.results],
        "together": [judged.of_trial(verdict) for verdict in found.together],
    }


def _claim(one: ClaimCheck) -> dict[str, object]:
    return {"document": one.document, **asdict(one.claim), "by_figures": one.by_figures}


def _result(one: Audited) -> dict[str, object]:
    return {
        "figures": asdict(one.figures),
        "level": one.level if one.verdicts else None,
        "verdicts": [judged.of_trial(verdict) for verdict in one.verdicts],
        "not_checked": one.missing,
    }


def show(
    found: Audit,
    claimed: Sequence[ClaimCheck],
    unread: Unread,
    console: Console | None = None,
    *,
    full: bool = False,
) -> None:
    """Prints what was found.

    Args:
        found: What was found.
        claimed: What the documents claim.
        unread: What could not be read; what was refused is reported as an error, elsewhere.
        console: Where to; None for stdout.
        full: Whether sound verdicts, and what could not be checked, are shown too.
    """
    out = console or Console(highlight=False, emoji=False)
    for heading, lines in claims(claimed).items():
        _print_claims(out, heading, lines)
    for one in found.results:
        _print(out, title(one.figures), read(one.figures))
        _print_verdicts(out, one.verdicts, len(one.missing), full=full)
        if full:
            _print_missing(out, one)
    if found.together:
        _print(out, TOGETHER, wording.several(len(found.results), "result"))
        _print_verdicts(out, found.together, full=full)
    _print_left(out, unread.left)
    out.print(_styled(wrapped(conclusion(found), out.width), found.level))


def _print_left(console: Console, left: Sequence[Problem]) -> None:
    for one in left:
        console.print(Text(wrapped(f"· {one}", console.width), "dim"))
    if left:
        console.print()


def claims(claimed: Sequence[ClaimCheck]) -> dict[str, list[str]]:
    """Claims in words, by a heading for each document."""
    found: dict[str, list[str]] = {}
    for one in claimed:
        place = f" ({one.claim.place})" if one.claim.place else ""
        stated = f", claimed {one.claim.claimed}" if one.claim.claimed else ""
        line = f"{one.claim.says}{place}{stated}; by its own figures: {one.by_figures}"
        found.setdefault(f"{CLAIMED} ({one.document})", []).append(line)
    return found


def _print_claims(console: Console, heading: str, lines: Sequence[str]) -> None:
    _print(console, heading, "")
    for line in lines:
        _indented(console, f"· {line}")
    console.print()


def _print(console: Console, heading: str, line: str) -> None:
    console.print(Text(wrapped(heading, console.width), "bold"))
    if line:
        _indented(console, line, "dim")


def _indented(console: Console, line: str, style: str = "", head: int = 0, by: int = 2) -> None:
    """Prints a line that goes on below itself.

    Args:
        console: Where to.
        line: The line.
        style: Its style, or that of its head.
        head: Signs of its head; 0 for all.
        by: Columns in front of each line.
    """
    indent = " " * by
    text = Text(wrapped(f"{indent}{texts.line(line)}", console.width, indent))
    text.stylize(style, 0, by + head if head else len(text))
    console.print(text)


def _print_verdicts(
    console: Console, verdicts: Sequence[Verdict], unmade: int = 0, *, full: bool
) -> None:
    for verdict in verdicts:
        if not verdict.is_doubting and not full:
            continue
        head = level_text.marked(verdict.level)
        line = f"{head}  {verdict.check}: {verdict.text}"
        _indented(console, line, STYLES[verdict.level], len(head))
        for remedy in verdict.remedies:
            _indented(console, f"→ {remedy}", by=4)
    if not full and (stated := sound(verdicts, unmade)):
        _indented(console, stated)
    console.print()


def _print_missing(console: Console, one: Audited) -> None:
    for check, needs in one.missing.items():
        _indented(console, f"– not checked  {check}: it needs {needs}", "dim")
    for note in one.figures.notes:
        _indented(console, f"· {note}", "dim")
    console.print()


def _styled(text: str, level: Level) -> Any:
    return Text(text, STYLES[level])


def markdown(
    found: Audit, claimed: Sequence[ClaimCheck], unread: Unread = Unread(), *, full: bool
) -> str:
    """What was found, as Markdown.

    Args:
        found: What was found.
        claimed: What the documents claim.
        unread: What could not be read.
        full: Whether sound verdicts, and what could not be checked, are in it too.
    """
    lines: list[str] = []
    for heading, stated in claims(claimed).items():
        lines += [f"## {heading}", "", *(f"- {line}" for line in stated), ""]
    for one in found.results:
        lines += [f"## {title(one.figures)}", "", *_paragraph(read(one.figures))]
        lines += [
            *_items(one.verdicts, len(one.missing), full=full),
            *_missing_items(one, full=full),
            "",
        ]
    if found.together:
        lines += [f"## {TOGETHER}", "", *_items(found.together, full=full), ""]
    reported = [f"- {one}" for one in (*unread.refused, *unread.left)]
    lines += ["## not read", "", *reported, ""] if reported else []
    return "\n".join(texts.line(one) for one in [*lines, conclusion(found), ""])


def _paragraph(text: str) -> list[str]:
    return [f"{text}.", ""] if text else []


def _items(verdicts: Sequence[Verdict], unmade: int = 0, *, full: bool) -> Iterator[str]:
    for verdict in verdicts:
        if not verdict.is_doubting and not full:
            continue
        remedies = f" *{' '.join(verdict.remedies)}*" if verdict.remedies else ""
        mark = f"{MARKS[verdict.level]} **{level_text.name(verdict.level)}**"
        yield f"- {mark} `{verdict.check}`: {verdict.text}{remedies}"
    if not full and (stated := sound(verdicts, unmade)):
        yield f"- {stated}"


def _missing_items(one: Audited, *, full: bool) -> list[str]:
    if not full:
        return []
    checks = [f"- not checked `{check}`: it needs {needs}" for check, needs in one.missing.items()]
    return [*checks, *(f"- {note}" for note in one.figures.notes)]


def sound(verdicts: Sequence[Verdict], unmade: int) -> str:
    """How many checks found nothing to doubt, and which they were; empty when none did.

    Args:
        verdicts: The verdicts on a result.
        unmade: Checks for which data is missing.
    """
    names = [verdict.check for verdict in verdicts if verdict.level == "sound"]
    if not names:
        return "" if verdicts else "too few figures to check"
    every = len(verdicts) + unmade
    of = f"{len(names)} of " if len(names) < every else ""
    return f"{of}{wording.several(every, 'check')} found no problem: {', '.join(names)}"


def conclusion(found: Audit) -> str:
    """What comes of all, in one sentence."""
    if not any(one.verdicts for one in found.results) and not found.together:
        return "There are too few figures to check."
    match found.level:
        case "void":
            return f"{MARKS['void']} {_void(found)}"
        case "doubtful":
            return f"{MARKS['doubtful']} Some of these figures are doubtful; none is impossible."
        case _:
            return f"{MARKS['sound']} These figures are consistent."


def _void(found: Audit) -> str:
    """Whether figures are impossible, or requests failed, which is possible."""
    if found.is_impossible:
        failed = ", and too many requests failed" if found.is_failing else ""
        return f"Some of these figures are impossible{failed}."
    doubted = any(one.level == "doubtful" for one in found.verdicts)
    rest = "some figures are doubtful, none is impossible" if doubted else "none is impossible"
    return f"Too many requests failed to quote these figures; {rest}."


def title(figures: ReportedStatistics) -> str:
    """A result with its source."""
    source, label = figures.source, figures.label
    named = f"{source.name}, {source.place}" if source.place else source.name
    return named if label in (source.place, source.name) else f"{label} ({named})"


def read(figures: ReportedStatistics) -> str:
    """What was read of a result, in one line."""
    parts = [figures.tool, *_load(figures), *_rate(figures), *_times(figures)]
    return ", ".join(part for part in parts if part)


def _load(figures: ReportedStatistics) -> list[str]:
    parts: list[str] = []
    if figures.connections is not None:
        parts.append(wording.several(round(figures.connections), "connection"))
    if figures.in_flight_each != 1.0:
        parts.append(f"{wording.amount(figures.in_flight_each)} requests in flight on each")
    if figures.requested_rate_per_s is not None:
        parts.append(
            f"{wording.amount(figures.requested_rate_per_s)} requests per second requested"
        )
    if figures.duration_s is not None:
        parts.append(wording.seconds(figures.duration_s))
    return parts


def _rate(figures: ReportedStatistics) -> list[str]:
    parts: list[str] = []
    if figures.throughput_per_s is not None:
        parts.append(f"{wording.amount(figures.throughput_per_s)} requests per second")
    bad = figures.without_response + figures.wrong
    return [*parts, f"{wording.count(bad)} failed"] if bad else parts


def _times(figures: ReportedStatistics) -> list[str]:
    return [
        f"{name} {wording.seconds_in_steps(figures.times_s[name], figures.times_step_s)}"
        for name in SHOWN_TIMES
        if name in figures.times_s
    ]
