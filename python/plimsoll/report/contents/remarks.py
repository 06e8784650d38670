"""What the checks say of a campaign and of its trials, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.report import level_text
from plimsoll.report.contents import naming
from plimsoll.report.contents.naming import anchor, title
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.verdict import CAMPAIGN as SUBJECT
from plimsoll.verdicts.verdict import (
    DOUBTING,
    LEVELS,
    Sentence,
    advised,
    every_remedy,
    whole_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from plimsoll.findings.findings import Findings
    from plimsoll.findings.trial import TrialFindings
    from plimsoll.plan import ComparedTable
    from plimsoll.verdicts.verdict import Level, Verdict

CAMPAIGN = "The campaign as a whole"
"""Heading of what the checks on a campaign say."""

TRUST = "Can these numbers be trusted?"
"""Heading of all that the checks say."""

MOST_SENTENCES = 3
"""Sentences of one kind of finding that are shown of a campaign as a whole."""


@dataclass(frozen=True)
class Remark:
    """The text of a verdict.

    Attributes:
        level: Its level.
        name: Name of its check.
        subject: What it is about, as people read it.
        anchor: Anchor of the trial it is about; empty for a campaign and for a block.
        measured: What was measured, with its unit and what it is of.
        limit: The limit, with its unit, and whether it is the least: `minimum 90 %`.
        sentences: Its sentences, each with what to do about it.
        source: Where formula and limit come from.
        applies: Whether there was something to check.
    """

    level: Level
    name: str
    subject: str
    anchor: str
    measured: str
    limit: str
    sentences: tuple[Sentence, ...]
    source: str
    applies: bool = True

    @property
    def against(self) -> str:
        """What was measured against which limit; empty where nothing was."""
        if self.measured == wording.ABSENT:
            return ""
        return f"measured {self.measured}, {self.limit}"

    @property
    def text(self) -> str:
        """All sentences, without what to do."""
        return whole_text(self.sentences)

    @property
    def remedies(self) -> tuple[str, ...]:
        """What to do, each once."""
        return every_remedy(self.sentences)

    @property
    def advised(self) -> tuple[tuple[str, str], ...]:
        """The text of each finding, and what to do about it."""
        return tuple(advised(self.sentences))

    @property
    def reason(self) -> str:
        """Name and first sentence, in one line: why a check could not be made."""
        return f"{self.name}: {self.sentences[0].clause}"

    @property
    def full_text(self) -> str:
        """All sentences, and what was measured against which limit."""
        return f"{self.text} ({self.against})" if self.against else self.text


@dataclass(frozen=True)
class Doubt:
    """The findings of one check on one level with one remedy.

    Attributes:
        level: The level.
        name: Name of the check.
        count: How many subjects it concerns, in words.
        remedy: What to do; the same for every subject.
        remarks: One for each subject.
    """

    level: Level
    name: str
    count: str
    remedy: str
    remarks: tuple[Remark, ...]


def remark(verdict: Verdict, titles: Mapping[str, str]) -> Remark:
    """The text of a verdict.

    Args:
        verdict: The verdict.
        titles: Title of each trial by its id.
    """
    return Remark(
        level=verdict.level,
        name=catalogue.title_of(verdict),
        subject=titles.get(verdict.subject, verdict.subject),
        anchor=anchor("trial", verdict.subject) if verdict.subject in titles else "",
        measured=level_text.measured(verdict),
        limit=level_text.limit(verdict),
        sentences=verdict.sentences,
        source=verdict.source,
        applies=verdict.applies,
    )


def of_campaign(findings: Findings) -> list[Remark]:
    """What the checks on a campaign say of it, the worst first, sound ones too.

    Where a check doubts many tables, the first sentences stand for them; `of_table` has the others.
    """
    tables = [ranking.table for ranking in findings.rankings]
    remarks = [
        replace(
            remark(verdict, {}),
            subject=_concerned(verdict, tables),
            sentences=tuple(_first(verdict.sentences)),
        )
        for verdict in findings.verdicts
    ]
    return sorted(remarks, key=lambda entry: -LEVELS.index(entry.level))


def of_table(findings: Findings, table: ComparedTable) -> list[Remark]:
    """What the checks on a campaign doubt about one of its tables, the worst first."""
    verdicts = filter(None, (verdict.about(table) for verdict in findings.verdicts))
    doubting = [remark(verdict, {}) for verdict in verdicts if verdict.is_doubting]
    return sorted(doubting, key=lambda entry: -LEVELS.index(entry.level))


def _concerned(verdict: Verdict, tables: Sequence[ComparedTable]) -> str:
    """What a verdict on a campaign is about; with its tables where these are not all."""
    concerned = verdict.tables if verdict.is_doubting else ()
    if not concerned or set(tables) <= set(concerned):
        return verdict.subject
    named = wording.listed([" · ".join(naming.parts(one, tables)) for one in concerned])
    return f"at {named}" if verdict.subject == SUBJECT else f"{verdict.subject}, at {named}"


def _first(sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """The first few sentences of each kind of finding."""
    for _, found in groupby(sentences, key=lambda one: (one.limit, one.remedy)):
        every = [*found]
        yield from every[:MOST_SENTENCES]
        if rest := every[MOST_SENTENCES:]:
            yield replace(rest[0], text=f"And {len(rest)} more.")


def ended(trial: TrialFindings) -> Remark:
    """The text of the error that ended a trial."""
    recording = trial.recording
    kind, name = recording.ending.kind, title(recording)
    reported = Sentence("void", recording.ending.message, recording.ending.hint)
    place = anchor("trial", recording.trial)
    return Remark("void", kind, name, place, wording.ABSENT, "", (reported,), "")


def doubts(findings: Findings) -> list[Doubt]:
    """What checks say against trials, by level, check and remedy; void first, then the most.

    Verdicts on a trial that an error ended are left to its own section: the error explains it.
    What they say of the campaign is `of_campaign`.
    """
    return doubts_of((*findings.counting, *findings.of_yardstick))


def doubts_of(trials: Iterable[TrialFindings]) -> list[Doubt]:
    """What checks say against some trials, by level, check and remedy; void first, then the most.

    Args:
        trials: The trials.
    """
    known = tuple(trials)
    titles = {trial.recording.trial: title(trial.recording) for trial in known}
    grouped: dict[tuple[Level, str, str], list[Remark]] = {}
    for trial in known:
        for verdict in trial.verdicts if trial.has_ended_well else ():
            for (level, remedy), reported in _by_remedy(verdict, titles):
                grouped.setdefault((level, verdict.check, remedy), []).append(reported)
    found = [
        Doubt(
            level=level,
            name=remarks[0].name,
            count=f"in {wording.several(len(remarks), 'trial')}",
            remedy=remedy,
            remarks=tuple(remarks),
        )
        for (level, _, remedy), remarks in grouped.items()
    ]
    return sorted(found, key=lambda doubt: (-LEVELS.index(doubt.level), -len(doubt.remarks)))


def _by_remedy(
    verdict: Verdict, titles: Mapping[str, str]
) -> Iterator[tuple[tuple[Level, str], Remark]]:
    """The sentences of a verdict that doubt, by level and remedy.

    What was measured belongs to the first sentence, which gave the verdict its level.
    """
    whole = remark(verdict, titles)
    grouped: dict[tuple[Level, str], list[Sentence]] = {}
    for sentence in verdict.sentences:
        if sentence.level in DOUBTING:
            grouped.setdefault((sentence.level, sentence.remedy), []).append(sentence)
    for key, sentences in grouped.items():
        is_first = verdict.sentences[0] in sentences
        reported = replace(whole, level=key[0], sentences=tuple(sentences))
        yield key, reported if is_first else replace(reported, measured=wording.ABSENT)
