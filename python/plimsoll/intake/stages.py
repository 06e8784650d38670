"""Stages of a load that nobody wrote down, told from how many users were active."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.recording import RecordedStage

if TYPE_CHECKING:
    from plimsoll.intake.recorded import Reading

FULL_RATIO = 0.95
"""From this share of the most users on, a load is at its level."""

LEAST_HOLD_RATIO = 0.1
"""A level that is held for less of the load is no level: the load is a ramp as a whole."""

_SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class Told:
    """The stages, and how they were told.

    Attributes:
        stages: The stages, from the zero of the trial on.
        sentence: How they were told; empty when the whole load is one hold.
    """

    stages: tuple[RecordedStage, ...]
    sentence: str = ""


def told(readings: Iterable[Reading], last_ns: int, warm_up_s: float | None) -> Told:
    """The stages of a load.

    As asked, or by the users: what comes before their number has reached its level is a ramp, and
    what comes after it has left it is no stage. Without either the whole load is one hold.

    Args:
        readings: Readings of active users.
        last_ns: The last instant of any request.
        warm_up_s: What is not summarised, in seconds; None to tell it from the users.
    """
    levels = _levels(readings)
    most = max(levels.values(), default=0.0)
    end_ns = last_ns + 1
    if warm_up_s is not None:
        return _warmed(round(warm_up_s * _SECOND_NS), end_ns, most)
    full = [second for second, level in levels.items() if level >= FULL_RATIO * most]
    whole = Told((RecordedStage("hold", 0, end_ns, most, most, 0),))
    if not full:
        return whole
    first_ns = max(min(full) * _SECOND_NS, 0)
    full_ns = min((max(full) + 1) * _SECOND_NS, end_ns)
    if end_ns - full_ns < _SECOND_NS:
        full_ns = end_ns
    if full_ns - first_ns < LEAST_HOLD_RATIO * end_ns or (first_ns == 0 and full_ns == end_ns):
        return whole
    return _ramped(first_ns, full_ns, end_ns, levels, most)


def _warmed(warm_up_ns: int, end_ns: int, most: float) -> Told:
    hold = RecordedStage("hold", min(warm_up_ns, end_ns), end_ns, most, most, 0)
    if not warm_up_ns:
        return Told((hold,))
    return Told((RecordedStage("warm_up", 0, hold.start_ns, most, most, 0), hold))


def _ramped(
    first_ns: int, full_ns: int, end_ns: int, levels: Mapping[int, float], most: float
) -> Told:
    stages = [RecordedStage("hold", first_ns, full_ns, most, most, 0)]
    parts: list[str] = []
    if first_ns:
        stages.insert(0, RecordedStage("ramp", 0, first_ns, levels[min(levels)], most, 0))
        parts.append(f"in the first {first_ns / _SECOND_NS:.0f} s their number rose")
    if full_ns < end_ns:
        parts.append(f"in the last {(end_ns - full_ns) / _SECOND_NS:.0f} s it fell")
    sentence = (
        f"summarised is the time at {most:.0f} active users: {' and '.join(parts)}"
        " (`--warm-up 0s` summarises all)"
    )
    return Told(tuple(stages), sentence)


def _levels(readings: Iterable[Reading]) -> dict[int, float]:
    """Active users by second, summed over hosts.

    A host counts in every second between its first and its last reading: where it sent nothing, its
    users waited.
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
