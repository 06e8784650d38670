"""Findings: what a check sees, one number at a time, before they become its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.verdicts.verdict import LEVELS, Verdict

if TYPE_CHECKING:
    from plimsoll.verdicts.limits import Limit
    from plimsoll.verdicts.verdict import Level


@dataclass(frozen=True)
class Finding:
    """One number of a check against its limit.

    Attributes:
        level: Its level.
        measured: The number; None when it could not be measured.
        limit: The limit.
        sentence: What was found, with the numbers, without a full stop.
        remedy: What to do about it if it is not sound, without a full stop.
    """

    level: Level
    measured: float | None
    limit: Limit
    sentence: str
    remedy: str


def found(limit: Limit, measured: float | None, sentence: str, remedy: str) -> Finding:
    """A finding whose level follows from the limit."""
    return Finding(limit.level(measured), measured, limit, sentence, remedy)


def unknown(limit: Limit, sentence: str, remedy: str) -> Finding:
    """A finding about something that could not be read: doubtful, never sound."""
    return Finding("doubtful", None, limit, sentence, remedy)


def not_asked(limit: Limit, sentence: str) -> Finding:
    """A finding about something that this load, or this host, has not: nothing to doubt."""
    return Finding("sound", None, limit, sentence, "")


def verdict(
    check: str,
    subject: str,
    findings: Sequence[Finding],
    source: str,
    unread: Sequence[str] = (),
) -> Verdict:
    """The verdict of a check: as bad as its worst finding.

    The statement has every finding that is not sound, the worst first; the first finding when all
    are sound. What the host does not say stands behind them: it passes nothing, and where other
    things could be read it does not make a trial doubtful, for then every trial there would be.

    Args:
        check: Name of the check.
        subject: Id of the trial.
        findings: At least one, the most important first.
        source: Where the formula comes from.
        unread: What belongs to the check and could not be read on this host.
    """
    ordered = sorted(findings, key=lambda finding: -LEVELS.index(finding.level))
    worst = ordered[0]
    told = [finding for finding in ordered if finding.level != "sound"]
    return Verdict(
        check=check,
        subject=subject,
        level=worst.level,
        measured=worst.measured,
        limit=worst.limit.decisive(worst.level),
        unit=worst.limit.unit,
        statement=_sentences(
            [*(finding.sentence for finding in told or [worst]), *_unread(unread)]
        ),
        remedy=_sentences([finding.remedy for finding in told]),
        source=_source(worst.limit, source),
    )


def _unread(unread: Sequence[str]) -> list[str]:
    return [f"unknown, for this host does not say: {', '.join(unread)}"] if unread else []


def _sentences(parts: Sequence[str]) -> str:
    """Sentences one after the other, each once."""
    once = dict.fromkeys(part for part in parts if part)
    return ". ".join(part[:1].upper() + part[1:] for part in once) + ("." if once else "")


def _source(limit: Limit, source: str) -> str:
    changed = f"changed by this campaign, {limit.changed}" if limit.changed else limit.source
    return f"{source}; limit: {changed}"
