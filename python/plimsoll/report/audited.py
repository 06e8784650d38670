"""What an audit found, for a terminal, as Markdown, and as JSON.

Of each result one line says what was read. Then come the verdicts that are not sound, each with its
remedy; sound ones are counted, or shown where that is asked for.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from plimsoll.report.words import MARKS
from plimsoll.verdicts import wording

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from plimsoll.published.claims import Answered
    from plimsoll.published.figures import Figures
    from plimsoll.verdicts.audit import Audit, Audited
    from plimsoll.verdicts.verdict import Level, Verdict

TOGETHER = "all together"
CLAIMED = "what is claimed"

STYLES: dict[Level, str] = {"sound": "green", "doubtful": "yellow", "void": "bold red"}

SHOWN_TIMES = ("mean", "p50", "p90", "p95", "p99", "p999", "max")


def document(found: Audit, claimed: Sequence[Answered] = ()) -> dict[str, Any]:
    """Everything that was read and said, ready for JSON; what was not said is null."""
    return {
        "level": found.level,
        "claims": [_claim(one) for one in claimed],
        "results": [_result(one) for one in found.results],
        "together": [asdict(verdict) for verdict in found.together],
    }


def _claim(one: Answered) -> dict[str, Any]:
    return {"document": one.document, **asdict(one.claim), "by_figures": one.by_figures}


def _result(one: Audited) -> dict[str, Any]:
    return {
        "figures": asdict(one.figures),
        "level": one.level if one.verdicts else None,
        "verdicts": [asdict(verdict) for verdict in one.verdicts],
        "not_checked": one.missing,
    }


def show(found: Audit, claimed: Sequence[Answered], console: Console, *, full: bool) -> None:
    """Prints what was found.

    Args:
        found: What was found.
        claimed: What the documents claim.
        console: Where to.
        full: Whether sound verdicts, and what could not be checked, are shown too.
    """
    for heading, lines in _claimed(claimed).items():
        _print_claims(console, heading, lines)
    for one in found.results:
        _print(console, title(one.figures), read(one.figures))
        _print_verdicts(console, one.verdicts, full=full)
        if full:
            _print_missing(console, one)
    if found.together:
        _print(console, TOGETHER, wording.several(len(found.results), "result"))
        _print_verdicts(console, found.together, full=full)
    console.print(_styled(conclusion(found), found.level))


def _claimed(claimed: Sequence[Answered]) -> dict[str, list[str]]:
    """Claims in words, by a heading for each document."""
    found: dict[str, list[str]] = {}
    for one in claimed:
        place = f" ({one.claim.place})" if one.claim.place else ""
        said = f", claimed {one.claim.claimed}" if one.claim.claimed else ""
        line = f"{one.claim.says}{place}{said}; by its own figures: {one.by_figures}"
        found.setdefault(f"{CLAIMED} ({one.document})", []).append(line)
    return found


def _print_claims(console: Console, heading: str, lines: Sequence[str]) -> None:
    from rich.text import Text  # noqa: PLC0415 - heavy

    _print(console, heading, "")
    for line in lines:
        _indented(console, Text(f"· {line}"))
    console.print()


def _print(console: Console, heading: str, line: str) -> None:
    from rich.text import Text  # noqa: PLC0415 - heavy

    console.print(Text(heading, "bold"))
    if line:
        _indented(console, Text(line, "dim"))


def _indented(console: Console, text: Any, by: int = 2) -> None:
    from rich.padding import Padding  # noqa: PLC0415 - heavy

    console.print(Padding(text, (0, 0, 0, by)))


def _print_verdicts(console: Console, verdicts: Sequence[Verdict], *, full: bool) -> None:
    from rich.text import Text  # noqa: PLC0415 - heavy

    for verdict in verdicts:
        if verdict.level == "sound" and not full:
            continue
        head = _styled(f"{MARKS[verdict.level]} {verdict.level}", verdict.level)
        _indented(console, head + Text(f"  {verdict.check}: {verdict.statement}"))
        if verdict.remedy:
            _indented(console, Text(f"→ {verdict.remedy}"), 4)
    if not full and (said := _sound(verdicts)):
        _indented(console, Text(said))
    console.print()


def _print_missing(console: Console, one: Audited) -> None:
    from rich.text import Text  # noqa: PLC0415 - heavy

    for check, needs in one.missing.items():
        _indented(console, Text(f"– not checked  {check}: it needs {needs}", "dim"))
    for note in one.figures.notes:
        _indented(console, Text(f"· {note}", "dim"))
    console.print()


def _styled(text: str, level: Level) -> Any:
    from rich.text import Text  # noqa: PLC0415 - heavy

    return Text(text, STYLES[level])


def markdown(found: Audit, claimed: Sequence[Answered], *, full: bool) -> str:
    """What was found, as Markdown.

    Args:
        found: What was found.
        claimed: What the documents claim.
        full: Whether sound verdicts, and what could not be checked, are in it too.
    """
    lines: list[str] = []
    for heading, said in _claimed(claimed).items():
        lines += [f"## {heading}", "", *(f"- {line}" for line in said), ""]
    for one in found.results:
        lines += [f"## {title(one.figures)}", "", *_paragraph(read(one.figures))]
        lines += [*_items(one.verdicts, full=full), *_missing_items(one, full=full), ""]
    if found.together:
        lines += [f"## {TOGETHER}", "", *_items(found.together, full=full), ""]
    return "\n".join([*lines, conclusion(found), ""])


def _paragraph(text: str) -> list[str]:
    return [f"{text}.", ""] if text else []


def _items(verdicts: Sequence[Verdict], *, full: bool) -> Iterator[str]:
    for verdict in verdicts:
        if verdict.level == "sound" and not full:
            continue
        remedy = f" *{verdict.remedy}*" if verdict.remedy else ""
        mark = f"{MARKS[verdict.level]} **{verdict.level}**"
        yield f"- {mark} `{verdict.check}`: {verdict.statement}{remedy}"
    if not full and (said := _sound(verdicts)):
        yield f"- {said}"


def _missing_items(one: Audited, *, full: bool) -> list[str]:
    if not full:
        return []
    checks = [f"- not checked `{check}`: it needs {needs}" for check, needs in one.missing.items()]
    return [*checks, *(f"- {note}" for note in one.figures.notes)]


def _sound(verdicts: Sequence[Verdict]) -> str:
    """How many checks found nothing to doubt, and which they were; empty when none did."""
    names = [verdict.check for verdict in verdicts if verdict.level == "sound"]
    if not names:
        return "" if verdicts else "the figures are too few to be checked"
    return f"{wording.several(len(names), 'check')} found nothing to doubt: {', '.join(names)}"


def conclusion(found: Audit) -> str:
    """What comes of all, in one sentence."""
    if not any(one.verdicts for one in found.results) and not found.together:
        return "These figures are too few to be checked."
    match found.level:
        case "void":
            return f"{MARKS['void']} Some of these figures cannot be as published."
        case "doubtful":
            return f"{MARKS['doubtful']} Some of these figures are doubtful; none is impossible."
        case _:
            return f"{MARKS['sound']} These figures are consistent, as far as they go."


def title(figures: Figures) -> str:
    """A result with its source."""
    source, label = figures.source, figures.label
    named = f"{source.name}, {source.place}" if source.place else source.name
    return named if label in (source.place, source.name) else f"{label} ({named})"


def read(figures: Figures) -> str:
    """What was read of a result, in one line."""
    parts = [figures.tool, *_load(figures), *_rate(figures), *_times(figures)]
    return ", ".join(part for part in parts if part)


def _load(figures: Figures) -> list[str]:
    parts: list[str] = []
    if figures.connections is not None:
        parts.append(wording.several(round(figures.connections), "connection"))
    if figures.in_flight_each != 1.0:
        parts.append(f"{wording.amount(figures.in_flight_each)} requests at a time on each")
    if figures.rate_asked_per_s is not None:
        parts.append(f"{wording.amount(figures.rate_asked_per_s)} requests per second asked for")
    if figures.duration_s is not None:
        parts.append(wording.seconds(figures.duration_s))
    return parts


def _rate(figures: Figures) -> list[str]:
    parts: list[str] = []
    if figures.throughput_per_s is not None:
        parts.append(f"{wording.amount(figures.throughput_per_s)} requests per second")
    bad = figures.unanswered + figures.wrong
    return [*parts, f"{wording.count(bad)} failed"] if bad else parts


def _times(figures: Figures) -> list[str]:
    return [
        f"{name} {wording.seconds(figures.times_s[name])}"
        for name in SHOWN_TIMES
        if name in figures.times_s
    ]
