"""Did as many requests end as their time limit demands?

No request is in flight for longer than its time limit *T*. If *L* requests are in flight on average
over a time *W*, then L · W / T of them must have ended in it, with a response or without. Those
still in flight at its end, at most another L, are excepted. The check measures

    (ended + L) · T / (L · W)

with *L* by the load generator's clock and the ended requests by the rows. A value below 1 is
impossible: either fewer connections were in use, or time limits were not kept. 80,000 connections
with a limit of 2 s end at least 40,000 requests per second.

Source: Little's law with W ≤ T; J. D. C. Little, Operations Research 9(3), 1961.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics import laws
from plimsoll.verdicts.finding import Finding, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "timeout_floor"
TITLE = "Timeout floor"
PROBLEM = "Below the timeout floor"
SOURCE = "requests ended against requests in flight / time limit; Little, 1961"
ENDED_RATIO = Limit(
    NAME,
    "ended_ratio",
    "below",
    None,
    1.0,
    "ratio",
    "(requests ended + in flight) · time limit / (in flight · length of the measurement window)",
    "no request is in flight for longer than its time limit",
)
LIMITS = (ENDED_RATIO,)
NEEDS = EveryRequest(ENDED_RATIO, "how long each request was in flight is unknown")
ROLE = Role()
LATE_S = 0.1
"""A driver may notice so late that the time of a request is over."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether as many requests ended as the time limit demands."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(ENDED_RATIO)
    in_flight = tables.summary.in_flight
    load = tables.recording.load
    timeout_s = load.timeout_s or 0.0
    held_s = tables.held_s
    if not in_flight or not timeout_s or not held_s:
        sentence = "requests in flight or their timeout are unknown"
        return not_checked(limit, sentence)
    longest_s = (timeout_s + LATE_S) * load.in_flight_each
    ended_per_s = sum(map(_ended, _counts(tables))) / held_s
    floor_per_s = laws.least_per_s(in_flight, 1.0, longest_s)
    ratio = (ended_per_s * held_s + in_flight) / (floor_per_s * held_s)
    least_per_s = floor_per_s - in_flight / held_s
    if least_per_s <= 0:
        sentence = (
            f"the measurement window of {wording.seconds(held_s)} is no longer than the timeout of "
            f"{wording.seconds(timeout_s)}, so no request had to end in it"
        )
        return inapplicable(limit, sentence)
    sentence = (
        f"{wording.amount(in_flight)} requests in flight with a timeout of "
        f"{wording.seconds(timeout_s)} must end at {wording.amount(least_per_s)} requests/s or "
        f"more; {wording.amount(ended_per_s)} requests/s did"
    )
    return found(limit, ratio, sentence, "Discard these numbers, and find how the requests ended")


def _counts(tables: Tables) -> list[tuple[str, int]]:
    return [(row.outcome, row.held) for row in tables.outcome_counts]


def _ended(count: tuple[str, int]) -> int:
    outcome, held = count
    return 0 if outcome == "unfinished" else held
