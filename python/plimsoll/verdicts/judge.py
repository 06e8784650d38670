"""Judge: every check on one trial, and every check on a campaign."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.verdicts import by_figures, campaign_checks, causes, checks, verdict
from plimsoll.verdicts.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.trial import Tables
    from plimsoll.comparison.comparisons import ComparedTrial
    from plimsoll.recording import Recording
    from plimsoll.verdicts.verdict import Verdict


def judge(tables: Tables) -> tuple[Verdict, ...]:
    """The verdict of every check on a trial, in the order of `CHECKS`; a cause is reported once.

    If its driver printed figures, the verdicts on those follow. A load that a signal ended is not
    judged further.

    Args:
        tables: The tables of the trial.
    """
    limits = Limits(tables.recording.limits)
    driver = tables.recording.driver
    if tables.recording.is_interrupted:
        known = (check for check in checks.CHECKS if check.ROLE.judges_interrupted)
        return tuple(check.judge(tables, limits) for check in known)
    if driver is not None and driver.figures is not None:
        return causes.explained(tables, by_figures.judge(tables, driver.figures, limits))
    return causes.explained(tables, [check.judge(tables, limits) for check in checks.CHECKS])


def judge_campaign(repetitions: Sequence[ComparedTrial]) -> tuple[Verdict, ...]:
    """The verdicts of every check on a campaign, in the order of `CAMPAIGN_CHECKS`.

    Later checks leave out what an earlier one voids.

    Args:
        repetitions: Its trials; on fewer than two there are no verdicts.
    """
    if len(repetitions) < 2:  # noqa: PLR2004
        return ()
    limits = Limits(_changes(repetitions))
    verdicts: list[Verdict] = []
    for check in campaign_checks.CAMPAIGN_CHECKS:
        found = check.judge(repetitions, limits)
        verdicts += found
        repetitions = _without_void(repetitions, found)
    return tuple(verdicts)


def with_campaign(
    verdicts: Sequence[Verdict],
    recording: Recording,
    campaign: Sequence[Verdict],
    *,
    is_of_block: bool = True,
) -> tuple[Verdict, ...]:
    """The verdicts on a trial with those that void its block or its server: its numbers are, too.

    Args:
        verdicts: The verdicts on the trial alone.
        recording: Its recording.
        campaign: The verdicts on the campaign.
        is_of_block: Whether it ran in the block of its number; tries of a load line and steps of a
            ladder come after all blocks.
    """
    subjects = verdict.subjects_of(recording)[0 if is_of_block else 1 :]
    void = (
        replace(one, subject=recording.trial)
        for one in campaign
        if one.subject in subjects and one.level == "void"
    )
    return (*verdicts, *void)


def _without_void(
    repetitions: Sequence[ComparedTrial], verdicts: Sequence[Verdict]
) -> list[ComparedTrial]:
    """Trials of which those of a void block, or of a void server, are void."""
    void = {one.subject for one in verdicts if one.level == "void"}
    return [
        replace(one, is_void=one.is_void or not void.isdisjoint(verdict.subjects_of(one.recording)))
        for one in repetitions
    ]


def _changes(repetitions: Sequence[ComparedTrial]) -> dict[str, dict[str, float]]:
    """The limits that any of the trials had changed."""
    changed: dict[str, dict[str, float]] = {}
    for one in repetitions:
        for check, values in one.recording.limits.items():
            changed.setdefault(check, {}).update(values)
    return changed
