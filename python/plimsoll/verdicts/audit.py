"""Audit: every check on published figures, each result alone and all together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from plimsoll.verdicts.figure_checks import FIGURE_CHECKS
from plimsoll.verdicts.figure_set_checks import FIGURE_SET_CHECKS
from plimsoll.verdicts.limits import Limits
from plimsoll.verdicts.verdict import Sentence, worst

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from plimsoll.tool_output.reported import ReportedStatistics
    from plimsoll.verdicts.verdict import Level, Verdict


POSSIBLE = frozenset(check.NAME for check in FIGURE_CHECKS if getattr(check, "IS_POSSIBLE", False))
"""Checks whose void verdicts say that requests failed, and not that figures are impossible."""


@dataclass(frozen=True)
class Audited:
    """One result and its verdicts.

    Attributes:
        figures: The result.
        verdicts: The verdicts of the checks whose figures it has, in the order of the checks.
        missing: Name of each other check, and what would have to be published for it.
    """

    figures: ReportedStatistics
    verdicts: tuple[Verdict, ...]
    missing: dict[str, str]

    @property
    def level(self) -> Level:
        """The worst of its verdicts."""
        return worst(verdict.level for verdict in self.verdicts)


@dataclass(frozen=True)
class Audit:
    """Several results.

    Attributes:
        results: Each alone.
        together: The verdicts on all of them.
    """

    results: tuple[Audited, ...]
    together: tuple[Verdict, ...]

    @property
    def level(self) -> Level:
        """The worst of all verdicts."""
        levels: list[Level] = [one.level for one in self.results]
        return worst([*levels, *(verdict.level for verdict in self.together)])

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Every verdict, on each result and on all together."""
        return (*(one for result in self.results for one in result.verdicts), *self.together)

    @property
    def is_impossible(self) -> bool:
        """Whether a verdict says that figures cannot be."""
        return any(one.level == "void" and one.check not in POSSIBLE for one in self.verdicts)

    @property
    def is_failing(self) -> bool:
        """Whether a verdict says that too many requests failed."""
        return any(one.level == "void" and one.check in POSSIBLE for one in self.verdicts)


def audit(results: Sequence[ReportedStatistics], limits: Limits | None = None) -> Audit:
    """Judges published figures.

    Args:
        results: The results, from one file or several.
        limits: Limits other than the defaults.
    """
    held = limits or Limits()
    together = (check.judge(results, held) for check in FIGURE_SET_CHECKS)
    return Audit(
        tuple(_audited(one, held) for one in results),
        tuple(verdict for verdict in together if verdict is not None),
    )


def _judged(figures: ReportedStatistics, check: ModuleType, limits: Limits) -> Verdict | None:
    """The verdict of a check, softened where what was published need not be of one run."""
    found: Verdict | None = check.judge(figures, limits)
    if found is None or found.level != "void" or check.COMPARES == "shares":
        return found
    if figures.mean_of:
        return _of_means(figures, found)
    if check.COMPARES == "rate_and_times" and not figures.is_resolved:
        return _of_samples(found)
    return found


def _of_means(figures: ReportedStatistics, found: Verdict) -> Verdict:
    """A verdict on means of several runs: what no single run can be, their means may be.

    The mean of connections / rate is not connections / the mean rate. So means can miss laws that
    tie rates, times and counts of one run together without any of them being wrong.
    """
    text = (
        f"These are means over {figures.mean_of}, which need not be consistent as those of one "
        "run must be."
    )
    return _softened(found, text, "Publish the figures of each run beside their means.")


def _of_samples(found: Verdict) -> Verdict:
    """A verdict on a rate that is a mean of samples, where requests / time cannot be worked out."""
    text = "The rate is a mean over short stretches, which need not be requests / time."
    return _softened(found, text, "Publish the number of requests and the duration.")


def _softened(found: Verdict, text: str, remedy: str) -> Verdict:
    """A void verdict as a doubtful one, with what may explain it."""
    held = tuple(
        replace(one, level="doubtful", remedy="") if one.level == "void" else one
        for one in found.sentences
    )
    because = Sentence("doubtful", text, remedy)
    first = sum(1 for _ in takewhile(lambda one: one.limit == held[0].limit, held))
    return replace(found, level="doubtful", sentences=(*held[:first], because, *held[first:]))


def _audited(figures: ReportedStatistics, limits: Limits) -> Audited:
    judged = {check: _judged(figures, check, limits) for check in FIGURE_CHECKS}
    return Audited(
        figures,
        tuple(verdict for verdict in judged.values() if verdict is not None),
        {check.NAME: check.NEEDS for check, verdict in judged.items() if verdict is None},
    )
