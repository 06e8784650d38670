"""Does throughput scale with connections as it can?

Over the levels of a ramp of a closed load that last two seconds or longer:

- efficiency: throughput per connection at a level, X(N)/N, divided by the greatest of all lower
  levels. More connections can cost a server throughput, but they cannot raise the throughput of
  each one. If a level exceeds that, lower levels were not yet warm, or it counts requests that were
  not served;
- fit: four levels or more are compared with the universal scalability law, whose contention α and
  coherency β are not negative. If the law leaves more than a twentieth of the variance unexplained
  and misses a level by more than a tenth, throughput jumps in a way that no queue has. Levels then
  mix different states of the server or of the host. (A server that is saturated from the first
  level on has no variance to explain, hence the second condition.)

Levels of fewer than ten connections count in the fit and not in efficiency: a server with a single
client sleeps between two requests, and waking up costs more than the request.

Source: N. J. Gunther, Guerrilla Capacity Planning, 2007, on the universal scalability law.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate import levels
from plimsoll.statistics import scalability
from plimsoll.verdicts import law_fit
from plimsoll.verdicts.finding import Finding, Remedy, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import PACE, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.levels import Level
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "scalability_law"
TITLE = "Scalability law"
PROBLEM = "Scalability law not met"
SOURCE = "throughput over the levels of a ramp; N. J. Gunther, 2007"
EFFICIENCY = Limit(
    NAME,
    "efficiency",
    "above",
    1.5,
    None,
    "ratio",
    "throughput per connection at a level / the best at a lower one",
    PROPOSAL + "; the law allows at most 1; a ramp that begins cold exceeds it",
)
R_SQUARED, MISSED_RATIO = law_fit.limits(NAME)
LIMITS = (
    EFFICIENCY,
    R_SQUARED,
    MISSED_RATIO,
)
NEEDS = None
ROLE = Role(misled_by=PACE)
FEWEST = 10
"""Efficiency of levels with fewer connections is that of waking."""
SHORTEST = 2
"""Whole seconds that a level must last, the first one of it, in which they open, among them."""
CHANCE = 4.0
"""Efficiency beyond 1 by less than so many standard deviations of a count is chance."""
REMEDY = Remedy(
    "Lengthen the warm-up and the steps, so that each level reaches its steady state",
    "Lengthen the climb (`--ramp`), so that each level reaches its steady state",
)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether throughput over the levels of a ramp is possible."""
    return of_trial(NAME, tables.recording, _findings(tables, limits), SOURCE)


def _findings(tables: Tables, limits: Limits) -> list[Finding]:
    limit = limits.of(EFFICIENCY)
    load = tables.recording.load
    if load.model == "unknown":
        return [not_checked(limit, "the requested load is unknown")]
    if not load.is_saturating:
        return [inapplicable(limit, "the load is limited on purpose, so it shows no scalability")]
    if not tables.recording.stages:
        return [not_checked(limit, "no stage of the load ran")]
    end_s = tables.recording.stages[-1].end_ns / 1e9
    known = [one for one in levels.rising(tables.counted_seconds, end_s) if one.lasted >= SHORTEST]
    findings = [*_efficiency(known, limits), *_fit(known, limits)]
    return findings or [inapplicable(limit, "the load has no two levels that last long enough")]


def _efficiency(known: Sequence[Level], limits: Limits) -> list[Finding]:
    """The worst gain of throughput per connection from lower levels to a higher one."""
    counted = [level for level in known if level.connections >= FEWEST]
    gains = [_gain(counted[:number], level) for number, level in enumerate(counted) if number]
    if not gains:
        return []
    ratio, level = max(gains, key=lambda gain: gain[0])
    sentence = (
        f"at {wording.count(level.connections)} connections, throughput per connection was "
        f"{wording.percent(round(ratio, 3))} of the best lower level"
    )
    limit = limits.of(EFFICIENCY)
    clause = "" if limit.level(ratio) == "sound" else "; none gets faster by more of them"
    return [found(limit, ratio, sentence + clause, REMEDY)]


def _gain(lower: Sequence[Level], level: Level) -> tuple[float, Level]:
    """Efficiency of a level against the best of the lower ones, less what chance can do."""
    best = max(lower, key=_each)
    if not _each(best):
        return 0.0, level
    responses = best.completed_per_s * best.counted
    return _each(level) / _each(best) - CHANCE / sqrt(responses), level


def _each(level: Level) -> float:
    """Responses per second of each connection."""
    return level.completed_per_s / level.connections


def _fit(known: Sequence[Level], limits: Limits) -> list[Finding]:
    """The law that comes nearest."""
    points = [(level.connections, level.completed_per_s) for level in known]
    fit = scalability.fit(points)
    if fit is None:
        return []
    most = wording.count(points[-1][0])
    over = f"over {wording.count(len(points))} levels up to {most} connections,"
    close = ", and no level is far from the curve"
    limit, width = limits.of(R_SQUARED), limits.of(MISSED_RATIO)
    return [law_fit.finding(over, fit, limit, width, REMEDY, close=close)]
