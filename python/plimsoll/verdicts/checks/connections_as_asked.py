"""Did as many connections open, and were they answered, as were asked for?

Two numbers, for connections can be missing in two ways:

- open: mean connections open in the hold divided by those asked for, by the driver's count and,
  apart from it, by the rows; of a driver that does not count, by the kernel's count at the server;
- answered: connections that the kernel opened and the server never answered. With a full accept
  queue a client sees a connection as open which the server has not taken.

Connections that carry one request each are not held open. How evenly answers fell on those that
are is another check.

Source: conservation of connections; listen(2), where the kernel opens what the server has not
accepted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "connections_as_asked"
SOURCE = "connections asked for, open and answered, by the driver and by the rows"
SHORTEST_S = 0.5
"""In a shorter hold opening the connections takes up too much of the time to count them."""
OPENING_NS = 1_000_000_000
"""A foreign driver may take so long to start and to open its connections."""
LIVED_S = 1.0
"""A connection that lived for so long should have been answered."""
TURNS = 5
"""It should have been answered at the latest after so many mean response times."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether as many connections worked as were asked for."""
    if 0 < _held_s(tables) < SHORTEST_S:
        return verdict(NAME, tables.recording.trial, [_too_short(tables, limits)], SOURCE)
    findings = [_open(tables, limits), _answered(tables, limits)]
    if _is_kept(tables):
        findings += _open_by_rows(tables, limits)
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
    driver = tables.recording.driver
    if asked and is_open is None and driver is not None and driver.opened is None:
        by_kernel = _open_by_kernel(tables, limits, asked)
        if by_kernel is not None:
            return by_kernel
    if not asked or is_open is None:
        sentence = "how many connections were open in the hold could not be read"
        return unknown(limit, sentence, "Use a driver that counts its open connections")
    opened, answered = (
        tables.summary[f"connections_{name}"] or 0 for name in ("opened", "answered")
    )
    sentence = (
        f"{wording.amount(is_open)} of {wording.amount(asked)} connections asked for were open on "
        f"average in the hold; {wording.count(opened)} were opened and {wording.count(answered)} "
        "of them answered over the whole trial"
    )
    if not _is_kept(tables):
        return found(limit, 1.0, sentence + ", each for a few requests only", "")
    return found(limit, is_open / asked, sentence, _why_not_open(tables))


def _open_by_kernel(tables: Tables, limits: Limits, asked: float) -> Finding | None:
    """Connections of the server's port, for a driver that does not count its own.

    Such a driver opens them when its hold begins, so the first second of it does not count.
    """
    opened = [(start + OPENING_NS, end) for start, end in tables.holds if end - start > OPENING_NS]
    seen = tables.usage.mean("server", "connections_established", opened)
    if seen is None or not _is_kept(tables):
        return None
    sentence = (
        f"{wording.amount(seen)} of {wording.amount(asked)} connections asked for were open at the "
        "server on average in the hold, by the kernel's count; the driver does not count its own"
    )
    remedy = "See why connections are missing: some tools open fewer than they are asked for"
    return found(limits.of(NAME, "open_ratio"), seen / asked, sentence, remedy)


def _asked(tables: Tables) -> float | None:
    """Mean connections asked for in the hold; None when nobody says."""
    asked = tables.usage.mean("driver", "connections_asked", tables.holds)
    return tables.summary["connections_asked"] if asked is None else asked


def _open_by_rows(tables: Tables, limits: Limits) -> list[Finding]:
    """The same from the rows, which know nothing of the driver's count."""
    asked, is_open = _asked(tables), tables.open_connections
    if not asked or is_open is None or tables.summary["connections_opened"] is None:
        return []
    sentence = (
        f"by the rows {wording.amount(is_open)} connections were open on average in the hold, of "
        f"{wording.amount(asked)} asked for"
    )
    return [found(limits.of(NAME, "open_ratio"), is_open / asked, sentence, _why_not_open(tables))]


def _why_not_open(tables: Tables) -> str:
    refused = tables.summary["connections_refused"] or 0
    lost = tables.summary["connections_lost"] or 0
    if not refused and not lost:
        return (
            "See why handshakes take so long: not one attempt to connect failed, so a full listen "
            "queue may have kept them waiting"
        )
    return (
        f"See why connections are missing: {wording.count(refused)} attempts to connect failed and "
        f"{wording.count(lost)} connections were lost; ask for fewer where the server limits them"
    )


def _answered(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "unanswered_ratio")
    opened = tables.summary["connections_opened"]
    if opened is None or tables.summary["connections_answered"] is None:
        sentence = "how many connections were opened, and how many of them answered, is not said"
        return unknown(limit, sentence, "Use a driver that counts its connections")
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
