"""Catalogue: what the checks declare, joined: their limits and their titles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign.documents import near
from plimsoll.errors import InputError, Problem
from plimsoll.verdicts.campaign_checks import CAMPAIGN_CHECKS
from plimsoll.verdicts.checks import CHECKS
from plimsoll.verdicts.figure_checks import FIGURE_CHECKS
from plimsoll.verdicts.figure_set_checks import FIGURE_SET_CHECKS
from plimsoll.verdicts.role import Role
from plimsoll.verdicts.verdict import DOUBTING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.verdicts.limits import Limit
    from plimsoll.verdicts.verdict import Level, Verdict

LIMITS: tuple[Limit, ...] = tuple(
    limit
    for checks in (CHECKS, CAMPAIGN_CHECKS, FIGURE_CHECKS, FIGURE_SET_CHECKS)
    for check in checks
    for limit in check.LIMITS
)
"""Every limit, in the order of the checks."""

_EVERY = (*FIGURE_SET_CHECKS, *FIGURE_CHECKS, *CAMPAIGN_CHECKS, *CHECKS)

TITLES = {check.NAME: check.TITLE for check in _EVERY}
"""Name of each check to the name that people read."""

PROBLEMS = {check.NAME: check.PROBLEM for check in _EVERY}
"""Name of each check to the name of what it found where it doubts."""


def named(typed: str) -> tuple[str, ...]:
    """The checks that somebody means: by name, title or problem, in any case.

    Args:
        typed: `responses_correct`, `Responses correct`, `wrong responses`.

    Returns:
        Their names; empty where there is none.
    """
    wanted = typed.strip().casefold()
    return tuple(
        check
        for check in TITLES
        if wanted in {one.casefold() for one in (check, TITLES[check], PROBLEMS[check])}
    )


def require(typed: Iterable[str], where: str) -> tuple[str, ...]:
    """The checks that somebody names, each by its name or title.

    Args:
        typed: Names or titles.
        where: The argument or option that has them.

    Raises:
        InputError: There is no such check.
    """
    meant = {text: named(text) for text in typed}
    problems = [
        Problem(where, f"unknown check `{text}`", near(text, _alike(text), "checks"))
        for text, names in meant.items()
        if not names
    ]
    if problems:
        raise InputError(problems)
    return tuple(dict.fromkeys(name for names in meant.values() for name in names))


def _alike(typed: str) -> Iterable[str]:
    """Names of the checks; their titles where a title was typed."""
    if " " in typed or typed[:1].isupper():
        return {*TITLES.values(), *PROBLEMS.values()}
    return TITLES


_ROLES = {check.NAME: check.ROLE for check in CHECKS}

_NO_ROLE = Role()


def role(check: str) -> Role:
    """What a check is among the others.

    Args:
        check: Its name; one that is not a check of a trial has no role.
    """
    return _ROLES.get(check, _NO_ROLE)


def is_by_server(verdict: Verdict, *, is_overloaded: bool = False) -> bool:
    """Whether a trial is void by what its server did or failed to do.

    Args:
        verdict: A verdict of a check of a trial.
        is_overloaded: Whether the load was open, and had a rate that the server did not carry.

    Returns:
        False for a verdict that is not void, or also by a limit that does not blame the server.
    """
    declared = role(verdict.check)
    void = {one.limit for one in verdict.sentences if one.level == "void"}
    further = void - declared.by_overload if is_overloaded else void
    return bool(void) and further <= declared.blames_server


def limit(check: str, name: str) -> Limit:
    """A limit by its name, as its check declares it.

    Raises:
        KeyError: There is no such limit.
    """
    for one in LIMITS:
        if (one.check, one.name) == (check, name):
            return one
    raise KeyError(f"{check}.{name}")


def title(check: str, level: Level = "sound") -> str:
    """A check as people read it: `repetitions_agree` is `Repetitions agree`.

    Args:
        check: Its name; one that is not known, in results of another version, reads as it is
            written.
        level: Of its verdict; one that doubts has the name of the problem, `Repetitions differ`.
    """
    names = PROBLEMS if level in DOUBTING else TITLES
    return names.get(check, check.replace("_", " ").capitalize())


def title_of(verdict: Verdict) -> str:
    """A check as people read it above its verdict: no problem is named that was not seen.

    Args:
        verdict: Its verdict; one whose readings are missing is `Reference drift (unknown)`.
    """
    if verdict.is_unread:
        return f"{title(verdict.check)} (unknown)"
    return title(verdict.check, verdict.level)
