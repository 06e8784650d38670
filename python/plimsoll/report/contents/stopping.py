"""Stopping: why a campaign with `until` has no further block, in words."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.report.contents import naming

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.comparison.further_blocks import CampaignProgress, TableProgress
    from plimsoll.plan import ComparedTable


def of_campaign(progress: CampaignProgress) -> str:
    """Why it stopped, with the entries whose intervals are too wide; empty without a trial."""
    within = _within(progress)
    if not progress.tables:
        return ""
    if progress.end == "decided":
        return f"Stopped after {_blocks(progress.tables)}: all intervals are within {within}."
    open_ = sorted(
        chain.from_iterable(_named(one, progress.tables) for one in progress.tables),
        key=lambda entry: -entry[1],
    )
    left = wording.listed([_width(*entry) for entry in open_])
    match progress.end:
        case "budget":
            budget = wording.seconds(progress.rule.budget_s)
            return (
                f"Stopped after {_blocks(progress.tables)}: budget of {budget} spent; still {left} "
                f"instead of {within}. A greater `budget` continues."
            )
        case "most":
            blocks = _blocks(progress.tables)
            return f"Stopped after {blocks}, the maximum: still {left} instead of {within}."
        case _:
            return f"Not finished: {left}. Run the same `plimsoll run` again to resume."


def of_table(progress: CampaignProgress, table: ComparedTable) -> str:
    """Which intervals of one table are too wide; empty where nothing of it was measured."""
    for one in progress.tables:
        if one.table == table:
            open_ = wording.listed([_width(*entry) for entry in one.undecided])
            found = f"still {open_} instead of" if open_ else "all intervals are within"
            return f"{wording.several(one.blocks, 'block')}: {found} {_within(progress)}"
    return ""


def _within(progress: CampaignProgress) -> str:
    return f"±{wording.percent(progress.rule.within)}"


def _blocks(tables: Sequence[TableProgress]) -> str:
    """How many blocks tables have: `4 blocks`, `2 to 7 blocks`."""
    fewest, most = min(one.blocks for one in tables), max(one.blocks for one in tables)
    return wording.several(most, "block") if fewest == most else f"{fewest} to {most} blocks"


def _named(one: TableProgress, tables: Sequence[TableProgress]) -> list[tuple[str, float]]:
    """Undecided entries with what tells their table from others: `go/json`."""
    parts = naming.parts(one.table, [other.table for other in tables])
    return [("/".join([entry, *parts]), width) for entry, width in one.undecided]


def _width(name: str, width: float) -> str:
    """An entry with its interval: `go/json ±8 %`."""
    return f"{name} without interval" if math.isinf(width) else f"{name} ±{wording.percent(width)}"
