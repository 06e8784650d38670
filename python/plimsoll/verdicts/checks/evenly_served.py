"""Did all connections get a similar share of the responses?

The check first measures the share of starved connections: open for half of the measurement window
(or for as long as a request may take) without one complete response in it. It then computes Jain's
index (Σx)² / (n Σx²) of the responses per unit of time on each connection: 1 if all got the same,
1/n if one got all. If a server serves some connections often and others hardly ever, its
percentiles describe the former.

Starvation voids a trial only if a fair server would have sent ten responses on each connection.
Connections that carry one request each cannot starve.

Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, DEC-TR-301, 1984.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, Remedy, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from plimsoll.aggregate.check_inputs import Shares
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "evenly_served"
TITLE = "Evenly served"
PROBLEM = "Unevenly served"
FEWER = Remedy(
    "Hold the load for longer, or request fewer connections",
    "Load for longer (`-d`), or with fewer connections (`-c`)",
    "Record a longer test, or one with fewer users",
    counted="Load with more requests (`-n`), or with fewer connections (`-c`)",
)
SOURCE = "responses for each connection; R. Jain et al., DEC-TR-301, 1984"
STARVED_RATIO = Limit(
    NAME,
    "starved_ratio",
    "above",
    0.0,
    0.01,
    "ratio",
    "connections open in the measurement window that got no complete response in it / open in "
    "the measurement window",
    PROPOSAL,
)
FAIRNESS = Limit(
    NAME,
    "fairness",
    "below",
    0.9,
    0.5,
    "Jain's index",
    "fairness of responses over connections; 1 means all equal",
    PROPOSAL,
)
LIMITS = (
    STARVED_RATIO,
    FAIRNESS,
)
NEEDS = EveryRequest(STARVED_RATIO, "how responses were spread over connections is unknown")
ROLE = Role(
    misled_by=frozenset({"interruption", "full_queue", "no_streams", "unlike_hosts"}),
    misled_in={"unlike_hosts": frozenset({FAIRNESS.name})},
    blames_server=frozenset(one.name for one in LIMITS),
)
SHORTEST_S = 0.5
"""In a shorter hold opening the connections takes up too much of the time to compare them."""
FEWEST_ANSWERS = 1
"""A rate below one response per connection leaves connections without a request to send."""
FAIR_ANSWERS = 10
"""With so many responses per connection, chance leaves none without one."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether all connections got a similar share of the responses."""
    return of_trial(NAME, tables.recording, _findings(tables, limits), SOURCE)


def _findings(tables: Tables, limits: Limits) -> list[Finding]:
    limit = limits.of(STARVED_RATIO)
    if not tables.recording.load.keeps_connections:
        return [inapplicable(limit, "connections carry few requests each, so none can starve")]
    if tables.recording.load.events:
        return [inapplicable(limit, "events come when the server sends them, on each stream apart")]
    if tables.summary.connections_with_response is None:
        sentence = "the recording does not contain the connection of each request"
        return [not_checked(limit, sentence)]
    if tables.held_s < SHORTEST_S:
        held = wording.seconds(tables.held_s)
        sentence = f"the load was held for {held} only, too short to compare connections"
        return [not_checked(limit, sentence)]
    return _fair(tables, limits)


def _fair(tables: Tables, limits: Limits) -> list[Finding]:
    """Starved connections, and how evenly the responses spread over all of them."""
    duration_ns = tables.recording.held_ns
    timeout_ns = (tables.recording.load.timeout_s or inf) * 1e9
    least_ns = int(min(duration_ns / 2, timeout_ns))
    shares = tables.shares(least_ns)
    if not shares.connections:
        sentence = "no connection stayed open for half the measurement window"
        return [not_checked(limits.of(STARVED_RATIO), sentence)]
    expected = _expected(tables, duration_ns, least_ns)
    if expected < FEWEST_ANSWERS and not tables.recording.load.is_saturating:
        sentence = f"only {wording.amount(expected)} responses per connection were due"
        return [not_checked(limits.of(STARVED_RATIO), sentence)]
    return [_starved(shares, expected, limits), *_even(shares, expected, limits)]


def _expected(tables: Tables, duration_ns: int, least_ns: int) -> float:
    """Responses that a fair server would send on a connection in the least time it was open."""
    is_open = tables.summary.open_connections or tables.summary.connections_peak_open
    responses = tables.summary.completed
    return responses / is_open * least_ns / duration_ns if is_open and duration_ns else 0.0


def _starved(shares: Shares, expected: float, limits: Limits) -> Finding:
    limit = limits.of(STARVED_RATIO)
    sentence = (
        f"{wording.count(shares.starved)} of {wording.count(shares.connections)} connections that "
        "were open in the measurement window got no complete response in it"
        if shares.starved
        else "every connection that was open in the measurement window got a response in it"
    )
    ratio = shares.starved / shares.connections
    finding = found(limit, ratio, sentence, "See which connections the server leaves waiting")
    if shares.starved and 0 < expected < FAIR_ANSWERS:
        sentence += (
            f"; with only {wording.amount(expected)} responses per connection this may be chance"
        )
        remedy = FEWER
        return replace(finding, level="doubtful", sentence=sentence, remedy=remedy)
    return finding


def _even(shares: Shares, expected: float, limits: Limits) -> list[Finding]:
    if shares.jain is None or expected < FAIR_ANSWERS:
        return []
    sentence = (
        f"responses were spread unevenly over {wording.count(shares.connections)} connections: "
        "Jain's "
        f"fairness index is {wording.decimals(shares.jain, 2)} (1: all equal)"
    )
    remedy = "Read the percentiles with care: some connections were served far more often"
    return [found(limits.of(FAIRNESS), shares.jain, sentence, remedy)]
