"""Pace: how many responses came in each part of a stretch of time, and how soon."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.aggregate import query
from plimsoll.aggregate.engine_records import EngineRecords, as_stored

if TYPE_CHECKING:
    from plimsoll.aggregate.query import Rows
    from plimsoll.aggregate.usage import Window

_LARGEST = 1 << 63
"""Whole numbers of eight bytes are below it."""


def pace(requests: Rows, window: Window, parts: int) -> list[int]:
    """Complete responses in equal parts of a stretch of time.

    Args:
        requests: The table `requests` of a trial.
        window: First instant of the stretch and its end, in nanoseconds since zero.
        parts: Number of parts.

    Returns:
        One number for each part, 0 without responses.
    """
    if isinstance(requests, EngineRecords):
        return requests.pace(window, parts)
    return _counted("pace", requests, window, parts)


def arrivals(requests: Rows, window: Window, parts: int) -> list[int]:
    """Requests of an open load that were due in equal parts of a stretch of time.

    Args:
        requests: The table `requests` of a trial.
        window: First instant of the stretch and its end, in nanoseconds since zero.
        parts: Number of parts.

    Returns:
        One number for each part, 0 where none was due.
    """
    return _counted("arrivals", as_stored(requests), window, parts)


def median_times(requests: Rows, window: Window, parts: int) -> list[tuple[int, float]]:
    """Complete responses in equal parts of a stretch of time, and their median service time.

    Args:
        requests: The table `requests` of a trial.
        window: First instant of the stretch and its end, in nanoseconds since zero.
        parts: Number of parts.

    Returns:
        Number and median in nanoseconds for each part that has responses, in order.
    """
    if isinstance(requests, EngineRecords):
        return requests.median_times(window, parts)
    limits = {"from_ns": window[0], "until_ns": window[1], "parts": parts}
    with query.opened(requests=requests) as database:
        rows = database.execute(_statement("median_times", window, parts), limits).fetchall()
    return [(int(completed), float(median_ns)) for _, completed, median_ns in rows]


def _counted(name: str, requests: Rows, window: Window, parts: int) -> list[int]:
    """What a query counts in each of equal parts of a stretch of time, 0 where nothing is."""
    limits = {"from_ns": window[0], "until_ns": window[1], "parts": parts}
    with query.opened(requests=requests) as database:
        found = dict(database.execute(_statement(name, window, parts), limits).fetchall())
    return [int(found.get(part, 0)) for part in range(parts)]


def _statement(name: str, window: Window, parts: int) -> str:
    """A statement that divides instants into parts, in wider numbers where these are too large.

    Wide ones take ten times as long.
    """
    text = query.text(name)
    if (window[1] - window[0]) * parts < _LARGEST:
        return text
    return re.sub(r"\((\w+_ns - \$from_ns::BIGINT)\)", r"(\1)::HUGEINT", text)
