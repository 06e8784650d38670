"""Verdict: one statement about the credibility of a number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Level = Literal["sound", "doubtful", "void"]

LEVELS: tuple[Level, ...] = ("sound", "doubtful", "void")
"""From the best to the worst."""

CAMPAIGN = "campaign"
"""Subject of a verdict on a campaign as a whole."""


@dataclass(frozen=True)
class Verdict:
    """One statement about the credibility of a number.

    Attributes:
        check: Name of the check: `littles_law`.
        subject: Id of the trial, name of the block, or `campaign`.
        level: `sound`, `doubtful` or `void`.
        measured: What was measured; None when it could not be.
        limit: The limit that decided the level; for a sound verdict the first one it held.
        unit: Unit of both.
        statement: One sentence with the numbers.
        remedy: What to do; empty when sound.
        source: Where formula and limit come from.
    """

    check: str
    subject: str
    level: Level
    measured: float | None
    limit: float | None
    unit: str
    statement: str
    remedy: str
    source: str


def block_name(repetition: int) -> str:
    """Subject of a verdict on a block: `block 2`.

    Args:
        repetition: Number of the block, from 1.
    """
    return f"block {repetition}"


def worst(levels: Iterable[Level]) -> Level:
    """The worst of some levels; `sound` when there are none."""
    return LEVELS[max(map(LEVELS.index, levels), default=0)]
