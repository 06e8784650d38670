"""Was there no trend within the hold, and was the server never silent in it?

Measured is the change of throughput from the beginning to the end of the last hold, divided by its
median: Sen's slope over ten equal parts. A server that still grows faster was not warmed up, one
that grows slower fills something up; the mean of such a hold is a number between two that differ. A
change that chance could have made (three times the square root of the answers in a part) is none.

Whole seconds of a hold without one answer, where ten or more would come in a mean second, are
counted apart: a mean hides them.

Source: P. K. Sen, JASA 63, 1968; warm-up as in E. Barrett et al., Virtual machine warmup blows hot
and cold, OOPSLA 2017; the limits are proposals.
"""

from __future__ import annotations

from math import sqrt
from statistics import median
from typing import TYPE_CHECKING

from plimsoll.aggregate.pace import trend_ratio
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "steady"
SOURCE = "Sen's slope of throughput over the hold; P. K. Sen, JASA 63, 1968"
PARTS = 10
CHANCE = 3.0
"""A change of so many standard deviations of a count is more than chance."""
FEWEST_PER_S = 10.0
"""Where fewer answers come in a second, one without an answer says nothing."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the hold was steady."""
    findings = [_trend(tables, limits), *_silence(tables, limits)]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _trend(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "trend_ratio")
    counts = tables.pace(PARTS)
    trend = trend_ratio(counts) if counts else None
    if trend is None:
        sentence = "whether the hold was steady cannot be told, for too little was answered in it"
        return unknown(limit, sentence, "Hold the load for longer")
    if abs(trend) <= CHANCE / sqrt(median(counts)):
        return found(limit, 0.0, "throughput had no trend in the hold beyond chance", "")
    sentence = (
        f"from the beginning to the end of the hold throughput {'rose' if trend > 0 else 'fell'} "
        f"by {wording.percent(abs(trend))} of its median"
    )
    return found(limit, abs(trend), sentence, _remedy(trend))


def _remedy(trend: float) -> str:
    if trend > 0:
        return "Lengthen the warm-up: the server was still getting faster"
    return "See what fills up or slows down in the server, and hold the load for longer"


def _silence(tables: Tables, limits: Limits) -> list[Finding]:
    """Seconds of the holds without an answer."""
    rows = tables.seconds.select(["second", "completed"]).to_pylist()
    held = [row for row in rows if _is_held(tables, row["second"])]
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
