"""What to doubt of the figures of one load, below them on the screen of a terminal."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, islice
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from plimsoll import wording
from plimsoll.report import hidden, level_text, load_text, wrapping
from plimsoll.report.load import mix
from plimsoll.report.load.screen_lines import line
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.levels import by_checks, checks_that_apply, unmade
from plimsoll.verdicts.verdict import DOUBTING, advised
from plimsoll.wording import listed, several

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from plimsoll.aggregate.summary import Summary
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.recording import Recording
    from plimsoll.verdicts.verdict import Level, Verdict

STYLES: dict[Level, str] = {
    "not_checked": "dim",
    "sound": "green",
    "doubtful": "yellow",
    "void": "red",
}
MOST_LINES = 10
"""Lines for doubts, below the level, unless everything is shown; with `screen.MOST_LINES` they fit
a terminal of 24 rows. The first doubt may need more: neither its cause nor its remedy is cut."""

MOST_TOLD = 2
"""Doubting checks that have a line of what they found."""

MOST_NAMED = 3
"""Further checks that are named, or counted, where there is no room for what they say."""

MOST_UNMADE = 4
"""Lines for checks that could not be made, where nothing doubts."""

_REST = "; `-v` shows everything"
_CUT = "  `-v` shows everything"

ENERGY = {"rapl": "RAPL", "wall": "power meter"}
"""Sources of energy, and the names of their lines."""


def show(found: TrialFindings, console: Console | None = None, *, verbose: bool = False) -> None:
    """Prints what the figures are worth: each URL, what the closed model hides, and the verdicts.

    Args:
        found: What is known of the trial.
        console: Where to; None for stdout.
        verbose: Whether everything is shown; else as much as `MOST_LINES` lines hold.
    """
    out = console or Console(highlight=False)
    summary = found.summary
    if summary is not None and found.recording.driver is not None:
        if used := driver(summary, found.recording):
            out.print(line("load generator", used, out.width, ""))
        for name, text in energy(found, summary):
            out.print(line(name, text, out.width, ""))
    if found.kinds and verbose:
        out.print(mix.table(found.kinds, out.width))
    elif found.kinds:
        for name, text, style in mix.lines(found.kinds):
            out.print(line(name, text, out.width, style))
    if verbose and found.stalls is not None and summary is not None and summary.completed:
        reported = f"in the closed model: {hidden.amount(found.stalls, summary)}"
        out.print(line("hidden", reported, out.width, "dim"))
    for text in _verdicts(found, out.width, verbose=verbose):
        out.print(text)


def driver(summary: Summary, recording: Recording) -> str:
    """What the load generator needed, as far as it is known; empty where nothing is."""
    driver, busy_cores = recording.driver, summary.driver_busy_cores
    busy = "" if busy_cores is None else f"{wording.busy_cores(busy_cores)} busy"
    unit = "user" if load_text.is_imported(recording) else "thread"
    threads = wording.several(driver.threads, unit) if driver and driver.threads else ""
    memory_bytes = driver.peak_rss_bytes if driver else None
    memory = "" if memory_bytes is None else wording.size(memory_bytes)
    return "; ".join(filter(None, (", ".join(filter(None, (busy, threads))), memory)))


def energy(found: TrialFindings, summary: Summary) -> Iterator[tuple[str, str]]:
    """Source and words of the energy of a response, by RAPL and at the wall, where it was read.

    Args:
        found: What is known of the trial.
        summary: Its summary.
    """
    for source, name in ENERGY.items():
        if (total_j := summary.value(f"{source}_j_per_ok")) is not None:
            yield name, _joules(summary, source, total_j)
    power = found.recording.power
    if power is not None and power.meter and summary.wall_power_w is None:
        shown = (one for one in found.verdicts if catalogue.role(one.check).shown_in == "energy")
        yield ENERGY["wall"], next((one.text for one in shown), wording.ABSENT)


def _joules(summary: Summary, source: str, total_j: float) -> str:
    """Energy of a response above idle and in all, and the powers behind it."""
    total, power = f"{wording.joules(total_j)}/response total", summary.value(f"{source}_power_w")
    idle_w, net_j = (summary.value(f"{source}_{one}") for one in ("idle_power_w", "net_j_per_ok"))
    if idle_w is None:
        return f"{total}; {wording.power(power)}"
    powers = f"{wording.power(power)}, idle {wording.power(idle_w)}"
    if net_j is None:
        return f"{total}, not distinguishable from idle; {powers}"
    return f"{wording.joules(net_j)}/response above idle, {total}; {powers}"


def _verdicts(found: TrialFindings, width: int, *, verbose: bool) -> Iterator[Text]:
    level = found.level
    reported = (f"{level_text.marked(level)}", f"bold {STYLES[level]}")
    doubts = sorted(
        (one for one in found.verdicts if one.is_doubting), key=lambda one: one.level != "void"
    )
    yield Text.assemble(reported, f" {_by(found, doubts)}")
    if verbose:
        for verdict in (*doubts, *unmade(found.verdicts)):
            yield from _verdict(verdict, width, named=True)
    elif doubts:
        yield from _brief(doubts, width)
    else:
        yield from _unmade(found, width)


def _by(found: TrialFindings, doubts: Sequence[Verdict]) -> str:
    """By how many checks a load is called what it is called."""
    if found.level not in DOUBTING:
        return by_checks(found.verdicts) if found.verdicts else ""
    void = sum(one.level == "void" for one in doubts)
    counts = {"void": void, "doubtful": len(doubts) - void}
    reported = [f"{count} {level}" for level, count in counts.items() if count]
    return f"({', '.join(reported)} of {checks_that_apply(found.verdicts)})" if reported else ""


def _unmade(found: TrialFindings, width: int) -> Iterator[Text]:
    """Each check that applies and could not be made, with the reason, as far as there is room."""
    missing = unmade(found.verdicts)
    reasons = [f"{_head(one)}{one.sentences[0].text}" for one in missing]
    ways = [[[Text(wrapping.wrapped(one, width, "  "), style="dim")]] for one in reasons]
    yield from _told(missing, ways, MOST_UNMADE, width)


def _brief(doubts: Sequence[Verdict], width: int) -> Iterator[Text]:
    """The first finding of the worst doubts, whole or by its first sentence, and what else is."""
    ways = [
        [[*_verdict(one, width, most=1)] for one in (doubt, _first_sentence(doubt))]
        for doubt in doubts[:MOST_TOLD]
    ]
    yield from _told(doubts, ways, MOST_LINES, width)


def _told(
    verdicts: Sequence[Verdict], ways: Sequence[Sequence[list[Text]]], room: int, width: int
) -> Iterator[Text]:
    """As many verdicts as there is room for; the others are named.

    None is cut: each is told in the shortest of its ways, and the first ones in a longer one where
    that leaves room. The first verdict is always told.

    Args:
        verdicts: Some verdicts, the worst first.
        ways: Of those that may be told: the lines of each way, the longest first.
        room: Lines in all.
        width: Of the screen, in signs.
    """
    whole = [longest for longest, *_ in ways]
    if len(whole) == len(verdicts) and _height(chain(*whole)) <= room:
        yield from chain(*whole)
        return
    told: list[list[Text]] = []
    for *_, shortest in ways:
        if told and _height(chain(*told, shortest)) >= room:
            break
        told.append(shortest)
    for place, (longest, *_) in enumerate(ways[: len(told)]):
        longer = [*told[:place], longest, *told[place + 1 :]]
        told = longer if _height(chain(*longer)) < room else told
    yield from chain(*told)
    rest = verdicts[len(told) :]
    yield Text(f"{_named(rest, width - len(_REST))}{_REST}" if rest else _CUT, style="dim")


def _named(rest: Sequence[Verdict], width: int) -> str:
    """The titles of further verdicts, as many as there is room for; else their number."""
    titles = [catalogue.title_of(one) for one in rest]
    ways = [f"+ {listed(titles, most)}" for most in range(MOST_NAMED, 1, -1)]
    others = f"+ {several(len(rest), 'other check')}"
    return next((one for one in ways if len(one) <= width), others)


def _height(lines: Iterable[Text]) -> int:
    return sum(text.plain.count("\n") + 1 for text in lines)


def _first_sentence(verdict: Verdict) -> Verdict:
    """The same with its first sentence alone, which has an ellipsis for the others."""
    first, *others = verdict.sentences
    text = f"{first.text} …" if others else first.text
    return replace(verdict, sentences=(replace(first, text=text),))


def _head(verdict: Verdict, *, named: bool = False) -> str:
    unmade = "not checked: " if verdict.level == "not_checked" else ""
    name = f" ({verdict.check})" if named else ""
    return f"{level_text.MARKS[verdict.level]} {unmade}{catalogue.title_of(verdict)}{name}: "


def _verdict(
    verdict: Verdict, width: int, most: int | None = None, *, named: bool = False
) -> Iterator[Text]:
    """What a check found, each with what to do about it; `most` of them, or all.

    Args:
        verdict: Its verdict.
        width: Of the screen, in signs.
        most: How many findings; None for all.
        named: Whether the name of the check, which `--accept` and `--limit` take, is behind its
            title.
    """
    head = _head(verdict, named=named)
    for place, (found, remedy) in enumerate(islice(advised(verdict.sentences), most)):
        text = Text(wrapping.wrapped(f"{'  ' if place else head}{found}", width, "  "))
        text.stylize(STYLES[verdict.level], 0, 0 if place else len(head))
        yield text
        if remedy:
            yield Text(wrapping.wrapped(f"  → {remedy}", width, "    "), style="dim")
