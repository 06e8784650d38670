"""Doubts about the loads of a comparison: what the checks found in the trials of each server.

A comparison starts its servers several times, and a check judges each start. What servers respond
counts wherever it was seen once. Anything else may be the chance of a start, so it counts where at
least half of the starts of a server show it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from plimsoll.comparison.turn_pairs import A, B
from plimsoll.statistics.paired import LEAST_GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_STARTS = 0.5
"""Share of the starts in which a check must doubt a server's load."""


@dataclass(frozen=True)
class FoundDoubt:
    """What a check found in the load of one start of a server.

    Attributes:
        entry: `turn_pairs.A` or `turn_pairs.B`.
        check: Name of the check.
        title: The check as people read it.
        level: How bad it is.
        text: What was seen, without a full stop.
        remedy: What to do about it; empty when there is nothing to do.
        counts_once: Whether one start is enough.
        is_by_server: Whether the load is void by what the server did or failed to do.
    """

    entry: str
    check: str
    title: str
    level: Literal["doubtful", "void"]
    text: str
    remedy: str = ""
    counts_once: bool = False
    is_by_server: bool = False


@dataclass(frozen=True)
class LoadDoubt:
    """What a check found in the loads of a server.

    Attributes:
        worst: The worst of what it found; its level is that of all starts together.
        starts: In how many starts.
        of_starts: Of how many.
    """

    worst: FoundDoubt
    starts: int
    of_starts: int

    @property
    def is_void(self) -> bool:
        """Whether the loads of the server show nothing about it."""
        return self.worst.level == "void"


def of_starts(groups: Sequence[Sequence[FoundDoubt]]) -> tuple[LoadDoubt, ...]:
    """What counts of the doubts about several starts: those of A before those of B, void first.

    Args:
        groups: The doubts about both servers, one sequence for each start.
    """
    every = [one for group in groups for one in group]
    kinds = dict.fromkeys((one.entry, one.check) for one in every)
    counted = (
        doubt
        for kind in kinds
        for doubt in _counted([one for one in every if (one.entry, one.check) == kind], len(groups))
    )
    return tuple(sorted(counted, key=lambda one: (one.worst.entry, not one.is_void)))


def void_entries(doubts: Sequence[LoadDoubt]) -> tuple[str, ...]:
    """Whose loads are void."""
    void = {one.worst.entry for one in doubts if one.is_void}
    return tuple(entry for entry in (A, B) if entry in void)


def void_by_itself(groups: Sequence[Sequence[FoundDoubt]]) -> str:
    """Whose loads are void by its own fault in every start, where none of the other's is.

    By chance, servers of which each start is as likely void as not are so in one comparison of 64.

    Args:
        groups: The doubts about both servers, one sequence for each start.

    Returns:
        `turn_pairs.A`, `turn_pairs.B`, or nothing where it is neither, and below three starts.
    """
    void = [[one for one in group if one.level == "void"] for group in groups]
    entries = {one.entry for group in void for one in group}
    is_always = len(groups) >= LEAST_GROUPS and all(void)
    is_by_server = all(one.is_by_server for group in void for one in group)
    return entries.pop() if is_always and is_by_server and len(entries) == 1 else ""


def _counted(found: Sequence[FoundDoubt], starts: int) -> Iterator[LoadDoubt]:
    """The doubt that counts of what one check found in one server; none where it does not."""
    void = [one for one in found if one.level == "void"]
    if _are_enough(void, starts):
        yield LoadDoubt(void[0], len(void), starts)
    elif _are_enough(found, starts):
        first = next((one for one in found if one.level == "doubtful"), found[0])
        yield LoadDoubt(replace(first, level="doubtful"), len(found), starts)


def _are_enough(found: Sequence[FoundDoubt], starts: int) -> bool:
    return bool(found) and (found[0].counts_once or len(found) >= MOST_STARTS * starts)
