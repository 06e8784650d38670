"""Load lines: what is known of the lines of one server, and of those of a campaign, ranked."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, TypedDict

from plimsoll import load_line
from plimsoll.aggregate.trial import stored
from plimsoll.findings import beyond as beyonds
from plimsoll.findings import entries
from plimsoll.load_line import limits
from plimsoll.load_line.goal import SearchGoal
from plimsoll.load_line.tries import is_try
from plimsoll.statistics import ranks
from plimsoll.statistics.intervals import Estimate, Interval
from plimsoll.verdicts.verdict import worst_trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from plimsoll.aggregate.trial import Tables
    from plimsoll.campaign.line_settings import LineSettings
    from plimsoll.campaign.load import Arrivals
    from plimsoll.findings.beyond import LimitingResource
    from plimsoll.findings.trial import State, TrialFindings
    from plimsoll.load_line.limits import LineLimit
    from plimsoll.load_line.search import Line, Searched
    from plimsoll.recording import Recording
    from plimsoll.statistics.edge import Edge
    from plimsoll.statistics.ranks import Ranks
    from plimsoll.storage.results import Results
    from plimsoll.verdicts.verdict import Level

LINE = "line"
"""Name of the derived document with what `plimsoll line` found."""

PEAK = "goodput_per_s"
"""The column of `tables.SUMMARIES` that the peak is."""


class _LineDocument(TypedDict):
    limit: str
    most_ns: float
    is_confirmed: bool


class _TryDocument(TypedDict):
    trial: str


class SearchDocument(TypedDict):
    """What is read of `LINE` to count its tries again; `docs/schemas/line-1.json` has all of it."""

    subject: str
    arrivals: Arrivals
    connections: int
    lines: list[_LineDocument]
    tries: list[_TryDocument]
    forgotten_tries: int
    closed_peak_per_s: float
    errors: float
    within: float
    budget_s: float
    elapsed_s: float


ENOUGH_LOW = 2
"""Such rates that show how long a response takes: one alone may have been disturbed."""


@dataclass(frozen=True)
class Subject:
    """What was measured, and how.

    Attributes:
        name: Host, port and path; or framework and endpoint.
        arrivals: How arrivals are spaced.
        connections: Size of the pool of connections.
    """

    name: str
    arrivals: Arrivals
    connections: int


@dataclass(frozen=True)
class LineFindings:
    """Everything that is known of the lines of one server.

    Attributes:
        searched: Lines and tries.
        subject: What was measured.
        beyond: What was full at the first rate that failed, by the name of the limit.
        held: What is known of the last try just below the line, which held or was undecided but
            inside the limits, by the name of the limit.
        failed: What is known of the last try at the first rate that failed, in the same way.
    """

    searched: Searched
    subject: Subject
    beyond: Mapping[str, LimitingResource]
    held: Mapping[str, TrialFindings]
    failed: Mapping[str, TrialFindings] = field(default_factory=dict[str, "TrialFindings"])

    @property
    def level(self) -> Level:
        """How far to believe all lines together: no further than the worst of them."""
        return worst_trial(map(self.level_of, self.searched.lines))

    def level_of(self, line: Line) -> Level:
        """How far to believe one line: void where the load generator was its limit."""
        if self.is_of_driver(line):
            return "void"
        held = self.held.get(line.limit.name)
        levels: list[Level] = [] if held is None else [held.level]
        return worst_trial([*levels, "doubtful"] if line in self.wide else levels)

    @property
    def wide(self) -> tuple[Line, ...]:
        """Lines whose intervals are too wide to be believed, the widest first."""
        most = self.searched.wanted.widest
        known = [(one.edge.reach, one) for one in self.searched.lines if one.edge is not None]
        wide = sorted((pair for pair in known if pair[0] > most), key=lambda pair: -pair[0])
        return tuple(line for _, line in wide)

    def is_of_driver(self, line: Line) -> bool:
        """Whether the load generator, or the number of its connections, was the limit."""
        beyond = self.beyond.get(line.limit.name)
        return beyond is not None and beyond.is_of_driver

    @property
    def lowest(self) -> Line | None:
        """The lowest line, which keeps all limits; None where one was not found."""
        lines = [line for line in self.searched.lines if line.edge is not None]
        if len(lines) < len(self.searched.lines):
            return None
        return min(lines, key=lambda line: line.rate_per_s or 0.0)


def of_server(
    tables_of: Callable[[Recording], Tables],
    searched: Searched,
    subject: Subject,
    trials: Mapping[str, TrialFindings],
    peaks: Sequence[Recording],
) -> LineFindings:
    """What was full beyond each line, and how far the tries below it are believed.

    Args:
        tables_of: Gives the tables of a try.
        searched: Lines and tries.
        subject: What was measured.
        trials: What is known of each try, by its id; at least of those next to a line.
        peaks: The closed loads that the search started from.

    Raises:
        StorageError: The rows of a try cannot be read.
    """
    beyond: dict[str, LimitingResource] = {}
    held: dict[str, TrialFindings] = {}
    failed: dict[str, TrialFindings] = {}
    pool = _pool(tables_of, searched, peaks)
    if pool is not None:
        searched = _without_too_slow(searched)
    for line in searched.lines:
        failing = _last(searched, line.failed_per_s, trials)
        if failing is not None and failing.has_ended_well:
            beyond[line.limit.name] = beyonds.beyond(
                failing,
                tables_of(failing.recording),
                line.limit,
                is_held_above=line.held_above_per_s is not None,
            )
            failed[line.limit.name] = failing
        is_limited = line.state in ("found", "open") and _is_ever_kept(searched, line)
        is_limited = is_limited and not _is_stalled(beyond, line, map(tables_of, peaks))
        if pool is not None and is_limited and not _has_errors(searched, line):
            beyond[line.limit.name] = pool
        holding = _last(searched, line.inside_per_s, trials)
        if holding is not None:
            held[line.limit.name] = holding
    return LineFindings(searched, subject, beyond, held, failed)


def _is_stalled(
    beyond: Mapping[str, LimitingResource], line: Line, closed: Iterable[Tables]
) -> bool:
    """Whether stalls alone miss the limit of a line, in the try that failed or a closed load."""
    known = beyond.get(line.limit.name)
    if known is not None and known.resource == "stalls":
        return True
    return any(beyonds.stalled(one, line.limit) for one in closed)


def _without_too_slow(searched: Searched) -> Searched:
    """The search, each line below all rates where even a free connection responds too slowly.

    The closed load made no response slower, so a lower rate would make none faster: that the budget
    left no time to try one leaves nothing open.
    """
    lines = (
        replace(line, state="below")
        if line.state == "open"
        and not _is_ever_kept(searched, line)
        and not _has_errors(searched, line)
        and _least_median_ns(searched) > (line.limit.most_ns or math.inf)
        else line
        for line in searched.lines
    )
    return replace(searched, lines=tuple(lines))


def _least_median_ns(searched: Searched) -> float:
    """The least median latency of the tries at any rate, in nanoseconds; 0 for none."""
    return min((one.times_ns["p50"] for one in searched.tries if "p50" in one.times_ns), default=0)


def _is_ever_kept(searched: Searched, line: Line) -> bool:
    """Whether a limit of latency was kept at some rate, by chance or not."""
    return any(one.is_inside(line.limit) for one in searched.tries[searched.forgotten :])


def _pool(
    tables_of: Callable[[Recording], Tables], searched: Searched, peaks: Sequence[Recording]
) -> LimitingResource | None:
    """The number of connections, where it was the limit of every closed load; else None."""
    low = [one for one in searched.tries if one.rate_per_s <= beyonds.LOW * searched.start_per_s]
    medians_ns = [one.times_ns["p50"] for one in low if "p50" in one.times_ns]
    completed = [one for one in peaks if one.ending.kind == "completed"]
    if not medians_ns or not completed:
        return None
    found = [beyonds.of_closed_load(tables_of(one), min(medians_ns)) for one in completed]
    return found[-1] if all(found) else None


def is_of_connections(
    tables_of: Callable[[Recording], Tables], searched: Searched, peaks: Sequence[Recording]
) -> bool:
    """Whether the first tries show that the number of connections ends every line.

    Two rates that leave most connections free kept all limits, so their latency is no accident. The
    closed load failed no more requests than may fail, so the server has no limit of rates. Nor did
    the server stall in it for so long that a limit is missed by that alone.

    Args:
        tables_of: Gives the tables of a closed load.
        searched: How things stand.
        peaks: The closed loads that the search started from.

    Raises:
        StorageError: Rows cannot be read.
    """
    low = {
        one.rate_per_s
        for one in searched.tries
        if one.rate_per_s <= beyonds.LOW * searched.start_per_s
        and all(
            map(one.is_inside, (*searched.wanted.limits, limits.SENDING, searched.wanted.errors))
        )
    }
    if len(low) < ENOUGH_LOW or searched.tries[-1].rate_per_s not in low:
        return False
    closed = [tables_of(one) for one in peaks]
    if any(beyonds.stalled(one, limit) for one in closed for limit in searched.wanted.limits):
        return False
    failed = [one.summary.failure_ratio or 0.0 for one in closed]
    if max(failed, default=0.0) > searched.wanted.errors.allowed:
        return False
    return _pool(tables_of, searched, peaks) is not None


def _has_errors(searched: Searched, line: Line) -> bool:
    """Whether a line ends where requests fail."""
    if line.binding is None or line.binding.name != limits.ERRORS:
        return False
    return not all(one.is_inside(line.binding) for one in searched.tries)


def _last(
    searched: Searched, rate_per_s: float | None, trials: Mapping[str, TrialFindings]
) -> TrialFindings | None:
    """The last try at a rate."""
    return trials.get(last_trial(searched, rate_per_s))


def last_trial(searched: Searched, rate_per_s: float | None) -> str:
    """Id of the last try at a rate; empty for none."""
    ids = [one.trial for one in searched.tries if one.rate_per_s == rate_per_s]
    return ids[-1] if ids else ""


@dataclass(frozen=True)
class EntryLines:
    """The lines of one framework at one endpoint.

    Attributes:
        framework: Framework and variant.
        endpoint: Name of the endpoint.
        is_yardstick: Whether it is Plimsoll's own server, which has no rank beside others.
        found: The lines; None where nothing could be tried.
        peak: The greatest throughput of a closed load, with its interval; where every trial of it
            is void, the rate that the search started from.
        problem: Why nothing is tried; empty where something is.
        goes_on: Whether the search is not over yet.
    """

    framework: str
    endpoint: str
    is_yardstick: bool
    found: LineFindings | None
    peak: Estimate | None
    problem: str
    goes_on: bool

    def line(self, limit: LineLimit) -> Line | None:
        """Its line of a limit; None where nothing could be tried."""
        lines = self.found.searched.lines if self.found else ()
        return next((one for one in lines if one.limit == limit), None)

    @property
    def held(self) -> tuple[TrialFindings, ...]:
        """The tries that held just below its lines."""
        return () if self.found is None else tuple(self.found.held.values())


@dataclass(frozen=True)
class RankedLine:
    """One framework in a ranking by load line.

    Attributes:
        entry: Its lines.
        line: The one that is ranked; None where nothing could be tried.
        ranks: The ranks it may have; None where it has none.
    """

    entry: EntryLines
    line: Line | None
    ranks: Ranks | None = None

    @property
    def state(self) -> State:
        """How far to believe its line."""
        if self.entry.found is None or self.line is None:
            return "failed"
        return self.entry.found.level_of(self.line)

    @property
    def rank(self) -> str:
        """Its rank, or range of ranks: `2`, `2–4`; empty for none."""
        return ranks.text(self.ranks)

    @property
    def rank_low(self) -> int | None:
        """Best rank it may have; None where it has none."""
        return self.ranks and self.ranks[0]

    @property
    def rank_high(self) -> int | None:
        """Worst rank it may have; None where it has none."""
        return self.ranks and self.ranks[1]


@dataclass(frozen=True)
class LineRanking:
    """The frameworks at one endpoint by their lines of one limit, the best first.

    Attributes:
        endpoint: Name of the endpoint.
        limit: The limit.
        places: The frameworks; those without a rank last.
    """

    endpoint: str
    limit: LineLimit
    places: tuple[RankedLine, ...]


def of_campaign(
    results: Results, trials: Sequence[TrialFindings], wanted: LineSettings, seed: int
) -> tuple[EntryLines, ...]:
    """The lines of a campaign, in the order of endpoint and framework.

    Args:
        results: Where the rows of the trials are.
        trials: What is known of each trial.
        wanted: What was searched.
        seed: Seed of the campaign.

    Raises:
        StorageError: Rows cannot be read.
    """
    by_id = {one.recording.trial: one for one in trials}
    grouped = load_line.campaign_search.by_entry(one.recording for one in trials)
    found: list[EntryLines] = []
    for entry, recordings in grouped.items():
        tries = [one for one in recordings if is_try(one)]
        peaks = [one for one in recordings if not is_try(one)]
        entry_search = load_line.campaign_search.EntrySearch(results, entry, peaks, wanted, seed)
        for one in sorted(tries, key=lambda each: each.repetition):
            entry_search.take(one)
        title = recordings[0].title
        searched = entry_search.searched
        subject = Subject(f"{title} · {entry.endpoint}", wanted.arrivals, wanted.connections)
        peak = entries.estimate([by_id[one.trial] for one in peaks], PEAK)
        found.append(
            EntryLines(
                framework=title,
                endpoint=entry.endpoint,
                is_yardstick=recordings[0].is_yardstick,
                found=searched
                and of_server(partial(stored, results), searched, subject, by_id, peaks),
                peak=peak or (searched and Estimate(searched.start_per_s)),
                problem=entry_search.problem,
                goes_on=entry_search.following is not None,
            )
        )
    return tuple(found)


def of_search(results: Results, trials: Sequence[TrialFindings]) -> tuple[EntryLines, ...]:
    """The lines of one server that `plimsoll line` recorded; empty where it did not.

    Args:
        results: Where the rows of the tries are.
        trials: What is known of the closed load and of each try.

    Raises:
        StorageError: Rows, or what was searched, cannot be read.
    """
    by_id = {one.recording.trial: one for one in trials}
    peaks = [one for one in trials if not is_try(one.recording)]
    known: SearchDocument | None = results.read_derived_json(LINE)
    if known is None or not peaks:
        return ()
    recorded = _searched_again(results, known, by_id)
    subject = Subject(known["subject"], known["arrivals"], known["connections"])
    first = peaks[0].recording
    found = EntryLines(
        framework=first.title,
        endpoint=first.endpoint,
        is_yardstick=False,
        found=of_server(
            partial(stored, results), recorded, subject, by_id, [one.recording for one in peaks]
        ),
        peak=entries.estimate(peaks, PEAK) or Estimate(recorded.start_per_s),
        problem="",
        goes_on=False,
    )
    return (found,)


def _searched_again(
    results: Results, known: SearchDocument, trials: Mapping[str, TrialFindings]
) -> Searched:
    """The search of a document with its answer, counted again in the rows of its tries."""
    wanted = SearchGoal(
        limits=tuple(
            limits.latency(float(one["limit"].removeprefix("p")), one["most_ns"] / 1e9)
            for one in known["lines"]
        ),
        errors=limits.errors(known["errors"]),
        budget_s=known["budget_s"],
        within=known["within"],
    )
    tried = [trials[one["trial"]].recording for one in known["tries"] if one["trial"] in trials]
    return load_line.search.ended(
        wanted,
        known["closed_peak_per_s"],
        [load_line.campaign_search.stored_try(results, one, wanted) for one in tried],
        forgotten=known["forgotten_tries"],
        confirmed={one["limit"] for one in known["lines"] if one["is_confirmed"]},
        elapsed_s=known["elapsed_s"],
    )


def rankings(lines: Sequence[EntryLines]) -> tuple[LineRanking, ...]:
    """A ranking for each endpoint and limit.

    An entry whose interval lies above that of another is ahead of it; between others no order is
    known. What is void, was not found, or is the yardstick beside others, has no rank.

    Args:
        lines: The lines of a campaign.
    """
    found: dict[tuple[str, LineLimit], list[RankedLine]] = {}
    for endpoint in dict.fromkeys(one.endpoint for one in lines):
        of_endpoint = [one for one in lines if one.endpoint == endpoint]
        searched = [one.found.searched for one in of_endpoint if one.found]
        for limit in searched[0].wanted.limits if searched else ():
            found[endpoint, limit] = [RankedLine(one, one.line(limit)) for one in of_endpoint]
    return tuple(LineRanking(*key, _ranked(places)) for key, places in found.items())


def _ranked(places: Sequence[RankedLine]) -> tuple[RankedLine, ...]:
    is_beside = any(not one.entry.is_yardstick for one in places)
    edges = [_competing(one, is_beside=is_beside) for one in places]
    downwards = [edge and Interval(-edge.interval.high, -edge.interval.low) for edge in edges]
    found = zip(places, ranks.lowest_first(downwards), strict=True)
    return tuple(sorted((replace(one, ranks=each) for one, each in found), key=_order))


def _competing(one: RankedLine, *, is_beside: bool) -> Edge | None:
    """The edge of a line that has a rank."""
    is_left_out = one.state == "void" or (one.entry.is_yardstick and is_beside)
    return None if is_left_out or one.line is None else one.line.edge


def _order(one: RankedLine) -> tuple[bool, bool, float]:
    """Ranked ones first, the yardstick last."""
    rate_per_s = one.line and one.line.rate_per_s
    return one.entry.is_yardstick, one.rank_low is None, -(rate_per_s or 0.0)
