"""Connections that a server closed under load, in words for several checks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.outcomes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.check_inputs import ConnectionEnd
    from plimsoll.aggregate.trial import Tables

ORDERLY = ("closed_as_announced", "closed_idle")
"""Ends by the server that no request was lost by: announced in a response, or between requests."""


CLOSE_FRAME = "close_received"
"""An end by the server that takes the requests with it that are on the connection, if any."""

CUT = ("closed_early", "reset_receiving")
"""Ends by the server within a response."""

BEHIND = "lost_behind"
"""What is lost where the load generator closed the connection, because of another failure."""


def by_server(tables: Tables) -> tuple[ConnectionEnd, ...]:
    """Connections that the server closed or reset in the holds, whatever was lost with them."""
    ends = (end for end in tables.connection_ends if end.held)
    return tuple(end for end in ends if end.outcome in ORDERLY or _is_lost(end.outcome))


def orderly(tables: Tables) -> tuple[ConnectionEnd, ...]:
    """Those of them without a request on them."""
    return _split(tables)[0]


def abrupt(tables: Tables) -> tuple[ConnectionEnd, ...]:
    """Those of them with a request on them."""
    return _split(tables)[1]


def unannounced(tables: Tables) -> tuple[ConnectionEnd, ...]:
    """Those of them that no response had announced.

    What a server loses by closing so is chance: a request may just be on its way.
    """
    return tuple(end for end in by_server(tables) if end.outcome != "closed_as_announced")


def closes_each(tables: Tables) -> bool:
    """Whether the server closed connections after one response, and none after more."""
    ends = by_server(tables)
    return bool(ends) and all(end.most_responses == 1 for end in ends)


def cuts_responses(tables: Tables) -> bool:
    """Whether most requests that were lost with connections were lost within their response."""
    lost = [row for row in tables.outcome_counts if row.held and _is_lost(row.outcome)]
    cut = sum(row.held for row in lost if row.outcome in CUT)
    return cut > sum(row.held for row in lost) / 2


def lost_requests(tables: Tables) -> int:
    """Requests of the holds that such connections took with them."""
    lost = (row for row in tables.outcome_counts if _is_lost(row.outcome))
    if not abrupt(tables):
        lost = (row for row in lost if row.outcome != BEHIND)
    return sum(row.held for row in lost)


def closed(ends: Sequence[ConnectionEnd]) -> int:
    """How many connections these are, in the holds."""
    return sum(end.held for end in ends)


def described(tables: Tables, ends: Sequence[ConnectionEnd]) -> str:
    """`38 of 48 connections, each after 1,000 responses`; `after 7 to 1,000 responses`.

    Args:
        tables: The trial, which knows how many connections were opened.
        ends: Those that are meant; at least one.
    """
    number, opened = closed(ends), tables.summary.connections_opened
    of = f"{wording.count(number)} of {wording.several(opened or number, 'connection')}"
    least = [end.least_responses for end in ends if end.least_responses is not None]
    most = [end.most_responses for end in ends if end.most_responses is not None]
    if not least or not most:
        return of
    fewest, greatest = min(least), max(most)
    if fewest == greatest:
        each = "each " if number > 1 else ""
        return f"{of}, {each}after {wording.several(fewest, 'response')}"
    return f"{of}, after {wording.count(fewest)} to {wording.count(greatest)} responses"


def _split(tables: Tables) -> tuple[tuple[ConnectionEnd, ...], tuple[ConnectionEnd, ...]]:
    """The orderly ends and the abrupt ones; a close frame is either, by what was in flight."""
    rows = tables.outcome_counts
    in_flight = sum(row.held for row in rows if row.outcome == CLOSE_FRAME)
    idle: list[ConnectionEnd] = []
    busy: list[ConnectionEnd] = []
    for end in by_server(tables):
        lost = 0 if end.outcome in ORDERLY else end.held
        if end.outcome == CLOSE_FRAME:
            lost = min(in_flight, end.held)
        if end.held > lost:
            idle.append(replace(end, held=end.held - lost))
        if lost:
            busy.append(replace(end, held=lost))
    return tuple(idle), tuple(busy)


def _is_lost(outcome: str) -> bool:
    known = BY_NAME.get(outcome)
    return known is not None and known.group == "lost"
