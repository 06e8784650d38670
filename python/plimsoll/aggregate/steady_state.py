"""Steady state: whether the throughput of the last hold was steady, and how soon.

The hold is cut into windows of half a second, from 20 s on of a second, and their counts into
levels (`changes`). By these a hold is

- **flat**: one level;
- **warm-up**: the last level is the highest, and lasts for half of the hold or longer;
- **slowdown**: an earlier level is higher than the last, which lasts for half of the hold or more;
- **no steady state**: the last level is shorter than that, or the hold came back to a level that it
  had left;
- **too short to tell**: a hold of less than 10 s, or one with fewer than ten responses in a window.

The last level of the first three is the steady state. The same is done with the median time of a
response, as the pace of one connection (1 / median), so that faster is higher in both; a window
without a response is left out there. Start-up is a result of its own: the time
from the first request of the load until throughput was 90 % of the steady state for half a second.
There is none where the load itself rises to its hold.

Source:
    E. Barrett et al., *Virtual machine warmup blows hot and cold*, OOPSLA 2017 (classes); the
    windows and the half are proposals.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from statistics import mean, median
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from plimsoll import tables
from plimsoll.aggregate import disturbance
from plimsoll.aggregate.cores import server_busy_ratio
from plimsoll.aggregate.pace import median_times, pace
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.statistics import changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plimsoll.aggregate.disturbance import ServiceTimes
    from plimsoll.aggregate.query import Rows
    from plimsoll.aggregate.usage import Usage, Window
    from plimsoll.recording import RecordedStage, Recording
    from plimsoll.statistics.changes import Segment

FLAT = "flat"
WARM_UP = "warm-up"
SLOWDOWN = "slowdown"
UNSTEADY = "no steady state"
SHORT = "too short to tell"

LEAST_S = 10.0
"""A shorter hold is not classified, in seconds."""

FINE_UNTIL_S = 20.0
"""Holds shorter than this have windows of half a second, others of a second or more."""

MOST_WINDOWS = 600
"""A hold has no more windows; those of a longer one are longer."""

FEWEST_ANSWERS = 10.0
"""With fewer responses in the median window a change of level may be chance."""

STEADY_SHARE = 0.5
"""Least share of the hold that the steady state lasts."""

RISEN = 0.9
"""Share of its steady throughput at which a server has started up."""

RISE_NS = 100_000_000
"""Resolution of the time to start up."""

RISE_WINDOWS = 5
"""Windows of `RISE_NS` over which throughput must be there."""

SCHEMA = tables.STEADY_STATES.schema
"""One row a trial: the fields of `SteadyState`."""


@dataclass(frozen=True)
class SteadyState:
    """How throughput went in a hold.

    Attributes:
        name: `flat`, `warm-up`, `slowdown`, `no steady state` or `too short to tell`.
        levels_per_s: The levels in order, responses per second; empty when too short.
        hold_per_s: Mean of the hold, responses per second.
        steady_per_s: The steady state, responses per second; None when there is none.
        risen_after_s: From the first request until throughput was there, in seconds; None when it
            never was, or was not looked for.
        server_busy_ratio: Share of its cores that the server, and the kernel for it, kept busy in
            the holds; None when unknown, or when it was not looked for.
        lost_ratio: Share of the holds in which it waited for cores that others had; None as before.
    """

    name: str
    levels_per_s: tuple[float, ...]
    hold_per_s: float
    steady_per_s: float | None
    risen_after_s: float | None = None
    server_busy_ratio: float | None = None
    lost_ratio: float | None = None

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> SteadyState:
        """A value of this type from a row of `SCHEMA`."""
        values: Any = {**row, "levels_per_s": tuple(row["levels_per_s"])}
        return cls(**values)

    @property
    def start_ratio(self) -> float:
        """How far the mean of the hold lies from its steady state, in units of the latter."""
        if not self.steady_per_s:
            return 0.0
        return abs(self.hold_per_s / self.steady_per_s - 1)

    @property
    def levels_ratio(self) -> float:
        """The greatest difference between levels / the mean of the hold."""
        if not self.levels_per_s or not self.hold_per_s:
            return 0.0
        return (max(self.levels_per_s) - min(self.levels_per_s)) / self.hold_per_s


def classified(counts: Sequence[float], hold_s: float) -> SteadyState:
    """Whether the throughput of a hold was steady.

    Args:
        counts: Responses in each of its windows, which are equally long; `windows` of them.
        hold_s: Length of the hold, in seconds.
    """
    mean_per_s = sum(counts) / hold_s if hold_s > 0 else 0.0
    if hold_s < LEAST_S or median(counts) < FEWEST_ANSWERS:
        return SteadyState(SHORT, (), mean_per_s, None)
    per_s = len(counts) / hold_s
    return _classified([count * per_s for count in counts], math.sqrt(median(counts)) * per_s)


def classified_times(responses: Sequence[tuple[int, float]], hold_s: float) -> SteadyState:
    """Whether the pace of one connection was steady: one response per median time.

    Args:
        responses: Responses in each window of the hold that has any, and their median time in
            nanoseconds.
        hold_s: Length of the hold, in seconds.
    """
    paces = [SECOND_NS / max(median_ns, 1.0) for _, median_ns in responses]
    whole_per_s = mean(paces) if paces else 0.0
    too_few = not responses or median(count for count, _ in responses) < FEWEST_ANSWERS
    if hold_s < LEAST_S or too_few:
        return SteadyState(SHORT, (), whole_per_s, None)
    return _classified(paces, 0.0)


def _classified(paces: Sequence[float], least_deviation: float) -> SteadyState:
    """What equally long windows say by their paces."""
    found = changes.stretches(paces, least_deviation)
    name = _name(found, len(paces))
    steady_per_s = None if name == UNSTEADY else found[-1].level
    return SteadyState(name, tuple(one.level for one in found), mean(paces), steady_per_s)


def windows(hold_s: float) -> int:
    """How many windows a hold is cut into.

    Args:
        hold_s: Its length, in seconds.
    """
    fine = hold_s if hold_s >= FINE_UNTIL_S else 2 * hold_s
    return min(MOST_WINDOWS, max(1, int(fine)))


def of_trial(recording: Recording, requests: Rows) -> SteadyState | None:
    """Whether throughput was steady in the last hold of a trial; None when it has none.

    Args:
        recording: The recording.
        requests: Its table `requests`.
    """
    return in_window(requests, _last_hold(recording)) if recording.holds else None


def in_window(requests: Rows, window: Window) -> SteadyState:
    """Whether throughput was steady in one hold.

    Args:
        requests: The table `requests` of a trial.
        window: The hold.
    """
    held_s = _length_s(window)
    return classified(pace(requests, window, windows(held_s)), held_s)


def of_times(recording: Recording, requests: Rows) -> SteadyState | None:
    """Whether the median time of a response was steady in the last hold; None when there is none.

    Args:
        recording: The recording.
        requests: Its table `requests`.
    """
    return times_in_window(requests, _last_hold(recording)) if recording.holds else None


def times_in_window(requests: Rows, window: Window) -> SteadyState:
    """Whether the median time of a response was steady in one hold.

    Args:
        requests: The table `requests` of a trial.
        window: The hold.
    """
    held_s = _length_s(window)
    if held_s < LEAST_S:
        return classified_times((), held_s)
    return classified_times(median_times(requests, window, windows(held_s)), held_s)


def _last_hold(recording: Recording) -> Window:
    """The last hold of a trial that has one."""
    hold = recording.holds[-1]
    return hold.start_ns, hold.end_ns


def _length_s(window: Window) -> float:
    return (window[1] - window[0]) / SECOND_NS


def table(
    recording: Recording, requests: Rows, readings: Usage, served: ServiceTimes | None
) -> pa.Table:
    """`in_full` as a table.

    Args:
        recording: The recording.
        requests: Its table `requests`.
        readings: Its readings.
        served: How requests were served in its holds; None where that is unknown.

    Returns:
        One row of `SCHEMA`; none where nothing was held.
    """
    found = in_full(recording, requests, readings, served)
    if found is None:
        return SCHEMA.empty_table()
    return pa.Table.from_pylist([asdict(found)], schema=SCHEMA)


def in_full(
    recording: Recording, requests: Rows, readings: Usage, served: ServiceTimes | None
) -> SteadyState | None:
    """What the checks on a campaign need to know of a trial besides its summary.

    Args:
        recording: The recording.
        requests: Its table `requests`.
        readings: Its readings.
        served: How requests were served in its holds; None where that is unknown.

    Returns:
        None where nothing was held.
    """
    found = of_trial(recording, requests)
    if found is None:
        return None
    lost = disturbance.lost(recording, readings, disturbance.held(recording), served)
    return replace(
        found,
        lost_ratio=None if lost is None else lost.ratio,
        risen_after_s=_risen_after_s(recording, requests, found),
        server_busy_ratio=server_busy_ratio(recording, readings),
    )


def risen_after_s(counts: Sequence[float], steady: float) -> float | None:
    """When throughput had come to its steady state, in seconds.

    Args:
        counts: Responses in each window of `RISE_NS` from the first request on.
        steady: Responses in such a window of the steady state.

    Returns:
        Start of the first `RISE_WINDOWS` windows that together have 90 % of it; None when there
        are none.
    """
    wanted = RISEN * steady * RISE_WINDOWS
    for place in range(len(counts) - RISE_WINDOWS + 1):
        if sum(counts[place : place + RISE_WINDOWS]) >= wanted:
            return place * RISE_NS / SECOND_NS
    return None


def _risen_after_s(recording: Recording, requests: Rows, found: SteadyState) -> float | None:
    if not found.steady_per_s or not _is_there_at_once(recording.stages):
        return None
    parts = recording.holds[-1].end_ns // RISE_NS
    counts = pace(requests, (0, parts * RISE_NS), parts)
    return risen_after_s(counts, found.steady_per_s * RISE_NS / SECOND_NS)


def _is_there_at_once(stages: Iterable[RecordedStage]) -> bool:
    """Whether the load is at the level of its hold from the first instant on."""
    return len({level for stage in stages for level in (stage.start, stage.end)}) == 1


def _name(found: Sequence[Segment], count: int) -> str:
    last, earlier = found[-1], found[:-1]
    if not earlier:
        return FLAT
    if last.length < STEADY_SHARE * count:
        return UNSTEADY
    higher = [one.level > last.level for one in earlier if not _is_alike(one, last)]
    if any(higher):
        return SLOWDOWN
    return WARM_UP if len(higher) == len(earlier) else UNSTEADY


def _is_alike(one: Segment, last: Segment) -> bool:
    return changes.are_alike(one.level, last.level)
