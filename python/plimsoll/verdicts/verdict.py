"""Verdict: the judgement of one check on the credibility of a number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Literal

from plimsoll import texts
from plimsoll.plan import ComparedTable

if TYPE_CHECKING:
    from plimsoll.recording import Recording

Level = Literal["not_checked", "sound", "doubtful", "void"]

LEVELS: tuple[Level, ...] = ("not_checked", "sound", "doubtful", "void")
"""From the one that counts least against a number to the one that counts most."""

TRIAL_LEVELS: tuple[Level, ...] = ("sound", "not_checked", "doubtful", "void")
"""Levels of trials from the best to the worst: an unknown trial is not a sound one."""

DOUBTING: tuple[Level, ...] = ("doubtful", "void")
"""Levels that count against a number."""

CAMPAIGN = "campaign"
"""Subject of a verdict on a campaign as a whole."""


@dataclass(frozen=True)
class Sentence:
    """One sentence of a verdict.

    Attributes:
        level: How bad it is: the worst sentence of a verdict gives the verdict its level.
        text: What was seen, with the numbers, or what it means; with a full stop.
        remedy: What to do about it, with a full stop; empty when there is nothing to do. Sentences
            of one finding have the same.
        limit: Name of the limit that it is about; empty where it is about none.
        tables: Of a campaign: the tables that it is about; empty where it is about all of them.
        applies: Whether there was something to check.
    """

    level: Level
    text: str
    remedy: str = ""
    limit: str = ""
    tables: tuple[ComparedTable, ...] = ()
    applies: bool = True

    @property
    def is_doubting(self) -> bool:
        """Whether it counts against the number."""
        return self.level in DOUBTING

    @property
    def clause(self) -> str:
        """The text without its full stop, to stand in another sentence."""
        return self.text.removesuffix(".")


@dataclass(frozen=True, repr=False)
class Verdict:
    """The judgement of one check on the credibility of a number.

    Attributes:
        check: Name of the check: `littles_law`.
        subject: Id of the trial, name of the block or the server, or `campaign`.
        level: `not_checked` where the check does not apply or had nothing to go by, else `sound`,
            `doubtful` or `void`.
        measured: What was measured; None when it could not be.
        limit: The limit that decided the level; for a sound verdict the first one it held.
        unit: Unit of both.
        sentences: At least one, the worst first.
        source: Where formula and limit come from.
    """

    check: str
    subject: str
    level: Level
    measured: float | None
    limit: float | None
    unit: str
    sentences: tuple[Sentence, ...]
    source: str

    def __repr__(self) -> str:
        """Check, subject, level, and as much of its text as fits."""
        return texts.object_line(self, f"{self.check} of {self.subject}: {self.level}. {self.text}")

    @property
    def is_doubting(self) -> bool:
        """Whether it counts against the number."""
        return self.level in DOUBTING

    @property
    def applies(self) -> bool:
        """Whether there was something to check: a load of one host has no clocks that differ."""
        return self.level != "not_checked" or self.sentences[0].applies

    @property
    def is_unread(self) -> bool:
        """Whether it doubts because what it needs could not be read: no problem was seen."""
        return self.level == "doubtful" and self.measured is None and self.limit is not None

    @property
    def text(self) -> str:
        """All sentences, without remedies."""
        return whole_text(self.sentences)

    @property
    def remedies(self) -> tuple[str, ...]:
        """What to do, each once."""
        return every_remedy(self.sentences)

    @property
    def tables(self) -> tuple[ComparedTable, ...]:
        """The tables of a campaign that it is about; empty where it is about all of them."""
        every = [one.tables for one in self.sentences if one.level == self.level]
        return joined(*every)

    def about(self, table: ComparedTable) -> Verdict | None:
        """What it says of one table of a campaign; None where it says nothing.

        What was measured belongs to the first sentence, which gave the verdict its level.

        Args:
            table: The table.
        """
        first, *_ = self.sentences
        concerned = tuple(one for one in self.sentences if not one.tables or table in one.tables)
        if not concerned:
            return None
        level = concerned[0].level
        if first in concerned or self.is_unread:
            return replace(self, level=level, sentences=concerned)
        return replace(self, level=level, measured=None, limit=None, sentences=concerned)

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Verdict:
        """A verdict from what `dataclasses.asdict` made of it.

        Args:
            values: Its fields; `sentences` is a list of objects.
        """
        sentences = tuple(
            replace(Sentence(**one), tables=tuple(map(ComparedTable._make, one.get("tables", ()))))
            for one in values["sentences"]
        )
        fields: Any = {**values, "sentences": sentences}
        return cls(**fields)


def joined(*tables: tuple[ComparedTable, ...]) -> tuple[ComparedTable, ...]:
    """The tables that any of several sentences is about; empty where one is about all of them."""
    return tuple(dict.fromkeys(chain.from_iterable(tables))) if all(tables) else ()


def whole_text(sentences: Sequence[Sentence]) -> str:
    """All sentences, without what to do.

    Args:
        sentences: The sentences of a verdict.
    """
    return " ".join(sentence.text for sentence in sentences)


def every_remedy(sentences: Sequence[Sentence]) -> tuple[str, ...]:
    """What to do, each once.

    Args:
        sentences: The sentences of a verdict.
    """
    return tuple(dict.fromkeys(one.remedy for one in sentences if one.remedy))


def advised(sentences: Sequence[Sentence]) -> Iterator[tuple[str, str]]:
    """The text of each finding, and what to do about it; empty when there is nothing to do.

    Args:
        sentences: The sentences of a verdict; those of one finding follow each other.
    """
    for (_, remedy), found in groupby(sentences, key=lambda one: (one.limit, one.remedy)):
        yield " ".join(one.text for one in found), remedy


def block_name(repetition: int) -> str:
    """Subject of a verdict on a block: `block 2`.

    Args:
        repetition: Number of the block, from 1.
    """
    return f"block {repetition}"


def server_name(title: str) -> str:
    """Subject of a verdict on all trials of one server: `server go`.

    Args:
        title: Framework and variant.
    """
    return f"server {title}"


def subjects_of(recording: Recording) -> tuple[str, ...]:
    """Subjects of verdicts on a campaign that take a trial along when they are void."""
    return block_name(recording.repetition), server_name(recording.title)


def worst(levels: Iterable[Level]) -> Level:
    """The worst of some levels; `not_checked` when there are none."""
    return LEVELS[max(map(LEVELS.index, levels), default=0)]


def worst_trial(levels: Iterable[Level]) -> Level:
    """The worst level of some trials; `not_checked` when there are none."""
    return TRIAL_LEVELS[max(map(TRIAL_LEVELS.index, levels), default=1)]
