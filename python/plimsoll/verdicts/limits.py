"""Limits: the number at which a check starts to doubt, and the number at which it voids.

Each check declares its own `LIMITS`; `verdicts.catalogue` joins them. A campaign may change any, as
`[limits.<check>]` with `<name>_doubtful` or `<name>_void`; the source of the verdict then shows it.
A limit whose source is `first proposal` rests on no publication and no calibration yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from plimsoll import wording

if TYPE_CHECKING:
    from plimsoll.verdicts.verdict import Level

Changes = Mapping[str, Mapping[str, float]]
"""Check to name to value, as a campaign gives them and a recording keeps them."""

MOST_RATIO = 1e6
"""The greatest ratio that a check measures: one to nothing is no number."""

PROPOSAL = "first proposal"
"""Source of a limit that is neither published nor calibrated."""


@dataclass(frozen=True)
class Limit:
    """One limit of one check.

    Attributes:
        check: Name of the check.
        name: What is limited, with its unit: `failed_ratio`.
        bad: Whether a number `above` or `below` the limit is bad; the limit itself is good.
        doubtful: Where doubt begins; None when nothing is merely doubtful.
        void: Where a number is void; None when nothing is.
        unit: Unit of both.
        meaning: What is measured, in one line.
        source: Where the numbers come from.
        changed: What the campaign changed: the default in words; empty when it changed nothing.
        of: What the number is of, behind the number: `of the server's cores`. Empty where the
            sentences of the check have no other number of the same unit.
    """

    check: str
    name: str
    bad: Literal["above", "below"]
    doubtful: float | None
    void: float | None
    unit: str
    meaning: str
    source: str
    changed: str = ""
    of: str = ""

    @property
    def setting_names(self) -> tuple[str, str]:
        """The names under which a campaign changes it."""
        return f"{self.name}_doubtful", f"{self.name}_void"

    def level(self, measured: float | None) -> Level:
        """The level of a number; what could not be measured is doubtful."""
        if measured is None or measured != measured:  # noqa: PLR0124
            return "doubtful"
        if _is_beyond(measured, self.void, self.bad):
            return "void"
        return "doubtful" if _is_beyond(measured, self.doubtful, self.bad) else "sound"

    def decisive(self, level: Level) -> float | None:
        """The value that decided a level; for a sound one the first that it held."""
        first, last = self.doubtful, self.void
        if level == "void":
            return last
        return last if first is None else first


@dataclass(frozen=True)
class Limits:
    """The limits of one trial.

    Attributes:
        changes: What its campaign changed.
    """

    changes: Changes = field(default_factory=dict[str, dict[str, float]])

    def of(self, limit: Limit) -> Limit:
        """A limit as the campaign has it.

        Args:
            limit: The limit as its check declares it.
        """
        values = self.changes.get(limit.check, {})
        doubtful_name, void_name = limit.setting_names
        if doubtful_name not in values and void_name not in values:
            return limit
        return replace(
            limit,
            doubtful=values.get(doubtful_name, limit.doubtful),
            void=values.get(void_name, limit.void),
            changed=f"default: doubtful {_or_never(limit.doubtful)}, void {_or_never(limit.void)}",
        )


def capped_ratio(part: float, whole: float) -> float:
    """One number / another, at most `MOST_RATIO`, which it also is where the other is 0."""
    return min(part / whole, MOST_RATIO) if whole else MOST_RATIO


def _or_never(value: float | None) -> str:
    return "never" if value is None else f"{wording.exact(value)}"


def _is_beyond(measured: float, limit: float | None, bad: str) -> bool:
    if limit is None:
        return False
    return measured > limit if bad == "above" else measured < limit
