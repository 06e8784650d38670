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


def is_wrong(verdicts: Sequence[Verdict]) -> bool:
    """Whether an essential check (`Role.is_essential`) calls a trial void."""
    return any(
        one.level == "void" and judging.catalogue.role(one.check).is_essential for one in verdicts
    )


def unmade(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """Those of checks that apply and could not be made."""
    return tuple(one for one in verdicts if one.level == "not_checked" and one.applies)


def checks_that_apply(verdicts: Sequence[Verdict]) -> str:
    """How many checks there were for this kind of load, server and host: `21 checks that apply`."""
    applying = sum(one.applies for one in verdicts)
    if applying == len(verdicts):
        return several(applying, "check")
    return several(applying, "check that applies", "checks that apply")


def by_checks(verdicts: Sequence[Verdict]) -> str:
    """How many checks the level of a trial rests on: `by 19 of 21 checks that apply`.

    Checks of another kind of load, of a database or of several hosts are missed by nobody where
    there is nothing of the kind, so they do not count.
    """
    sound, every = sum(one.level == "sound" for one in verdicts), checks_that_apply(verdicts)
    if of_trial(verdicts) == "not_checked":
        return f"({sound} of {every} passed, none on responses)"
    if unmade(verdicts):
        return f"by {sound} of {every}"
    return f"by {every}" if all(one.applies for one in verdicts) else f"by all {every}"
