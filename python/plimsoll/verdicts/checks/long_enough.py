"""Was the load held for long enough to judge it?

A load of some requests is over in a few milliseconds. Its percentiles rest on the first requests of
each connection, and nothing that is read once a second has a value. The check measures the length
of the measurement windows. Below 1 s it is the one that doubts, and refers the doubts of all checks
that need time to itself. Checks on counts, failures and responses are not affected: one wrong
response is wrong after a millisecond. Neither is any void verdict.

Trials of a campaign are not checked: they are repeated, and intervals over their repetitions show
how well a mean is known.

Source: the sampler reads once a second, so a shorter window may contain no reading.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, Remedy, found, not_checked, of_trial
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
LIMITS = (HELD_S,)
NEEDS = None
ENOUGH_S = 5
"""A measurement window that is long enough for most checks, in seconds."""
DIGITS = 3
"""Of a window's length in seconds: one of a second may end a fraction of a millisecond early."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether the load was held for long enough to judge it."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(HELD_S)
    ran_s = sum(end - start for start, end in tables.holds) / 1e9
    held_s = max(ran_s, round(ran_s, DIGITS))
    if tables.recording.origin == "campaign" or tables.recording.turns:
        return not_checked(limit, "the load is repeated, so no trial is judged by its length")
    if not held_s:
        return not_checked(limit, "the load had no measurement window")
    held = wording.seconds(held_s)
    if limit.level(held_s) == "sound":
        return found(limit, held_s, f"the measurement window lasted {held}", "")
    sentence = f"the measurement window lasted {held} only, and most checks need more time"
    return found(limit, held_s, sentence, _longer(tables))


def _longer(tables: Tables) -> Remedy:
    """A load that is long enough: of more requests where these end it, else of more time."""
    load, driver = tables.recording.load, tables.recording.driver
    is_by_time = driver is not None and driver.ended_by == "schedule"
    requests = 0 if load.model == "unknown" or is_by_time else load.request_limit
    option = f"-n {_enough(tables, requests)}" if requests else f"-d {ENOUGH_S}s"
    longer = f"Load for longer: `{option}` or more"
    return Remedy(longer, imported=f"Record a test of {ENOUGH_S} s or more")


def _enough(tables: Tables, requests: int) -> int:
    """Requests that take so long at the pace of the load, rounded up to one digit."""
    needed = max(tables.summary.throughput_per_s * ENOUGH_S, requests + 1.0)
    step = 10 ** math.floor(math.log10(needed))
    return math.ceil(needed / step) * step


def _cause(tables: Tables, verdict: Verdict) -> Cause | None:
    """The load was too short for checks that need time."""
    del tables
    if not verdict.is_doubting:
        return None
    return Cause(verdict.check, "the load was too short", "shortness")


ROLE = Role(tells=_cause, needs_no_time=True)
