"""Was the load held for long enough to judge it?

A load of some requests is over in a few milliseconds. Its percentiles rest on the first requests of
each connection, and nothing that is read once a second has a value. The check measures the length
of the measurement windows. Below 1 s it is the one that doubts, and refers the doubts of all checks
that need time to itself. Checks on counts, failures and responses are not affected: one wrong
response is wrong after a millisecond. Neither is any void verdict.

A closed load that begins with its window lacks one response time of throughput: nothing is complete
before it, and what is in flight at the end is never counted. Ten connections to a server that takes
500 ms show 18 of its 20 responses per second in 5 s, so such a window must be 20 times as long. A
load that ends after a number of requests ends with the last response, so each of them is counted.

Trials of a campaign are not checked: they are repeated, and intervals over their repetitions show
how well a mean is known.

Source: the sampler reads once a second, so a shorter window may contain no reading.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.verdicts import request_limits
from plimsoll.verdicts.finding import Finding, Remedy, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Cause, Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "long_enough"
TITLE = "Long enough"
PROBLEM = "Too short to judge"
SOURCE = "length of the measurement windows"
HELD_S = Limit(
    NAME,
    "held_s",
    "below",
    1.0,
    None,
    "s",
    "length of the measurement windows of a load that no campaign repeats",
    PROPOSAL + "; the sampler reads once a second",
)
ROUND_RATIO = Limit(
    NAME,
    "round_ratio",
    "above",
    0.05,
    None,
    "ratio",
    "mean response time / measurement window, of a closed load that begins with it",
    "so much of the throughput is missing: what is in flight at the end was never counted; 5 % is "
    "the precision aimed at for intervals",
)
LIMITS = (HELD_S, ROUND_RATIO)
NEEDS = None
ENOUGH_NS = 0.01 * SECOND_NS
"""A mean response time of this in each second of the window changes throughput by 1 %."""
ENOUGH_S = 5
"""A measurement window that is long enough for most checks, in seconds."""
DIGITS = 3
"""Of a window's length in seconds: one of a second may end a fraction of a millisecond early."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the load was held for long enough to judge it."""
    held = _finding(tables, limits)
    rounds = [_rounds(tables, limits)] if held.level == "sound" else []
    return of_trial(NAME, tables.recording, [held, *rounds], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(HELD_S)
    ran_s = tables.held_s
    held_s = max(ran_s, round(ran_s, DIGITS))
    if tables.recording.origin == "campaign" or tables.recording.turns:
        return inapplicable(limit, "the load is repeated, so no trial is judged by its length")
    if not held_s:
        return not_checked(limit, "the load had no measurement window")
    held = wording.seconds(held_s)
    if limit.level(held_s) == "sound":
        return found(limit, held_s, f"the measurement window lasted {held}", "")
    sentence = f"the measurement window lasted {held} only, and most checks need more time"
    return found(limit, held_s, sentence, _longer(tables, ENOUGH_S))


def _rounds(tables: Tables, limits: Limits) -> Finding:
    """Whether the window is long beside a response time."""
    limit, mean_ns = limits.of(ROUND_RATIO), tables.summary.service_time.mean_ns
    begins_cold = tables.recording.stages[0].kind == "hold" and len(tables.holds) == 1
    if not (tables.recording.load.is_saturating and begins_cold and mean_ns):
        return not_checked(limit, "requests of the time before the window end in it")
    driver = tables.recording.driver
    if driver is not None and driver.ended_by == "request_limit":
        sentence = "the load ended with the last response, so the window has every request"
        return not_checked(limit, sentence)
    ratio = mean_ns / tables.recording.held_ns
    mean = wording.seconds(mean_ns / SECOND_NS)
    sentence = (
        f"the measurement window is only {wording.amount(1 / ratio)} response times of {mean} "
        f"long: throughput is up to {wording.percent(round(ratio, 3))} too low"
    )
    if limit.level(ratio) == "sound":
        sentence = f"a response took {mean} on average, a small part of the measurement window"
    return found(limit, ratio, sentence, _longer(tables, math.ceil(mean_ns / ENOUGH_NS)))


def _longer(tables: Tables, enough_s: int) -> Remedy:
    """A load that is long enough: of more requests where these end it, else of more time."""
    is_counted = request_limits.is_counted(tables.recording)
    option = f"-n {_enough(tables, enough_s)}" if is_counted else f"-d {enough_s}s"
    longer = f"Load for longer: `{option}` or more"
    return Remedy(longer, imported=f"Record a test of {enough_s} s or more")


def _enough(tables: Tables, enough_s: int) -> int:
    """Requests that take so long at the pace of the load, rounded up to one digit."""
    load = tables.recording.load
    pace_per_s = load.stages[-1].end if load.model == "open" else tables.summary.throughput_per_s
    limit = 0 if load.model == "unknown" else load.request_limit or 0
    needed = max(pace_per_s * enough_s, limit + 1.0)
    step = 10 ** math.floor(math.log10(needed))
    return math.ceil(needed / step) * step


def _cause(tables: Tables, verdict: Verdict) -> Cause | None:
    """The load was too short for checks that need time."""
    del tables
    if HELD_S.name not in {one.limit for one in verdict.sentences if one.is_doubting}:
        return None
    return Cause(verdict.check, "the load was too short", "shortness")


ROLE = Role(tells=_cause, needs_no_time=True)
