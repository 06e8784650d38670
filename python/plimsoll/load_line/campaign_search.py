"""The searches of a campaign: how far each entry came, and what is tried next.

An entry is one framework at one endpoint. Every try has a server process of its own, so that what
tries scatter contains what processes scatter. What is tried next follows from what is recorded: a
campaign that was killed goes on as if it had not been.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import pyarrow.dataset as ds

from plimsoll import errors
from plimsoll.campaign.line_settings import LineSettings, stages_of_try
from plimsoll.campaign.load import HIGHEST_LEVEL
from plimsoll.errors import FrameworkError
from plimsoll.load_line import counting, limits
from plimsoll.load_line.goal import SearchGoal
from plimsoll.load_line.search import SteppedSearch
from plimsoll.load_line.tries import Try
from plimsoll.statistics.edge import Count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from plimsoll.campaign.load import Stage
    from plimsoll.load_line.limits import LineLimit
    from plimsoll.load_line.search import NextTry, Searched
    from plimsoll.recording import Recording
    from plimsoll.storage.results import Results

MOST_UNLOADED = 3
"""Tries of an entry in which no load was put on, because something failed, that end its search."""


@dataclass(frozen=True, order=True)
class LineEntry:
    """What a line is searched of.

    Attributes:
        endpoint: Name of the endpoint.
        framework: Name of the framework.
        variant: Its variant; may be empty.
    """

    endpoint: str
    framework: str
    variant: str

    @classmethod
    def of(cls, recording: Recording) -> LineEntry:
        """The entry that a trial belongs to."""
        return cls(recording.endpoint, recording.framework, recording.variant)


def goal(wanted: LineSettings) -> SearchGoal:
    """What is searched of each entry."""
    return SearchGoal(
        limits=tuple(limits.latency(*each) for each in wanted.latencies.items()),
        errors=limits.errors(wanted.errors),
        budget_s=wanted.budget_s,
        within=wanted.within,
        most_per_s=HIGHEST_LEVEL,
        try_s=wanted.hold_s,
        has_processes=True,
    )


def by_entry(recordings: Iterable[Recording]) -> dict[LineEntry, list[Recording]]:
    """Trials of a campaign by their entry, in the order of endpoint and framework."""
    found: dict[LineEntry, list[Recording]] = {}
    for one in recordings:
        found.setdefault(LineEntry.of(one), []).append(one)
    return dict(sorted(found.items()))


class EntrySearch:
    """The search of one entry; it is told each of its trials once.

    Args:
        results: Where the rows of the trials are.
        entry: The entry.
        peaks: Trials of the closed load that the search starts from, all of them.
        wanted: What is searched.
        seed: Seed of the campaign.

    Attributes:
        entry: The entry.
        problem: Why nothing is tried; empty where a search goes on, or came to its end.
        tries: Number of the last try; 0 before the first.
    """

    def __init__(
        self,
        results: Results,
        entry: LineEntry,
        peaks: Sequence[Recording],
        wanted: LineSettings,
        seed: int,
    ) -> None:
        """Begin where the peak says."""
        self.entry = entry
        self.problem = ""
        self.tries = 0
        self._results = results
        self._wanted = wanted
        self._goal = goal(wanted)
        self._unloaded = 0
        known = [_peak_per_s(results, one) for one in peaks if one.ending.kind == "completed"]
        self._stepped: SteppedSearch | None = None
        if known and median(known):
            luck = random.Random(f"{seed}/{entry}")  # noqa: S311 - a seed makes it repeatable
            self._stepped = SteppedSearch(self._goal, median(known), luck)
        elif peaks:
            self.problem = peaks[-1].ending.message or "not one response came"

    @property
    def following(self) -> NextTry | None:
        """What is tried next; None where the search is over."""
        return None if self.problem or self._stepped is None else self._stepped.following

    @property
    def searched(self) -> Searched | None:
        """Lines and tries; None where there is no peak to start from."""
        return None if self._stepped is None else self._stepped.end()

    def take(self, recording: Recording) -> None:
        """Counts a try in.

        Raises:
            StorageError: Its rows cannot be read.
        """
        self.tries = max(self.tries, recording.repetition)
        if self._stepped is None:
            return
        if recording.ending.kind != "completed" and not _failed_under_load(recording):
            self._unloaded += 1
            if self._unloaded >= MOST_UNLOADED:
                self.problem = recording.ending.message
            return
        counted = stored_try(self._results, recording, self._goal)
        self._stepped.take(counted, self._took_s(recording))

    def _took_s(self, recording: Recording) -> float:
        """The time of a try, without a longer warm-up that its framework asks for."""
        wanted = self._wanted
        usual = stages_of_try(1.0, wanted.warm_up_s, wanted.hold_s)
        counted_s = _warm_up_s(usual) + wanted.server_warm_up_s
        warmed_s = _warm_up_s(recording.load.stages) + recording.warming_s
        return (recording.took_s or 0.0) - max(0.0, warmed_s - counted_s)


def _warm_up_s(stages: Sequence[Stage]) -> float:
    return sum(stage.duration_s for stage in stages if stage.kind == "warm_up")


def _failed_under_load(recording: Recording) -> bool:
    """Whether the server failed while it was under load, or after it."""
    code = errors.exit_code_of(recording.ending.kind)
    return code == FrameworkError.exit_code and recording.driver is not None


def _peak_per_s(results: Results, recording: Recording) -> float:
    return counting.completed_per_s(recording, _rows(results, recording))


def stored_try(results: Results, recording: Recording, wanted: SearchGoal) -> Try:
    """What a try showed; one under which the server failed missed every limit.

    Args:
        results: Where its rows are.
        recording: What happened.
        wanted: What was searched.

    Raises:
        StorageError: Its rows cannot be read.
    """
    judged = (*wanted.limits, wanted.errors, limits.SENDING)
    rate_per_s = recording.load.stages[-1].start
    if recording.ending.kind != "completed":
        return _missed(recording, rate_per_s, judged)
    rows = _rows(results, recording)
    return counting.of_stored(recording, rows, rate_per_s, judged)


def _missed(recording: Recording, rate_per_s: float, judged: Sequence[LineLimit]) -> Try:
    hold_s = recording.load.stages[-1].duration_s
    requests = max(1, round(rate_per_s * hold_s))
    counted = Count(rate_per_s, requests, requests, 0.0, rate_per_s)
    counts = {one.name: counted for one in judged}
    return Try(rate_per_s, hold_s, counts, {}, recording.trial)


def _rows(results: Results, recording: Recording) -> pa.Table:
    """The rows that a try is counted in."""
    stored = results.table(recording.trial, "requests")
    names = [*counting.COUNTED]
    return (
        stored.to_table(columns=names) if isinstance(stored, ds.Dataset) else stored.select(names)
    )
