"""Derives the stages of an imported load from its number of active users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.recording import RecordedStage

if TYPE_CHECKING:
    from plimsoll.recording.readings import Reading

FULL_RATIO = 0.95
"""A load is at its level from this share of the maximum number of users."""

LEAST_HOLD_RATIO = 0.1
"""Minimum share of the load for a hold; below it, the load is summarised as a whole."""

_SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class DerivedStages:
    """The stages, and how they were derived.

    Attributes:
        stages: The stages, from the zero of the trial on.
        sentence: How they were derived; empty if the whole load is one hold.
    """

    stages: tuple[RecordedStage, ...]
    sentence: str = ""


def derived(
    readings: Iterable[Reading],
    last_ns: int,
    warm_up_s: float | None,
    begun: Mapping[int, int] = MappingProxyType({}),
) -> DerivedStages:
    """The stages of a load.

    By `warm_up_s`, or by the users: the time before their number reaches its level is a ramp, and
    the time after it leaves the level is no stage. Otherwise the whole load is one hold. A load
    that is at its level when its users are first known began at it: k6 counts them after 1 s.
    Before the first response, each active user has begun one request, so these tell a ramp.

    Args:
        readings: Readings of active users.
        last_ns: The last timestamp of any request.
        warm_up_s: Length of the warm-up in seconds; None to derive the stages from the users.
        begun: Requests that had begun by the end of each second before that of the first response.
    """
    levels = _levels(readings)
    most = max(levels.values(), default=0.0)
    if levels:
        early = {second: min(float(users), most) for second, users in begun.items()}
        levels = {**early, **levels}
    end_ns = last_ns + 1
    if warm_up_s is not None:
        return _warmed(round(warm_up_s * _SECOND_NS), end_ns, most)
    full = [second for second, level in levels.items() if level >= FULL_RATIO * most]
    whole = DerivedStages((RecordedStage("hold", 0, end_ns, most, most, 0),))
    if not full:
        return whole
    first_ns = max(min(full) * _SECOND_NS, 0) if min(full) > min(levels) else 0
    full_ns = min((max(full) + 1) * _SECOND_NS, end_ns)
    if end_ns - full_ns < _SECOND_NS:
        full_ns = end_ns
    if full_ns - first_ns < LEAST_HOLD_RATIO * end_ns or (first_ns == 0 and full_ns == end_ns):
        return whole
    return _ramped(first_ns, full_ns, end_ns, levels, most)


def _warmed(warm_up_ns: int, end_ns: int, most: float) -> DerivedStages:
    hold = RecordedStage("hold", min(warm_up_ns, end_ns), end_ns, most, most, 0)
    if not warm_up_ns:
        return DerivedStages((hold,))
    return DerivedStages((RecordedStage("warm_up", 0, hold.start_ns, most, most, 0), hold))


def _ramped(
    first_ns: int, full_ns: int, end_ns: int, levels: Mapping[int, float], most: float
) -> DerivedStages:
    stages = [RecordedStage("hold", first_ns, full_ns, most, most, 0)]
    parts: list[str] = []
    if first_ns:
        stages.insert(0, RecordedStage("ramp", 0, first_ns, levels[min(levels)], most, 0))
        parts.append(f"their number rose in the first {wording.count(first_ns / _SECOND_NS)} s")
    if full_ns < end_ns:
        parts.append(f"it fell in the last {wording.count((end_ns - full_ns) / _SECOND_NS)} s")
    sentence = (
        f"summarised is the time at {wording.count(most)} active users: {' and '.join(parts)}"
        " (`--warm-up 0s` summarises all)"
    )
    return DerivedStages(tuple(stages), sentence)


def _levels(readings: Iterable[Reading]) -> dict[int, float]:
    """Active users by second, summed over hosts.

    A host counts in every second between its first and its last reading; in seconds without
    requests its users waited.
    """
    by_host: dict[str, dict[int, float]] = {}
    for reading in readings:
        second = reading.at_ns // _SECOND_NS
        by_host.setdefault(reading.host, {})[second] = reading.value
    levels: dict[int, float] = {}
    for found in by_host.values():
        level = 0.0
        for second in range(min(found), max(found) + 1):
            level = found.get(second, level)
            levels[second] = levels.get(second, 0.0) + level
    return levels
