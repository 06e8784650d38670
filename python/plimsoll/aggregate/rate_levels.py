"""Rate levels: latency at each rate of a load that had several.

Of an open load the rates are those requested: each step of a ramp, each hold. An imported recording
does not say what was requested. There a level is a stretch of some seconds in which as many
requests started each second, but for what a Poisson schedule varies by chance. A closed load has
no such levels, as a rule: its requests follow responses. So levels are only given where several
differ clearly and together cover most of the time, and not where active users are known, since
users are a closed load.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple, TypedDict

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import percentiles, query
from plimsoll.aggregate.query import SECOND_NS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from plimsoll.aggregate.query import Columns, Rows
    from plimsoll.recording import RecordedStage, Recording

FEWEST = 3
"""Rates that make a curve."""

MOST = 200
"""Of a load with more levels, as of a ramp in tiny steps, none is looked at by itself."""

SHORTEST_S = 5
"""Seconds that a level of an imported load lasts at least."""

APART = 1.1
"""Rates whose ratio is less are alike."""

MOST_CHANCE = 4.0
"""Counts of seconds scatter by so many standard deviations more than Poisson counts by chance."""

LEAST_COVER = 0.6
"""Share of the time that levels of an imported load must cover."""

PERCENTILES = ("p50", "p90", "p99", "p999")
"""Percentiles of latency at a rate."""

_TIMES = {"response_time": "done_ns - due_ns", "service_time": "done_ns - sent_ns"}


@dataclass(frozen=True)
class RateLevel:
    """One rate.

    Attributes:
        start_ns: Its beginning.
        end_ns: Its end.
        rate_per_s: Requests per second.
    """

    start_ns: int
    end_ns: int
    rate_per_s: float


class _Stretch(NamedTuple):
    """Some seconds in a row, by sums over them: a day of seconds is read once.

    Attributes:
        seconds: How many they are.
        requests: Requests that started in them.
        squares: Sum of the squares of the requests of each second.
    """

    seconds: int = 0
    requests: int = 0
    squares: int = 0

    def longer(self, count: int) -> _Stretch:
        """It with one more second, in which `count` requests started."""
        return _Stretch(self.seconds + 1, self.requests + count, self.squares + count**2)

    @property
    def is_alike(self) -> bool:
        """Whether its counts scatter no more than Poisson counts, by their index of dispersion."""
        freedom = self.seconds - 1
        squares = self.seconds * self.squares - self.requests**2
        scatter = squares / self.requests if self.requests else 0.0
        return scatter <= freedom + MOST_CHANCE * sqrt(2 * freedom)


class RateLevelRow(TypedDict):
    """A row of `tables.RATE_LEVELS`."""

    start_ns: int
    end_ns: int
    rate_per_s: float
    completed: int
    failed: int
    time: str
    p50_ns: float | None
    p90_ns: float | None
    p99_ns: float | None
    p999_ns: float | None


def of_trial(recording: Recording, requests: Rows) -> pa.Table:
    """The rows of `tables.RATE_LEVELS` of a trial; none where it has no several rates.

    Args:
        recording: The recording.
        requests: Its table `requests`.
    """
    found = levels(recording, requests)
    if not found or requests is None:
        return tables.RATE_LEVELS.schema.empty_table()
    rows = list(_rows(found, requests))
    return pa.Table.from_pylist(rows, schema=tables.RATE_LEVELS.schema)


def levels(recording: Recording, requests: Rows) -> tuple[RateLevel, ...]:
    """The rates of a trial, in order; empty where there are not several.

    Args:
        recording: The recording.
        requests: Its table `requests`.
    """
    if recording.load.model == "open":
        found = tuple(one for stage in recording.stages for one in _requested(stage))
        return found if _are_several(found) else ()
    has_users = any(stage.end for stage in recording.stages)
    if recording.load.model != "unknown" or has_users or requests is None:
        return ()
    return started(_counts(requests))


def started(counts: Sequence[tuple[int, int]]) -> tuple[RateLevel, ...]:
    """The levels at which requests started, in order; empty where there are not several.

    Args:
        counts: Seconds in order, each with the requests that started in it; seconds without any
            may be left out.
    """
    if not counts:
        return ()
    by_second = dict(counts)
    first, last = counts[0][0], counts[-1][0]
    stretches: list[_Stretch] = []
    for second in range(first, last + 1):
        count = by_second.get(second, 0)
        longer = stretches[-1].longer(count) if stretches else None
        if longer is not None and longer.is_alike:
            stretches[-1] = longer
        else:
            stretches.append(_Stretch().longer(count))
    found: list[RateLevel] = []
    second = first
    for stretch in stretches:
        end = second + stretch.seconds
        rate_per_s = stretch.requests / stretch.seconds
        if stretch.seconds >= SHORTEST_S and rate_per_s:
            found.append(RateLevel(second * SECOND_NS, end * SECOND_NS, rate_per_s))
        second = end
    covered_ns = sum(one.end_ns - one.start_ns for one in found)
    covers = covered_ns >= LEAST_COVER * (last + 1 - first) * SECOND_NS
    return tuple(found) if covers and _are_several(found) else ()


def _are_several(found: Sequence[RateLevel]) -> bool:
    """Whether enough rates differ clearly, and not too many."""
    apart: list[float] = []
    for rate in sorted(one.rate_per_s for one in found):
        if not apart or rate >= APART * apart[-1]:
            apart.append(rate)
    return len(apart) >= FEWEST and len(found) <= MOST


def _requested(stage: RecordedStage) -> Iterator[RateLevel]:
    """The rates of a stage; none of a warm-up, and of a ramp without steps."""
    if stage.kind == "warm_up" or (stage.start != stage.end and not stage.steps):
        return
    steps = stage.steps if stage.start != stage.end else 1
    length_ns = stage.end_ns - stage.start_ns
    for step in range(steps):
        rate_per_s = stage.start + (stage.end - stage.start) * (step + 1) / steps
        edges = [stage.start_ns + length_ns * place // steps for place in (step, step + 1)]
        if rate_per_s > 0 and edges[0] < edges[1]:
            yield RateLevel(edges[0], edges[1], rate_per_s)


def _counts(requests: Rows) -> list[tuple[int, int]]:
    """Requests that started in each second: were due in it, or sent if nobody knows when."""
    with query.opened(requests=requests) as database:
        return database.execute(
            "SELECT coalesce(due_ns, sent_ns) // 1000000000 AS second, count(*) FROM requests"
            " WHERE second IS NOT NULL GROUP BY second ORDER BY second"
        ).fetchall()


def _rows(found: Sequence[RateLevel], requests: Rows) -> Iterator[Columns]:
    columns = {
        "number": range(len(found)),
        "from_ns": [one.start_ns for one in found],
        "until_ns": [one.end_ns for one in found],
    }
    with query.opened(requests=requests) as database:
        database.register("stretches", pa.table(columns))
        counted: Mapping[int, tuple[int, int, bool]] = {
            number: (completed, failed, has_due)
            for number, completed, failed, has_due in database.execute(
                query.text("rate_levels")
            ).fetchall()
        }
        time = "response_time" if any(has for _, _, has in counted.values()) else "service_time"
        source = (
            "requests JOIN stretches ON coalesce(due_ns, sent_ns) >= from_ns"
            " AND coalesce(due_ns, sent_ns) < until_ns WHERE is_completed(outcome)"
        )
        times = percentiles.of_parts(database, "number", _TIMES[time], source)
    for number, level in enumerate(found):
        completed, failed, _ = counted.get(number, (0, 0, False))
        of_level = times.get(number, {})
        yield {
            "start_ns": level.start_ns,
            "end_ns": level.end_ns,
            "rate_per_s": level.rate_per_s,
            "completed": completed,
            "failed": failed,
            "time": time,
            **{f"{name}_ns": of_level.get(name) for name in PERCENTILES},
        }
