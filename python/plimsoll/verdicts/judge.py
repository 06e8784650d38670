"""Judge: every check on one trial."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import checks, verdict
from plimsoll.verdicts.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.verdict import Level, Verdict


def judge(tables: Tables) -> tuple[Verdict, ...]:
    """The verdict of every check on a trial, in the order of `CHECKS`.

    Args:
        tables: The tables of the trial.
    """
    limits = Limits(tables.recording.limits)
    return tuple(check.judge(tables, limits) for check in checks.CHECKS)


def level(verdicts: Iterable[Verdict]) -> Level:
    """The level of a trial: that of its worst verdict."""
    return verdict.worst(one.level for one in verdicts)
