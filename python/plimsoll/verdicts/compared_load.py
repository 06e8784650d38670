"""Compared load: what the checks find in the load of one server of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import aggregate
from plimsoll.comparison.doubts import FoundDoubt
from plimsoll.verdicts import catalogue
from plimsoll.verdicts.judge import judge

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.verdict import Verdict


def doubts(entry: str, tables: Tables) -> tuple[FoundDoubt, ...]:
    """What checks doubt in one start of a server, without what its ratio to the other has not.

    Args:
        entry: Which of the two servers.
        tables: The tables of its trial.
    """
    with aggregate.database.shared():
        verdicts = judge(tables)
    return tuple(
        _doubt(entry, verdict)
        for verdict in verdicts
        if verdict.is_doubting and not catalogue.role(verdict.check).cancels_in_turns
    )


def _doubt(entry: str, verdict: Verdict) -> FoundDoubt:
    first, role = verdict.sentences[0], catalogue.role(verdict.check)
    return FoundDoubt(
        entry,
        verdict.check,
        catalogue.title_of(verdict),
        "void" if verdict.level == "void" else "doubtful",
        first.clause,
        first.remedy,
        role.is_essential,
        is_by_server=catalogue.is_by_server(verdict),
    )
