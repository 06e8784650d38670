"""Several: the numbers of several frameworks where there is room for a few lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.report.contents import doubts_of
from plimsoll.report.contents.answer import STATES
from plimsoll.report.contents.section import SectionAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.report.contents.gist import JudgedTile

MOST_TILES = 8
"""Frameworks of one answer that there is room for."""


@dataclass(frozen=True)
class Judged:
    """The number of one framework.

    Attributes:
        tile: Its tile.
        state: How far to believe it.
        reason: Why it is not sound, in a few words; may be empty.
    """

    tile: JudgedTile
    state: State
    reason: str


def answer(place: str, headline: str, noun: str, numbers: Sequence[Judged]) -> SectionAnswer:
    """The numbers of several frameworks; the yardstick is counted only where it is alone.

    Args:
        place: What the headline is about.
        headline: The answer.
        noun: What each number is.
        numbers: The numbers in the order of their ranking.
    """
    counted = [one for one in numbers if not one.tile.is_yardstick]
    states = [one.state for one in counted]
    beside = ", without the yardstick" if len(counted) < len(numbers) else ""
    worst_first = sorted(counted, key=lambda one: -STATES.index(one.state))
    return SectionAnswer(
        place=place,
        headline=headline,
        counts=tuple((state, states.count(state)) for state in STATES if state in states),
        total=f"{wording.several(len(counted), noun)}{beside}",
        doubts=tuple(
            (one.state, f"{one.tile.name}: {one.reason}")
            for one in worst_first
            if one.state != "sound" and one.reason
        ),
        tiles=tuple(one.tile for one in numbers[:MOST_TILES]),
        more=sum(not one.tile.is_yardstick for one in numbers[MOST_TILES:]),
    )


def doubts_in_brief(trials: Iterable[TrialFindings]) -> str:
    """The names of what checks say against some trials, the worst first; may be empty."""
    return ", ".join(dict.fromkeys(doubt.name for doubt in doubts_of(trials)))
