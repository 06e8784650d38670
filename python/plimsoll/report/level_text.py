"""Levels and verdicts as people read them: with a mark, and with what was measured."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from plimsoll import texts, wording
from plimsoll import verdicts as judging
from plimsoll.verdicts import levels
from plimsoll.verdicts.levels import by_checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.trial import State
    from plimsoll.verdicts.limits import Limit
    from plimsoll.verdicts.verdict import Level, Verdict

MARKS: dict[State, str] = {
    "not_checked": "○",
    "sound": "✓",
    "doubtful": "▲",
    "void": "✕",
    "failed": "■",
}
"""A mark for each state, distinguished by its shape."""

_PLACES_OF_A_MEASURE = 6
"""Decimals of a share in percent: what is left of a difference of two equal sums is 0."""

_ONE = {"bodies": "body", "entries": "entry", "processes": "process"}
"""Units of counts whose singular is not theirs without an s."""


def marked(level: Level | State) -> str:
    """A level with its mark: `▲ doubtful`."""
    return f"{MARKS[level]} {name(level)}"


def name(level: Level | State) -> str:
    """A level as people read it: `not checked`."""
    return level.replace("_", " ")


def of_verdicts(verdicts: Sequence[Verdict]) -> str:
    """Some verdicts in one line: the level, by how many checks, or the worst sentence.

    A level without a doubt is followed by the names of the checks that could not be made.

    Args:
        verdicts: Those on one trial.
    """
    level = levels.of_trial(verdicts)
    bad = [verdict for verdict in verdicts if verdict.level == level and verdict.is_doubting]
    if not bad:
        names = [judging.catalogue.title_of(one) for one in levels.unmade(verdicts)]
        missing = f"; not checked: {wording.listed(names)}" if names else ""
        return f"{marked(level)} {by_checks(verdicts)}{missing}"
    more = f" (and {wording.several(len(bad) - 1, 'more check')})" if bad[1:] else ""
    problem = judging.catalogue.title_of(bad[0])
    return f"{marked(level)}: {problem}: {_first(bad[0])}{more}"


def _first(verdict: Verdict) -> str:
    """The first sentence of a verdict, without its full stop, on one line."""
    return texts.line(verdict.sentences[0].clause)


def measured(verdict: Verdict) -> str:
    """What a verdict measured, with its unit, and what it is of where that must be told."""
    number = _with_unit(verdict.measured, verdict.unit)
    decisive = _decisive(verdict)
    if verdict.measured is None or decisive is None or not decisive.of:
        return number
    return f"{number} {decisive.of}"


def limit(verdict: Verdict) -> str:
    """The limit of a verdict, with its unit: `limit 80 %`, or `minimum 90 %` where less is bad."""
    decisive = _decisive(verdict)
    is_least = decisive is not None and decisive.bad == "below"
    number = _with_unit(verdict.limit, verdict.unit)
    return f"{'minimum' if is_least else 'limit'} {number}"


def _decisive(verdict: Verdict) -> Limit | None:
    """The limit that decided a verdict, which its first sentence names.

    None where nothing is known of it, as in results of another version.
    """
    return _limits().get((verdict.check, verdict.sentences[0].limit))


@cache
def _limits() -> dict[tuple[str, str], Limit]:
    """All limits by check and name; made when asked, since first figures need no check."""
    return {(one.check, one.name): one for one in judging.catalogue.LIMITS}


def _with_unit(value: float | None, unit: str) -> str:
    if value is None:
        return wording.ABSENT
    if unit == "ratio":
        return f"{wording.number(round(100 * value, _PLACES_OF_A_MEASURE), 3)} %"
    return f"{wording.number(value)} {_of_one(unit) if value == 1 else unit}".rstrip()


def _of_one(unit: str) -> str:
    """A unit behind a 1: `1 server`, but `1 s`."""
    is_plural = unit.isalpha() and len(unit) > 1
    return _ONE.get(unit, unit.removesuffix("s")) if is_plural else unit
