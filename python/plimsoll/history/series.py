"""Series: one quantity of one entry over campaigns, with its breaks and change points.

Only points under the same conditions, the same machine and the same load, are held together: each
condition has a series of its own within, also where machines take turns. Where conditions change
from one campaign to the next stands a break; a break is never a change of the entry.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from plimsoll.comparison import comparisons
from plimsoll.history.lines_and_costs import LINE_RATE
from plimsoll.recording import YARDSTICK
from plimsoll.statistics.level_changes import level_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.findings.entries import EntryName
    from plimsoll.history.kept import KeptCampaign, KeptEntry
    from plimsoll.statistics.intervals import Estimate

MORE_IS_BETTER = (*comparisons.MORE_IS_BETTER, LINE_RATE)
"""Quantities whose fall is a loss."""

Condition = tuple[str, str]
"""Fingerprint of the machine and id of the load."""


@dataclass(frozen=True)
class Point:
    """One campaign in a series.

    Attributes:
        campaign: The campaign.
        entry: The entry in it.
        estimate: The quantity; None when there is no number, as of an entry that is void.
    """

    campaign: KeptCampaign
    entry: KeptEntry
    estimate: Estimate | None

    @property
    def condition(self) -> Condition:
        """Under which it was measured."""
        return self.campaign.machine.fingerprint, self.entry.load_id


@dataclass(frozen=True)
class Break:
    """A place from which on other conditions hold.

    Attributes:
        index: Index of the first point under them.
        what: What changed.
    """

    index: int
    what: Literal["machine", "load"]


@dataclass(frozen=True)
class ChangePoint:
    """A change point.

    Attributes:
        index: Index of the first point at the new level.
        before: Level before it, under the same conditions.
        after: Level from it on.
        age: How many campaigns ago it began: points under the same conditions from it on, points
            after the last of them, and all campaigns after the last one that has the entry.
        is_worse: Whether the new level is the worse one.
    """

    index: int
    before: float
    after: float
    age: int
    is_worse: bool


@dataclass(frozen=True)
class Series:
    """One quantity of one entry.

    Attributes:
        entry: Name of the entry.
        quantity: Column of `summaries`.
        points: Campaigns that have the entry, in the order of time.
        breaks: Its breaks, in order.
        changes: Its change points, in order.
        without: How many of the last campaigns do not have the entry.
    """

    entry: EntryName
    quantity: str
    points: tuple[Point, ...]
    breaks: tuple[Break, ...]
    changes: tuple[ChangePoint, ...]
    without: int = 0

    @property
    def missing(self) -> Point | None:
        """The last campaign that has the entry, if it has no number of it; else None."""
        last = self.points[-1]
        return last if last.estimate is None else None

    def recently_missing(self, most: int) -> Point | None:
        """The same if it is recent, and unless every rate keeps the limit of a load line.

        The load line of Plimsoll's own server counts for nothing: where it ends, a load generator
        does.

        Args:
            most: How many campaigns are recent.
        """
        last = self.missing
        if last is None or last.entry.line == "above" or self.without >= most:
            return None
        is_of_yardstick = last.entry.framework.partition(":")[0] == YARDSTICK
        return None if is_of_yardstick and self.quantity == LINE_RATE else last

    def recent_loss(self, most: int) -> ChangePoint | None:
        """The latest recent change for the worse that is the last one under its conditions.

        A campaign under other conditions neither confirms a loss nor ends it.

        Args:
            most: How many campaigns are recent.
        """
        last = {self.points[one.index].condition: one for one in self.changes}
        lost = [one for one in last.values() if one.is_worse and one.age <= most]
        return max(lost, key=lambda one: one.index, default=None)


def series(campaigns: Sequence[KeptCampaign], quantities: Sequence[str]) -> tuple[Series, ...]:
    """Every entry and quantity for which there is a number, in the order of their names.

    A load line is one as well whose limit no rate has ever kept.

    Args:
        campaigns: The campaigns, in the order of time.
        quantities: Columns of `summaries`.

    Raises:
        StorageError: The library that finds change points is missing.
    """
    found: dict[EntryName, list[tuple[KeptCampaign, KeptEntry]]] = {}
    last: dict[EntryName, int] = {}
    for place, campaign in enumerate(campaigns, 1):
        for entry in campaign.entries:
            found.setdefault(entry.name, []).append((campaign, entry))
            last[entry.name] = place
    made = (
        _series(name, quantity, kept, len(campaigns) - last[name])
        for name, kept in sorted(found.items())
        for quantity in quantities
    )
    return tuple(
        one for one in made if any(_is_result(point, one.quantity) for point in one.points)
    )


def _is_result(point: Point, quantity: str) -> bool:
    """Whether there is a number, or no rate keeps the limit of a load line."""
    is_below = quantity == LINE_RATE and point.entry.line == "below"
    return point.estimate is not None or is_below


def selected(
    campaigns: Sequence[KeptCampaign], framework: str | None, endpoint: str | None
) -> tuple[KeptCampaign, ...]:
    """The campaigns with only the entries of a framework and an endpoint; None means every one."""

    def wanted(entry: KeptEntry) -> bool:
        return framework in (None, entry.framework) and endpoint in (None, entry.endpoint)

    return tuple(
        one.model_copy(update={"entries": tuple(filter(wanted, one.entries))}) for one in campaigns
    )


def names(campaigns: Sequence[KeptCampaign]) -> tuple[EntryName, ...]:
    """Every entry, in the order of their names."""
    return tuple(sorted({entry.name for one in campaigns for entry in one.entries}))


def void_entries(campaigns: Sequence[KeptCampaign]) -> tuple[EntryName, ...]:
    """Entries without a repetition that counts in any campaign, in the order of their names."""
    counting = {entry.name for one in campaigns for entry in one.entries if entry.level != "void"}
    return tuple(name for name in names(campaigns) if name not in counting)


def _series(
    name: EntryName, quantity: str, kept: Sequence[tuple[KeptCampaign, KeptEntry]], without: int
) -> Series:
    """The series of an entry that so many of the last campaigns do not have."""
    points = tuple(
        Point(campaign, entry, None if number is None else number.estimate)
        for campaign, entry in kept
        for number in (entry.estimates.get(quantity),)
    )
    changes = _changes(points, quantity, without)
    return Series(name, quantity, points, _breaks(points), changes, without)


def _breaks(points: Sequence[Point]) -> tuple[Break, ...]:
    return tuple(
        Break(index, "machine" if before.condition[0] != point.condition[0] else "load")
        for index, (before, point) in enumerate(pairwise(points), 1)
        if before.condition != point.condition
    )


def _changes(points: Sequence[Point], quantity: str, without: int) -> tuple[ChangePoint, ...]:
    by_condition: dict[Condition, list[tuple[int, float]]] = {}
    for index, point in enumerate(points):
        if point.estimate is not None:
            by_condition.setdefault(point.condition, []).append((index, point.estimate.value))
    found = [
        ChangePoint(
            places[one.index],
            one.before,
            one.after,
            _age(points, places[one.index]) + without,
            (one.after < one.before) is (quantity in MORE_IS_BETTER),
        )
        for kept in by_condition.values()
        for places, values in (tuple(zip(*kept, strict=True)),)
        for one in level_changes(values)
    ]
    return tuple(sorted(found, key=lambda one: one.index))


def _age(points: Sequence[Point], index: int) -> int:
    """How many points ago a change began; those of others between its own do not count."""
    own = [
        at
        for at, point in enumerate(points)
        if at >= index and point.condition == points[index].condition
    ]
    return len(own) + len(points) - 1 - own[-1]
