"""Levels of trials: what its verdicts amount to, by the roles that checks declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import verdicts as judging
from plimsoll.verdicts.verdict import worst
from plimsoll.wording import several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.verdicts.verdict import Level, Verdict


def of_trial(verdicts: Sequence[Verdict]) -> Level:
    """The level of a trial: the worst of its verdicts.

    It is `not_checked`, not `sound`, if no essential check (`Role.is_essential`) could be made:
    then the numbers may count wrong responses, whatever the other checks found.
    """
    level = worst(one.level for one in verdicts)
    if level == "sound" and not any(
        one.level == "sound" and judging.catalogue.role(one.check).is_essential for one in verdicts
    ):
        return "not_checked"
    return level


def by_checks(verdicts: Sequence[Verdict]) -> str:
    """How many checks the level of a trial rests on: `by 9 of 27 checks, 18 not checked`."""
    unmade = sum(verdict.level == "not_checked" for verdict in verdicts)
    sound = sum(verdict.level == "sound" for verdict in verdicts)
    if of_trial(verdicts) == "not_checked":
        return f"({sound} of {several(len(verdicts), 'check')} passed, none on responses)"
    if not unmade:
        return f"by {several(len(verdicts), 'check')}"
    return f"by {sound} of {several(len(verdicts), 'check')}, {unmade} not checked"
