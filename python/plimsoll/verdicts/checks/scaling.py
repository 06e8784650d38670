"""Is throughput lost by more connections, because fewer of them are used?

Over the levels of a ramp of a closed load: when more connections are asked for, throughput must not
fall by a tenth while a smaller share of them has a request in flight, for then they are open and
not used. The first second of a level, in which its connections are opened, does not count where it
lasts longer.

A load without levels has nothing to compare.

Source: comparison of neighbouring levels; the widths are first proposals.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll.aggregate import levels
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, not_asked, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.levels import Level
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "scaling"
SOURCE = "throughput and share of connections in use over the levels of a ramp"
FEWEST = 10
"""Levels of fewer connections say nothing about a fall."""
LESS_USED = 0.05
"""By so much the share of connections in use must fall together with throughput."""
REMEDY = "See what limits the number of connections that the server or the driver works on"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether throughput fell while fewer connections were used."""
    return verdict(NAME, tables.recording.trial, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "fall_ratio")
    if tables.recording.load.get("model") == "unknown":
        return unknown(limit, "what was asked for is not known", "")
    if tables.recording.load.get("model") != "closed":
        return not_asked(limit, "an open load has no levels of connections to compare")
    if not tables.recording.stages:
        return unknown(limit, "no stage of the load ran", "Repeat the trial")
    known = [one for one in levels.rising(tables.seconds, FEWEST) if one.in_flight is not None]
    if len(known) < 2:  # noqa: PLR2004
        return not_asked(limit, "the load has no two levels of connections to compare")
    falls = [fall for pair in pairwise(known) if (fall := _fall(*pair)) is not None]
    if not falls:
        sentence = f"from {_span(known)} throughput did not fall while fewer of them were used"
        return found(limit, 0.0, sentence, "")
    ratio, lower, higher = max(falls)
    sentence = (
        f"from {wording.count(lower)} to {wording.count(higher)} connections throughput fell by "
        f"{wording.percent(ratio)} while fewer of them had a request in flight: they were open, "
        "not used"
    )
    return found(limit, ratio, sentence, REMEDY)


def _span(known: list[Level]) -> str:
    first, last = known[0].connections, known[-1].connections
    return f"{wording.count(first)} to {wording.count(last)} connections"


def _fall(earlier: Level, later: Level) -> tuple[float, float, float] | None:
    """By how much throughput fell from a level to the next with fewer connections in use."""
    if not earlier.completed_per_s or _used(later) > _used(earlier) - LESS_USED:
        return None
    fall = 1 - later.completed_per_s / earlier.completed_per_s
    return (fall, earlier.connections, later.connections) if fall > 0 else None


def _used(level: Level) -> float:
    return (level.in_flight or 0.0) / level.connections
