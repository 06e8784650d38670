"""One load as Markdown for an issue or a pull request: at most `MOST_LINES` lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.report import level_text, trial_numbers
from plimsoll.report.formats.markdown import literal
from plimsoll.report.load import mix, screen, screen_doubts
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.levels import unmade

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.aggregate.summary import Summary
    from plimsoll.findings.campaign_thresholds import JudgedEntry
    from plimsoll.findings.trial import TrialFindings

MOST_LINES = 40
MOST_DOUBTS = 6
"""Doubts that are shown; the others are counted."""

MOST_THRESHOLDS = 6
"""Thresholds that are shown; the others are counted."""

MOST_URLS = 8
"""URLs of a mix that are shown in a line."""

TIMES = ("response_time", "service_time", "first_byte", "connect")


def render(found: TrialFindings, judged: Sequence[JudgedEntry] = ()) -> str:
    """Title, verdict in one line, figures, times, what thresholds say, and what is doubted.

    Args:
        found: What is known of the load's trial.
        judged: The thresholds that it is judged against.
    """
    recording, level = found.recording, level_text.marked(found.level)
    lines = [
        f"### {literal(f'`{recording.title}{recording.endpoint}`')}",
        "",
        f"{literal(screen.load_with_seed(recording, verbose=True))}  ",
        f"**{literal(_verdict(found) or level)}**",
        "",
        *(() if found.summary is None else _figures(found, found.summary)),
        *_thresholds(judged),
        *_doubts(found),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _verdict(found: TrialFindings) -> str:
    """The verdict with its one doubt, or with the names of several, which are told below."""
    worst = [one for one in found.verdicts if one.is_doubting and one.level == found.level]
    if len(worst) <= 1:
        return level_text.of_verdicts(found.verdicts)
    names = wording.listed([catalogue.title_of(one) for one in worst])
    return f"{level_text.marked(found.level)}: {names}"


def _figures(found: TrialFindings, summary: Summary) -> Iterator[str]:
    yield "| | |"
    yield "| --- | --- |"
    for name, text, _ in screen.facts(found, summary, verbose=False):
        yield f"| {literal(name)} | {literal(text)} |"
    recording = found.recording
    if used := screen_doubts.driver(summary, recording):
        yield f"| load generator | {literal(used)} |"
    for name, text in (*screen_doubts.energy(found, summary), *_mix(found)):
        yield f"| {literal(name)} | {literal(text)} |"
    yield ""
    yield f"| | {' | '.join(screen.STATISTICS.values())} |"
    yield f"| --- |{' ---: |' * len(screen.STATISTICS)}"
    for name in TIMES:
        times = (summary.time(name).of(each) for each in screen.STATISTICS)
        values = [trial_numbers.measured_time(one, recording) for one in times]
        yield f"| {trial_numbers.time_name(name, recording.load)} | {' | '.join(values)} |"
    yield ""
    if needs := trial_numbers.percentile_needs(summary, screen.STATISTICS, summary.latency_kind):
        yield f"{needs}."
        yield ""


def _mix(found: TrialFindings) -> Iterator[tuple[str, str]]:
    """The slowest URLs of several, and those that failed."""
    if found.kinds:
        yield from ((name, text) for name, text, _ in mix.lines(found.kinds, MOST_URLS, "in JSON"))


def _thresholds(judged: Sequence[JudgedEntry]) -> Iterator[str]:
    """Thresholds that are crossed or undecided; those that are kept are counted."""
    missed = [one for one in judged if one.state != "kept"]
    for one in missed[:MOST_THRESHOLDS]:
        text = one.threshold.threshold.text
        said = f"threshold {one.state}: `{text}`{one.without_entry.removeprefix(text)}"
        yield f"- {literal(said)}"
    if missed[MOST_THRESHOLDS:]:
        yield f"- and {len(missed) - MOST_THRESHOLDS} more, crossed or undecided"
    if kept := len(judged) - len(missed):
        yield f"- {wording.several(kept, 'threshold')} kept"
    if judged:
        yield ""


def _doubts(found: TrialFindings) -> Iterator[str]:
    """What is doubted, where it is more than the one doubt that the verdict's line names.

    Without a doubt, what could not be checked, and why.
    """
    doubts = [one for one in found.verdicts if one.is_doubting] or unmade(found.verdicts)
    if len(doubts) == 1 and doubts[0].is_doubting:
        return
    ordered = sorted(doubts, key=lambda one: one.level != "void")
    for one in ordered[:MOST_DOUBTS]:
        text = f"{catalogue.title_of(one)}: {one.sentences[0].text}"
        yield f"- {level_text.MARKS[one.level]} {literal(text)}"
    if ordered[MOST_DOUBTS:]:
        yield f"- and {len(ordered) - MOST_DOUBTS} more"
