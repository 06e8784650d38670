"""Further blocks: which table of a campaign needs another one, and why none begins.

A table is decided when the interval of each ratio to the best reaches no further than asked. Each
undecided table gets whole blocks, so that all of its entries are measured equally often: first the
one that has the fewest, of these the one with the widest interval. A block begins only if the
longest one of its table so far would still fit into the budget.

Everything is a function of what is recorded, so a campaign that was killed goes on as if it had not
been. Intervals allow for the stop (`statistics.fixed_width`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from plimsoll.comparison.compared_table import table_of
from plimsoll.comparison.comparisons import RANKED
from plimsoll.plan import ComparedTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.campaign.as_run import CampaignAsRun
    from plimsoll.comparison.entry_comparison import EntryComparison
    from plimsoll.recording import Recording

MOST = 60
"""The most blocks of a table, where no budget ends it earlier."""

End = Literal["decided", "budget", "most"]
"""Why no further block begins: all tables are decided, none fits, or there are `MOST` blocks."""


@dataclass(frozen=True)
class Rule:
    """When a campaign needs no further blocks.

    Attributes:
        within: Half the width of each interval of a ratio to the best, as a share of the ratio.
        budget_s: Time of all trials after which no block begins, in seconds; infinite for none.
    """

    within: float
    budget_s: float


@dataclass(frozen=True)
class TableProgress:
    """One table of a campaign as far as it came.

    Attributes:
        table: Endpoint, load and driver.
        blocks: Blocks that were begun.
        undecided: Entries whose interval is too wide, the widest first, each with half its width as
            a share of the ratio; infinite where there is no interval yet.
        spent_s: Time of its trials, in seconds.
        block_s: Time of its longest block, in seconds.
    """

    table: ComparedTable
    blocks: int
    undecided: tuple[tuple[str, float], ...]
    spent_s: float
    block_s: float


@dataclass(frozen=True)
class CampaignProgress:
    """A campaign as far as it came.

    Attributes:
        rule: When it needs no further blocks.
        tables: Its tables.
    """

    rule: Rule
    tables: tuple[TableProgress, ...]

    @property
    def spent_s(self) -> float:
        """Time of all trials, in seconds."""
        return sum(one.spent_s for one in self.tables)

    @property
    def following(self) -> TableProgress | None:
        """The table that the next block belongs to; None where none begins."""
        left_s = self.rule.budget_s - self.spent_s
        fitting = [one for one in self._open if one.block_s <= left_s]
        return min(fitting, key=lambda one: (one.blocks, -one.undecided[0][1]), default=None)

    @property
    def end(self) -> End | None:
        """Why no further block begins; None where one does."""
        if self.following is not None:
            return None
        if not any(one.undecided for one in self.tables):
            return "decided"
        return "budget" if self._open else "most"

    @property
    def _open(self) -> list[TableProgress]:
        """Undecided tables that may have a further block."""
        return [one for one in self.tables if one.undecided and one.blocks < MOST]


def rule(as_run: CampaignAsRun | None) -> Rule | None:
    """The rule of a campaign.

    Args:
        as_run: The campaign as run; None where there was none.

    Returns:
        The rule; None where the number of blocks was fixed.
    """
    if as_run is None or not as_run.until:
        return None
    return Rule(as_run.until, as_run.budget_s or math.inf)


def progress(
    rule: Rule, recordings: Iterable[Recording], comparisons: Sequence[EntryComparison]
) -> CampaignProgress:
    """How far a campaign came.

    Args:
        rule: When it needs no further blocks.
        recordings: Recordings of its trials.
        comparisons: Its comparisons, by intervals that allow for the rule.
    """
    ordered = sorted(recordings, key=table_of)
    tables = [
        _progress(rule, table, list(found), comparisons)
        for table, found in groupby(ordered, key=table_of)
    ]
    return CampaignProgress(rule, tuple(tables))


def _progress(
    rule: Rule,
    table: ComparedTable,
    recordings: Sequence[Recording],
    comparisons: Sequence[EntryComparison],
) -> TableProgress:
    took_s: dict[int, float] = {}
    for one in recordings:
        took_s[one.repetition] = took_s.get(one.repetition, 0.0) + (one.took_s or 0.0)
    completed = {one.title for one in recordings if _has_numbers(one)}
    widths = [
        (one.framework, half_width(one, is_void=one.framework in completed and not one.repetitions))
        for one in comparisons
        if one.table == table and one.quantity == RANKED[0]
    ]
    wide = [(name, width) for name, width in widths if width is not None and width > rule.within]
    return TableProgress(
        table=table,
        blocks=max(took_s),
        undecided=tuple(sorted(wide, key=lambda one: (-one[1], one[0]))),
        spent_s=sum(took_s.values()),
        block_s=max(took_s.values()),
    )


def _has_numbers(recording: Recording) -> bool:
    """Whether a trial could have counted; the yardstick is compared with nothing."""
    return recording.ending.kind == "completed" and not recording.is_yardstick


def half_width(compared: EntryComparison, *, is_void: bool = False) -> float | None:
    """Half the width of the interval of a ratio to the best, as a share of the ratio.

    Args:
        compared: A framework beside the best.
        is_void: Whether it was measured, and no trial of it counts.

    Returns:
        The share, that of the interval on logarithms: 0.05 for a ratio that may be 5 % greater;
        infinite where a further block may give an interval; None for the best and for an entry
        that has no ratio and will have none.
    """
    if is_void:
        return math.inf
    if compared.to_best is None or compared.best_framework == compared.framework:
        return None
    ends = compared.to_best.interval
    return math.inf if ends is None else math.sqrt(ends.high / ends.low) - 1
