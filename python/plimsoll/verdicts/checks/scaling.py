"""Does throughput fall as connections are added, because fewer of them are used?

Over the levels of a ramp of a closed load: when more connections are requested, throughput must not
fall by a tenth while a smaller share of them has a request in flight, because then they are open
and unused. A connection with several requests in flight (`pipeline`, `streams`) is in use as far as
it has that many. The first second of a level, in which its connections open, does not count if the
level lasts longer.

A load without levels has nothing to compare.

Source: comparison of neighbouring levels; the widths are first proposals.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import levels
from plimsoll.verdicts.finding import Finding, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import PACE, Role

if TYPE_CHECKING:
    from plimsoll.aggregate.levels import Level
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "scaling"
TITLE = "Scaling"
PROBLEM = "Throughput fell"
SOURCE = "throughput and share of connections in use over the levels of a ramp"
FALL_RATIO = Limit(
    NAME,
    "fall_ratio",
    "above",
    0.1,
    None,
    "ratio",
    "fall of throughput from one level of connections to the next, with fewer connections in use",
    PROPOSAL,
)
LIMITS = (FALL_RATIO,)
NEEDS = None
ROLE = Role(misled_by=PACE)
FEWEST = 10
"""Levels of fewer connections show nothing about a fall."""
LESS_USED = 0.05
"""The share of connections in use must fall by so much together with throughput."""
REMEDY = "Find what limits the number of connections that server or load generator serve at a time"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether throughput fell while fewer connections were used."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(FALL_RATIO)
    if tables.recording.load.model == "unknown":
        return not_checked(limit, "the requested load is unknown")
    if tables.recording.load.model != "closed":
        return inapplicable(limit, "open load: there are no levels of connections to compare")
    if not tables.recording.stages:
        return not_checked(limit, "no stage of the load ran")
    end_s = tables.recording.stages[-1].end_ns / 1e9
    known = [
        one
        for one in levels.rising(tables.counted_seconds, end_s, FEWEST)
        if one.in_flight is not None
    ]
    if len(known) < 2:  # noqa: PLR2004
        return inapplicable(limit, "the load has no two levels of connections to compare")
    each = tables.recording.load.in_flight_each
    falls = [fall for pair in pairwise(known) if (fall := _fall(*pair, each)) is not None]
    if not falls:
        sentence = f"from {_span(known)}, throughput did not fall with fewer connections in use"
        return found(limit, 0.0, sentence, "")
    ratio, lower, higher = max(falls)
    sentence = (
        f"from {wording.count(lower)} to {wording.count(higher)} connections throughput fell by "
        f"{wording.percent(ratio)} because fewer of them carried requests: they were open, but idle"
    )
    return found(limit, ratio, sentence, REMEDY)


def _span(known: list[Level]) -> str:
    first, last = known[0].connections, known[-1].connections
    return f"{wording.count(first)} to {wording.count(last)} connections"


def _fall(earlier: Level, later: Level, each: int) -> tuple[float, float, float] | None:
    """By how much throughput fell from a level to the next with fewer connections in use."""
    is_less_used = _used(later, each) <= _used(earlier, each) - LESS_USED
    if not earlier.completed_per_s or not is_less_used:
        return None
    fall = 1 - later.completed_per_s / earlier.completed_per_s
    return (fall, earlier.connections, later.connections) if fall > 0 else None


def _used(level: Level, each: int) -> float:
    """Share of the requests that may be in flight on its connections that were."""
    return (level.in_flight or 0.0) / (level.connections * each)
