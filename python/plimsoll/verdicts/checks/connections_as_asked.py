"""Did as many connections work as were asked for?

Four numbers, for connections can be missing in four ways:

- open: mean connections open in the hold divided by those asked for, by the driver's count and,
  apart from it, by the rows;
- answered: connections that the kernel opened and the server never answered. With a full accept
  queue a client sees a connection as open which the server has not taken;
- starved: connections open for half the hold (or for as long as a request may take) without one
  complete answer in it, and Jain's index (Σx)² / (n Σx²) of the answers each got;
- used: when more connections are asked for, throughput must not fall by a tenth while a smaller
  share of them has a request in flight.

Starvation voids a trial only where a fair server would have answered each connection ten times.
Connections that carry one request each cannot starve and are not held open.

Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, DEC-TR-301, 1984.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.evidence import Shares
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "connections_as_asked"
SOURCE = "connections asked for, open, answered and used; R. Jain et al., DEC-TR-301, 1984"
SHORTEST_S = 0.5
"""In a shorter hold opening the connections takes up too much of the time to count them."""
LIVED_S = 1.0
"""A connection that lived for so long should have been answered."""
TURNS = 5
"""It should have been answered at the latest after so many mean response times."""
FAIR_ANSWERS = 10
"""With so many answers for each connection none is without by chance."""
FEWEST = 10
"""Levels of fewer connections say nothing about a fall."""
LESS_USED = 0.05
"""By so much the share of connections in use must fall together with throughput."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether as many connections worked as were asked for."""
    if 0 < _held_s(tables) < SHORTEST_S:
        return verdict(NAME, tables.recording.trial, [_too_short(tables, limits)], SOURCE)
    findings = [_open(tables, limits), _answered(tables, limits), *_used(tables, limits)]
    if _is_kept(tables):
        findings += [*_open_by_rows(tables, limits), *_fair(tables, limits)]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _held_s(tables: Tables) -> float:
    return sum(end - start for start, end in tables.holds) / 1e9


def _too_short(tables: Tables, limits: Limits) -> Finding:
    held = wording.seconds(_held_s(tables))
    sentence = f"the load was held for {held} only, too short to tell how many connections worked"
    return unknown(limits.of(NAME, "open_ratio"), sentence, "Hold the load for a second or longer")


def _is_kept(tables: Tables) -> bool:
    load = tables.recording.load
    return bool(load.get("keep_alive", True)) and not load.get("requests_per_connection")


def _open(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "open_ratio")
    asked, is_open = _asked(tables), tables.summary["open_connections"]
    if not asked or is_open is None:
        sentence = "how many connections were open in the hold could not be read"
        return unknown(limit, sentence, "Use a driver that counts its open connections")
    opened, answered = (tables.summary[f"connections_{name}"] for name in ("opened", "answered"))
    sentence = (
        f"{wording.amount(is_open)} of {wording.amount(asked)} connections asked for were open on "
        f"average in the hold; {wording.count(opened)} were opened and {wording.count(answered)} "
        "of them answered over the whole trial"
    )
    if not _is_kept(tables):
        return found(limit, 1.0, sentence + ", each for a few requests only", "")
    return found(limit, is_open / asked, sentence, _why_not_open(tables))


def _asked(tables: Tables) -> float | None:
    """Mean connections asked for in the hold; None when nobody says."""
    asked = tables.usage.mean("driver", "connections_asked", tables.holds)
    return tables.summary["connections_asked"] if asked is None else asked


def _open_by_rows(tables: Tables, limits: Limits) -> list[Finding]:
    """The same from the rows, which know nothing of the driver's count."""
    asked, is_open = _asked(tables), tables.open_connections
    if not asked or is_open is None:
        return []
    sentence = (
        f"by the rows {wording.amount(is_open)} connections were open on average in the hold, of "
        f"{wording.amount(asked)} asked for"
    )
    return [found(limits.of(NAME, "open_ratio"), is_open / asked, sentence, _why_not_open(tables))]


def _why_not_open(tables: Tables) -> str:
    refused = tables.summary["connections_refused"]
    lost = tables.summary["connections_lost"]
    return (
        f"See why connections are missing: {wording.count(refused)} attempts to connect failed and "
        f"{wording.count(lost)} connections were lost; ask for fewer where the server limits them"
    )


def _answered(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "unanswered_ratio")
    opened = tables.summary["connections_opened"]
    if not opened:
        return unknown(limit, "not one connection was opened", "See whether the server listens")
    turn_s = (tables.summary["response_time_mean_ns"] or 0.0) / 1e9
    without = tables.unanswered(int(max(LIVED_S, TURNS * turn_s) * 1e9))
    sentence = (
        f"{wording.count(without)} of {wording.count(opened)} connections were open for the driver "
        "and never got a byte of an answer: the kernel had accepted them, the server had not"
        if without
        else "every connection that lived long enough was answered"
    )
    remedy = "Lengthen the server's listen queue, or let it accept faster"
    return found(limit, without / opened, sentence, remedy)


def _fair(tables: Tables, limits: Limits) -> list[Finding]:
    """Starved connections, and how evenly the answers fell on all of them."""
    duration_ns = sum(end - start for start, end in tables.holds)
    timeout_ns = float(tables.recording.load.get("timeout_s") or float("inf")) * 1e9
    least_ns = int(min(duration_ns / 2, timeout_ns))
    shares = tables.shares(least_ns)
    if not shares.connections:
        sentence = "no connection was open for half the hold, so nobody knows if some were starved"
        return [unknown(limits.of(NAME, "starved_ratio"), sentence, _why_not_open(tables))]
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


def _used(tables: Tables, limits: Limits) -> list[Finding]:
    """The worst fall of throughput between levels while fewer connections are used."""
    if tables.recording.load.get("model") != "closed":
        return []
    falls = [_fall(earlier, later) for earlier, later in pairwise(_levels(tables))]
    falls = [fall for fall in falls if fall is not None]
    if not falls:
        return []
    ratio, lower, higher = max(falls)
    sentence = (
        f"from {wording.count(lower)} to {wording.count(higher)} connections throughput fell by "
        f"{wording.percent(ratio)} while fewer of them had a request in flight: they were open, "
        "not used"
    )
    remedy = "See what limits the number of connections that the server or the driver works on"
    return [found(limits.of(NAME, "fall_ratio"), ratio, sentence, remedy)]


def _fall(earlier: dict[str, float], later: dict[str, float]) -> tuple[float, float, float] | None:
    if not earlier["completed"] or later["used"] > earlier["used"] - LESS_USED:
        return None
    fall = 1 - later["completed"] / earlier["completed"]
    return (fall, earlier["asked"], later["asked"]) if fall > 0 else None


def _levels(tables: Tables) -> list[dict[str, float]]:
    """Throughput and share of connections in use at each rising level of connections."""
    names = ("stage", "asked", "completed", "in_flight")
    rows = [row for row in tables.seconds.select(names).to_pylist() if _says(row)]
    levels = [_level(asked, list(part)) for asked, part in groupby(rows, lambda r: r["asked"])]
    return [
        later
        for earlier, later in zip([None, *levels], levels, strict=False)
        if earlier is None or later["asked"] > earlier["asked"]
    ]


def _says(row: dict[str, Any]) -> bool:
    is_load = row["stage"] in ("ramp", "hold")
    return is_load and row["asked"] >= FEWEST and row["in_flight"] is not None


def _level(asked: float, rows: list[dict[str, Any]]) -> dict[str, float]:
    return {
        "asked": asked,
        "completed": sum(row["completed"] for row in rows) / len(rows),
        "used": sum(row["in_flight"] for row in rows) / len(rows) / asked,
    }
