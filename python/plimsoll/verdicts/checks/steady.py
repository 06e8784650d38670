"""Was there no trend within the hold, and was the server never silent in it?

Measured is the change of throughput from the beginning to the end of the last hold, divided by its
median: Sen's slope over ten equal parts. A server that still grows faster was not warmed up, one
that grows slower fills something up; the mean of such a hold is a number between two that differ. A
change that chance could have made (three times the square root of the answers in a part) is none.

A hold of 10 s or longer is also cut into levels, and named by its course as `aggregate.courses` has
it. After a warm-up or before a slowdown the mean of the hold is told against that of its steady
state; without a steady state its levels against each other. The median time of an answer is looked
at in the same way, for a server may keep its throughput while its answers take longer. Of a shorter
hold this cannot be told, and a sound verdict says so: the trend is all there is.

Whole seconds of a hold without one answer, where ten or more would come in a mean second, are
counted apart: a mean hides them.

Source: P. K. Sen, JASA 63, 1968; change-points by R. Killick et al., JASA 107, 2012; courses as in
E. Barrett et al., Virtual machine warmup blows hot and cold, OOPSLA 2017; limits are proposals.
"""

from __future__ import annotations

from math import sqrt
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.aggregate.courses import FLAT, LEAST_S, SHORT, UNSTEADY, WARM_UP
from plimsoll.aggregate.pace import trend_ratio
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.aggregate.courses import Course
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "steady"
SOURCE = (
    "Sen's slope of throughput over the hold, JASA 63, 1968; change-points by R. Killick et al., "
    "JASA 107, 2012"
)
PARTS = 10
CHANCE = 3.0
"""A change of so many standard deviations of a count is more than chance."""
MOST_LEVELS = 5
"""Levels of a hold that are told one by one."""
FEWEST_PER_S = 10.0
"""Where fewer answers come in a second, one without an answer says nothing."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the hold was steady."""
    driver = tables.recording.driver
    if driver is not None and driver.instants_step_s:
        coarse = _coarse(driver.instants_step_s, limits)
        return verdict(NAME, tables.recording.trial, [coarse], SOURCE)
    findings = [
        _trend(tables, limits),
        *_course(tables, limits),
        *_times(tables, limits),
        *_silence(tables, limits),
    ]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _coarse(step_s: float, limits: Limits) -> Finding:
    """That requests were told in bunches, which would look like changes of pace."""
    sentence = (
        "whether the hold was steady cannot be told, for the driver wrote its instants in steps "
        f"of {wording.seconds(step_s)}"
    )
    return unknown(limits.of(NAME, "trend_ratio"), sentence, "")


def _trend(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "trend_ratio")
    counts = tables.pace(PARTS)
    trend = trend_ratio(counts) if counts else None
    if trend is None:
        sentence = "whether the hold was steady cannot be told, for too little was answered in it"
        return unknown(limit, sentence, "Hold the load for longer")
    if abs(trend) <= CHANCE / sqrt(median(counts)):
        sentence = f"throughput had no trend in the hold beyond chance{_what_else(tables)}"
        return found(limit, 0.0, sentence, "")
    sentence = (
        f"from the beginning to the end of the hold throughput {'rose' if trend > 0 else 'fell'} "
        f"by {wording.percent(abs(trend))} of its median"
    )
    if limit.level(abs(trend)) == "sound":
        sentence += _too_short(tables)
    return found(limit, abs(trend), sentence, _remedy(trend))


def _what_else(tables: Tables) -> str:
    """What there is to say of the levels of a hold without a trend."""
    is_flat = tables.course is not None and tables.course.name == FLAT
    return ", and stayed on one level" if is_flat else _too_short(tables)


def _too_short(tables: Tables) -> str:
    """That nothing can be told of the levels of a hold, where that is so."""
    if tables.course is None or tables.course.name != SHORT:
        return ""
    return (
        "; whether it was on one level throughout cannot be told of a hold of less than "
        f"{LEAST_S:.0f} s, or of so few answers"
    )


def _course(tables: Tables, limits: Limits) -> list[Finding]:
    """The levels of the hold, where there are several."""
    course = tables.course
    if course is None or course.name in (FLAT, SHORT):
        return []
    if course.name == UNSTEADY:
        sentence = (
            f"the hold has no steady state: throughput went from {_levels(course)} requests per "
            f"second, a difference of {wording.percent(round(course.levels_ratio, 4))}"
        )
        limit, measured = limits.of(NAME, "levels_ratio"), course.levels_ratio
        return [found(limit, measured, sentence, "Hold the load for longer, and see what changes")]
    sentence = (
        f"the hold has a {course.name}: throughput went from {_levels(course)} requests per "
        f"second, so the mean of the hold is {wording.percent(round(course.start_ratio, 4))} "
        f"{'below' if course.hold_per_s < (course.steady_per_s or 0) else 'above'} its steady state"
    )
    limit, measured = limits.of(NAME, "start_ratio"), course.start_ratio
    return [found(limit, measured, sentence, _remedy(1 if course.name == WARM_UP else -1))]


def _times(tables: Tables, limits: Limits) -> list[Finding]:
    """The levels of the median time of an answer, where there are several."""
    course = tables.course_of_times
    if course is None or course.name in (FLAT, SHORT):
        return []
    went = f"the median answer took {_levels(course, _time)} in the course of the hold"
    if course.name == UNSTEADY:
        limit, measured = limits.of(NAME, "times_levels_ratio"), course.levels_ratio
        sentence = (
            f"{went}, a difference of {wording.percent(round(measured, 4))} without a steady state"
        )
        return [found(limit, measured, sentence, "Hold the load for longer, and see what changes")]
    limit, measured = limits.of(NAME, "times_start_ratio"), course.start_ratio
    sentence = (
        f"{went}, a {course.name}; over the whole hold it is "
        f"{wording.percent(round(measured, 4))} from its steady state"
    )
    return [found(limit, measured, sentence, _remedy(1 if course.name == WARM_UP else -1))]


def _time(pace_per_s: float) -> str:
    """The time of an answer at a pace of one connection."""
    return wording.seconds(1 / pace_per_s)


def _levels(course: Course, said: Callable[[float], str] = wording.count) -> str:
    """The levels in order: `8,000 to 9,500 to 10,100`."""
    levels = [said(level) for level in course.levels_per_s]
    if len(levels) > MOST_LEVELS:
        levels = [*levels[: MOST_LEVELS - 1], "…", levels[-1]]
    return " to ".join(levels)


def _remedy(trend: float) -> str:
    if trend > 0:
        return "Lengthen the warm-up: the server was still getting faster"
    return "See what fills up or slows down in the server, and hold the load for longer"


def _silence(tables: Tables, limits: Limits) -> list[Finding]:
    """Seconds of the holds without an answer."""
    rows = tables.seconds.select(["second", "completed"]).to_pylist()
    known = [row for row in rows if row["completed"] is not None]
    held = [row for row in known if _is_held(tables, row["second"])]
    if not held or sum(row["completed"] for row in held) < FEWEST_PER_S * len(held):
        return []
    silent = [row["second"] for row in held if not row["completed"]]
    sentence = (
        f"nothing was answered in {wording.several(len(silent), 'second')} of the hold: "
        f"{wording.listed([str(second) for second in silent], 6)}"
        if silent
        else "every second of the hold had answers"
    )
    remedy = "See why the server stood still; the chart of its throughput shows when"
    return [found(limits.of(NAME, "silent_ratio"), len(silent) / len(held), sentence, remedy)]


def _is_held(tables: Tables, second: int) -> bool:
    """Whether a second lies within a hold as a whole."""
    start_ns, end_ns = second * 10**9, (second + 1) * 10**9
    return any(start <= start_ns and end_ns <= end for start, end in tables.holds)
