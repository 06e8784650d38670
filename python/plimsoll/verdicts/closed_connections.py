"""Connections that a server closed under load, in words for several checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.outcomes import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.check_inputs import ConnectionEnd
    from plimsoll.aggregate.trial import Tables

ORDERLY = ("closed_as_announced", "closed_idle")
"""Ends by the server that no request was lost by: announced in a response, or between requests."""


def orderly(tables: Tables) -> tuple[ConnectionEnd, ...]:
    """Connections that the server closed in the holds without losing a request."""
    return tuple(end for end in tables.connection_ends if end.held and end.outcome in ORDERLY)


def abrupt(tables: Tables) -> tuple[ConnectionEnd, ...]:
    """Connections that the server closed or reset in the holds with a request on them."""
    return tuple(end for end in tables.connection_ends if end.held and _is_lost(end.outcome))


def closes_each(tables: Tables) -> bool:
    """Whether the server closed connections after one response, and none after more."""
    ends = (*orderly(tables), *abrupt(tables))
    return bool(ends) and all(end.most_responses == 1 for end in ends)


def lost_requests(tables: Tables) -> int:
    """Requests of the holds that such connections took with them."""
    return sum(row.held for row in tables.outcome_counts if _is_lost(row.outcome))


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


def _is_lost(outcome: str) -> bool:
    known = BY_NAME.get(outcome)
    return known is not None and known.group == "lost"
