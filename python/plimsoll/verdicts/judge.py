"""Judge: every check on one trial, and every check on a campaign."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.verdicts import by_figures, campaign_checks, checks, verdict
from plimsoll.verdicts.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.aggregate.comparisons import Repetition
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.verdict import Level, Verdict


def judge(tables: Tables) -> tuple[Verdict, ...]:
    """The verdict of every check on a trial, in the order of `CHECKS`.

    Where its driver printed figures, what these show beside stands behind them.

    Args:
        tables: The tables of the trial.
    """
    limits = Limits(tables.recording.limits)
    driver = tables.recording.driver
    if driver is not None and driver.figures is not None:
        return by_figures.judge(tables, driver.figures, limits)
    return tuple(check.judge(tables, limits) for check in checks.CHECKS)


def judge_campaign(repetitions: Sequence[Repetition]) -> tuple[Verdict, ...]:
    """The verdicts of every check on a campaign, in the order of `CAMPAIGN_CHECKS`.

    What one check voids, those behind it leave out.

    Args:
        repetitions: Its trials; of fewer than two there is nothing to say.
    """
    if len(repetitions) < 2:  # noqa: PLR2004
        return ()
    limits = Limits(_changes(repetitions))
    verdicts: list[Verdict] = []
    for check in campaign_checks.CAMPAIGN_CHECKS:
        found = check.judge(repetitions, limits)
        verdicts += found
        repetitions = _without_void_blocks(repetitions, found)
    return tuple(verdicts)


def _without_void_blocks(
    repetitions: Sequence[Repetition], verdicts: Sequence[Verdict]
) -> list[Repetition]:
    """Trials of which those in a void block are void."""
    void = {one.subject for one in verdicts if one.level == "void"}
    return [
        replace(one, is_void=one.is_void or verdict.block_name(one.recording.repetition) in void)
        for one in repetitions
    ]


def _changes(repetitions: Sequence[Repetition]) -> dict[str, dict[str, float]]:
    """The limits that any of the trials had changed."""
    changed: dict[str, dict[str, float]] = {}
    for one in repetitions:
        for check, values in one.recording.limits.items():
            changed.setdefault(check, {}).update(values)
    return changed


def level(verdicts: Iterable[Verdict]) -> Level:
    """The level of a trial: that of its worst verdict."""
    return verdict.worst(one.level for one in verdicts)
