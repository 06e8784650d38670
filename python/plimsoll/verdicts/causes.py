"""Causes: what explains several findings at once, so that one check reports it.

A cause belongs to one check, its owner, which tells of it. The first one counts, by `Cause.order`.
Some leave nothing to check at all: the load generator failed, the server died, no connection could
be opened. Others can only mislead checks: those that they do, and that doubt the trial, become "not
checked" and refer to the owner, so they do not blame the server.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.verdicts import catalogue
from plimsoll.verdicts.verdict import Sentence, worst

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.role import Cause
    from plimsoll.verdicts.verdict import Level, Verdict


def explained(tables: Tables, verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts, with those that a common cause explains as not checked.

    Args:
        tables: The tables of the trial.
        verdicts: The verdict of each check on its own.
    """
    cause = of(tables, verdicts)
    if cause is None:
        return tuple(verdicts)
    level = worst(one.level for one in verdicts if one.check == cause.owner)
    return tuple(_explained(one, cause, level) for one in verdicts)


def of(tables: Tables, verdicts: Sequence[Verdict]) -> Cause | None:
    """What explains several findings of a trial; None when nothing does.

    Args:
        tables: The tables of the trial.
        verdicts: The verdict of each check on its own.
    """
    return min(_causes(tables, verdicts), key=lambda one: one.order, default=None)


def _causes(tables: Tables, verdicts: Sequence[Verdict]) -> Iterator[Cause]:
    for verdict in verdicts:
        tells = catalogue.role(verdict.check).tells
        if tells is not None and (cause := tells(tables, verdict)) is not None:
            yield cause


def _explained(verdict: Verdict, cause: Cause, level: Level) -> Verdict:
    """A verdict that a cause may explain; `level` is the one that its owner shows."""
    if verdict.check == cause.owner:
        return verdict
    if cause.disturbance is None:
        return _not_checked(verdict, f"Not checked: {cause.clause}.")
    if verdict.is_doubting and catalogue.role(verdict.check).is_misled(verdict, cause):
        return _not_checked(verdict, f"See {catalogue.title(cause.owner, level)}: {cause.clause}.")
    return verdict


def _not_checked(verdict: Verdict, text: str) -> Verdict:
    sentences = (Sentence("not_checked", text),)
    return replace(verdict, level="not_checked", measured=None, sentences=sentences)
