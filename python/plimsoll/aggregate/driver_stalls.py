"""Stalls of the load generator in the holds, and the most that they can have changed.

A load generator that stands still reads no response and sends no request. Every second it tells how
long its longest stall was, and the rows show when: no response came though requests waited. A
stretch without responses is its stall if it is half to twice as long as the longest stall that it
told of that time. The server may have stalled as well, so what follows is an upper bound.

What was in flight at the end of a stall was read late by no more than the part of the stall that it
was in flight for. A percentile without stalls is that of the response times less these parts.

Of a load generator with several threads, or several hosts, one may stall while the others go on,
and in think time no request waits. Then rows do not show it: at most the requests in flight on one
thread were late, and they are taken to be the slowest of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.aggregate import percentiles, query
from plimsoll.aggregate.engine_records import EngineRecords
from plimsoll.statistics.quantiles import enough, rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.query import Rows
    from plimsoll.aggregate.usage import Usage, Window
    from plimsoll.recording import Recording

LEAST_S = 0.01
"""A shorter stall may be the work of a scheduler, or of a busy loop."""

LEAST_SHARE, MOST_SHARE = 0.5, 2.0
"""A stretch without responses is a stall of the load generator between these shares of it."""

MOST_LOCATED = 50
"""So many stalls are looked at in the rows, the longest first."""


@dataclass(frozen=True)
class DriverStalls:
    """Stalls of the load generator that share time with the holds.

    Attributes:
        longest_s: The longest of them.
        told: How long each of them was, with the stretch of time of the reading that tells of it;
            one for each reading.
        located: When they were, by the rows, in nanoseconds since zero; empty if no response
            waited for them, or it is unknown.
        unlocated: How many are not in the rows, and can have made responses late nevertheless.
    """

    longest_s: float
    told: tuple[tuple[Window, float], ...] = ()
    located: tuple[Window, ...] = ()
    unlocated: int = 0

    @property
    def stalled_s(self) -> float:
        """All of them together, as far as they are known."""
        return sum(length_s for _, length_s in self.told)


def of_trial(
    recording: Recording, readings: Usage, gaps: Sequence[Window], holds: Sequence[Window]
) -> DriverStalls | None:
    """The stalls of the load generator in the holds.

    Args:
        recording: The recording.
        readings: Its readings.
        gaps: Stretches of the holds in which requests waited and no response came.
        holds: The holds.

    Returns:
        None where the load generator does not tell of its stalls.
    """
    told = _told(recording, readings, holds)
    if told is None:
        return None
    long = [(window, length_s) for window, length_s in told if length_s >= LEAST_S]
    gaps_of = {window: _located(window, length_s, gaps) for window, length_s in long}
    lasted = [
        (window, min(length_s, max(map(_length_s, gaps_of[window]), default=length_s)))
        for window, length_s in long
        if gaps_of[window] or _hides_stalls(recording)
    ]
    lengths_s = [length_s for _, length_s in (lasted or told)]
    located = {gap for of in gaps_of.values() for gap in of}
    ordered = sorted(located, key=_length_s, reverse=True)[:MOST_LOCATED]
    hidden = sum(not gaps_of[window] for window, _ in lasted)
    return DriverStalls(max(lengths_s, default=0.0), tuple(lasted), tuple(ordered), hidden)


def quantile_without(
    recording: Recording, requests: Rows, stalls: DriverStalls, quantile: float
) -> float | None:
    """The least that a quantile of the response times can be without the stalls, in nanoseconds.

    Args:
        recording: The recording.
        requests: Its table `requests`.
        stalls: The stalls.
        quantile: From 0 to 1.

    Returns:
        None where there are too few responses.
    """
    if isinstance(requests, EngineRecords):
        times = requests.times_without(stalls.located)
        below = max(quantile - _unlocated_ratio(recording, stalls, len(times)), 0.0)
        return times.at([rank(len(times), below) - 1])[0] if enough(len(times), below) else None
    late = " - ".join(_late_by(*stall) for stall in stalls.located)
    time = "done_ns - since_ns" + (f" - {late}" if late else "")
    with query.opened(recording.holds, requests=requests) as database:
        responses = database.sql(query.text("response_instants"))
        below = max(quantile - _unlocated_ratio(recording, stalls, len(responses)), 0.0)
        responses.create_view("responses")
        return percentiles.values(database, time, "responses", [below]).get(below)


def _told(
    recording: Recording, readings: Usage, holds: Sequence[Window]
) -> list[tuple[Window, float]] | None:
    """Stretches of time that share some with the holds, each with the longest stall in it."""
    driver = recording.driver
    if driver is None or driver.longest_pause_ns is None:
        return None
    most_s = driver.longest_pause_ns / 1e9
    read = readings.intervals("driver", "longest_pause_s")
    if not read:
        return [(hold, most_s) for hold in holds[:1]]
    return [
        ((start, end), min(length_s, most_s, held_s))
        for (start, end), length_s in read
        if (held_s := _overlap_s((start, end), holds)) > 0
    ]


def _overlap_s(window: Window, holds: Sequence[Window]) -> float:
    """How much of a stretch lies within the holds."""
    parts = (min(window[1], end) - max(window[0], start) for start, end in holds)
    return sum(max(part, 0) for part in parts) / query.SECOND_NS


def _located(window: Window, length_s: float, gaps: Sequence[Window]) -> list[Window]:
    """The stretches without responses that may be stalls of so long in a window."""
    return [
        gap
        for gap in gaps
        if gap[0] < window[1]
        and gap[1] > window[0]
        and LEAST_SHARE * length_s <= _length_s(gap) <= MOST_SHARE * length_s
    ]


def _length_s(gap: Window) -> float:
    return (gap[1] - gap[0]) / query.SECOND_NS


def _hides_stalls(recording: Recording) -> bool:
    """Whether rows need not show a stall: one thread of several, or of a load that pauses."""
    is_divided = recording.driver is not None and recording.driver.threads > 1
    is_pausing = recording.load.model == "closed" and not recording.load.is_saturating
    return is_divided or is_pausing or bool(recording.hosts)


def _unlocated_ratio(recording: Recording, stalls: DriverStalls, responses: int) -> float:
    """At most this share of the responses was late because of stalls that no row shows."""
    return stalls.unlocated * _in_flight_of_one(recording) / max(responses, 1)


def _in_flight_of_one(recording: Recording) -> float:
    """Requests in flight of one thread, at most."""
    load, threads = recording.load, recording.driver.threads if recording.driver else 1
    return (load.peak_connections or 0) * load.in_flight_each / max(threads, 1)


def _late_by(start_ns: int, end_ns: int) -> str:
    """SQL: by how much a response was read late because of a stall."""
    part = f"{end_ns} - greatest(since_ns, {start_ns})"
    return f"(CASE WHEN since_ns < {end_ns} AND done_ns >= {end_ns} THEN {part} ELSE 0 END)"
