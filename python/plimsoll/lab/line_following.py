"""The tries of a campaign of kind `line`: each entry has one, then each has the next."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from plimsoll import plan
from plimsoll.events import Listener, Step, ignore
from plimsoll.load_line import campaign_search
from plimsoll.load_line.campaign_search import EntrySearch, LineEntry
from plimsoll.load_line.tries import is_try
from plimsoll.report.results import line_result

if TYPE_CHECKING:
    from collections.abc import Iterable

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.plan import Refuses, Trial
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results


def recorded(campaign: Campaign, refuses: Refuses, stored: Results) -> tuple[Trial, ...]:
    """The tries that are recorded, in order.

    Args:
        campaign: The campaign.
        refuses: Returns why a driver cannot generate a load.
        stored: Its results.

    Raises:
        StorageError: They cannot be read.
    """
    peaks = _peaks(campaign, refuses)
    found: list[Trial] = []
    for one in filter(is_try, map(stored.recording, stored.trial_ids())):
        like = peaks.get(LineEntry.of(one))
        if like is not None and one.load.model != "unknown":
            found.append(plan.tried(campaign, like, one.load, one.repetition, one.order))
    return tuple(found)


class LineTurns:
    """The searches of all entries, which take turns, try by try.

    Args:
        campaign: The campaign.
        refuses: Returns why a driver cannot generate a load.
        stored: Its results.
        on_event: Called with the state of each search after a try.
    """

    def __init__(
        self, campaign: Campaign, refuses: Refuses, stored: Results, on_event: Listener = ignore
    ) -> None:
        """Nothing is read yet: the peaks may not be recorded."""
        self._campaign = campaign
        self._peaks = _peaks(campaign, refuses)
        self._stored = stored
        self._on_event = on_event
        self._searches: dict[LineEntry, EntrySearch] = {}
        self._taken: set[str] = set()

    def following(self) -> tuple[Trial, ...]:
        """One try of each entry that had the fewest, in shuffled order; empty at the end.

        Raises:
            StorageError: What is recorded cannot be read.
        """
        self._take_in()
        found = [one for one in self._searches.values() if one.following is not None]
        fewest = min((one.tries for one in found), default=0)
        due = [one for one in found if one.tries == fewest]
        seed = f"{self._campaign.seed}/line/{fewest + 1}"
        random.Random(seed).shuffle(due)  # noqa: S311 - a seed makes it repeatable
        first = len(self._stored.planned_ids())
        return tuple(self._trial(one, order) for order, one in enumerate(due, first))

    def _trial(self, search: EntrySearch, order: int) -> Trial:
        wanted, following = self._campaign.line, search.following
        assert wanted is not None and following is not None  # noqa: S101 - of `following`
        load = wanted.tried(*following)
        return plan.tried(self._campaign, self._peaks[search.entry], load, search.tries + 1, order)

    def _take_in(self) -> None:
        """Tells each search what was recorded since."""
        fresh = [name for name in self._stored.trial_ids() if name not in self._taken]
        recordings = [self._stored.recording(name) for name in fresh]
        self._taken.update(fresh)
        if not self._searches:
            self._begin(one for one in recordings if not is_try(one))
        shown: dict[str, EntrySearch] = {}
        tries = [one for one in recordings if is_try(one)]
        for one in sorted(tries, key=lambda each: each.repetition):
            search = self._searches.get(LineEntry.of(one))
            if search is not None:
                search.take(one)
                shown[f"{one.title} · {one.endpoint}"] = search
        for name, search in shown.items():
            if (now := search.searched) and now.tries:
                self._on_event(Step(f"{name}: {line_result.step(now)}"))

    def _begin(self, recordings: Iterable[Recording]) -> None:
        wanted = self._campaign.line
        assert wanted is not None  # noqa: S101 - the campaign is of kind `line`
        peaks = campaign_search.by_entry(recordings)
        self._searches = {
            entry: EntrySearch(
                self._stored, entry, peaks.get(entry, ()), wanted, self._campaign.seed
            )
            for entry in self._peaks
        }


def _peaks(campaign: Campaign, refuses: Refuses) -> dict[LineEntry, Trial]:
    """A trial of the peak of each entry."""
    return {
        LineEntry(one.endpoint.name, one.framework.name, one.framework.variant): one
        for one in plan.plan(campaign, refuses)
    }
