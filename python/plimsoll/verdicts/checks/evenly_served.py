"""Were all connections served alike?

Measured is the share of starved connections: open for half the hold (or for as long as a request
may take) without one complete answer in it. Then Jain's index (Σx)² / (n Σx²) of the answers per
unit of time that each got: 1 when all got alike, 1/n when one got all. The percentiles of a server
that serves some connections often and others hardly are those of the former.

Starvation voids a trial only where a fair server would have answered each connection ten times.
Connections that carry one request each cannot starve.

Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, DEC-TR-301, 1984.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, not_asked, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.evidence import Shares
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "evenly_served"
SOURCE = "answers for each connection; R. Jain et al., DEC-TR-301, 1984"
SHORTEST_S = 0.5
"""In a shorter hold opening the connections takes up too much of the time to compare them."""
FAIR_ANSWERS = 10
"""With so many answers for each connection none is without by chance."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether all connections were served alike."""
    return verdict(NAME, tables.recording.trial, _findings(tables, limits), SOURCE)


def _findings(tables: Tables, limits: Limits) -> list[Finding]:
    limit = limits.of(NAME, "starved_ratio")
    load = tables.recording.load
    if not load.get("keep_alive", True) or load.get("requests_per_connection"):
        return [not_asked(limit, "no connection is kept for long, so none can be starved")]
    if tables.summary["connections_answered"] is None:
        sentence = "which connection carried which request is not said"
        return [unknown(limit, sentence, "Use a driver that says so")]
    held_s = sum(end - start for start, end in tables.holds) / 1e9
    if held_s < SHORTEST_S:
        held = wording.seconds(held_s)
        sentence = f"the load was held for {held} only, too short to compare connections"
        return [unknown(limit, sentence, "Hold the load for a second or longer")]
    return _fair(tables, limits)


def _fair(tables: Tables, limits: Limits) -> list[Finding]:
    """Starved connections, and how evenly the answers fell on all of them."""
    duration_ns = sum(end - start for start, end in tables.holds)
    timeout_ns = float(tables.recording.load.get("timeout_s") or float("inf")) * 1e9
    least_ns = int(min(duration_ns / 2, timeout_ns))
    shares = tables.shares(least_ns)
    if not shares.connections:
        sentence = "no connection was open for half the hold, so nobody knows if some were starved"
        return [
            unknown(limits.of(NAME, "starved_ratio"), sentence, "See why they do not stay open")
        ]
    expected = _expected(tables, duration_ns, least_ns)
    return [_starved(shares, expected, limits), *_even(shares, expected, limits)]


def _expected(tables: Tables, duration_ns: int, least_ns: int) -> float:
    """Answers that a fair server would have given each connection in the least time it was open."""
    is_open = tables.summary["open_connections"] or tables.summary["connections_peak_open"]
    answers = tables.summary["completed"]
    return answers / is_open * least_ns / duration_ns if is_open and duration_ns else 0.0


def _starved(shares: Shares, expected: float, limits: Limits) -> Finding:
    limit = limits.of(NAME, "starved_ratio")
    sentence = (
        f"{wording.count(shares.starved)} of {wording.count(shares.connections)} connections that "
        "were open in the hold got no complete answer in it"
        if shares.starved
        else "every connection that was open in the hold was answered in it"
    )
    ratio = shares.starved / shares.connections
    finding = found(limit, ratio, sentence, "See which connections the server leaves waiting")
    if shares.starved and 0 < expected < FAIR_ANSWERS:
        sentence += (
            f"; with only {wording.amount(expected)} answers for each this may be chance, for the "
            "hold is short for so many connections"
        )
        remedy = "Hold the load for longer, or ask for fewer connections"
        return replace(finding, level="doubtful", sentence=sentence, remedy=remedy)
    return finding


def _even(shares: Shares, expected: float, limits: Limits) -> list[Finding]:
    if shares.jain is None or expected < FAIR_ANSWERS:
        return []
    sentence = (
        f"answers fell unevenly on the {wording.count(shares.connections)} connections: Jain's "
        f"index of fairness, 1 when all get alike, is {shares.jain:.2f}"
    )
    remedy = "Read the percentiles with care: some connections were served far more often"
    return [found(limits.of(NAME, "fairness"), shares.jain, sentence, remedy)]
