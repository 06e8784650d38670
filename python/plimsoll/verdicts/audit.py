"""Audit: every check on published figures, each result alone and all together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.verdicts.figure_checks import FIGURE_CHECKS
from plimsoll.verdicts.figure_set_checks import FIGURE_SET_CHECKS
from plimsoll.verdicts.limits import Limits
from plimsoll.verdicts.verdict import worst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.published.figures import Figures
    from plimsoll.verdicts.verdict import Level, Verdict


@dataclass(frozen=True)
class Audited:
    """One result and what is to be said of it.

    Attributes:
        figures: The result.
        verdicts: The verdicts of the checks whose figures it has, in the order of the checks.
        missing: Name of each other check, and what would have to be published for it.
    """

    figures: Figures
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


def audit(results: Sequence[Figures], limits: Limits | None = None) -> Audit:
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


def _audited(figures: Figures, limits: Limits) -> Audited:
    judged = {check: check.judge(figures, limits) for check in FIGURE_CHECKS}
    return Audited(
        figures,
        tuple(verdict for verdict in judged.values() if verdict is not None),
        {check.NAME: check.NEEDS for check, verdict in judged.items() if verdict is None},
    )
