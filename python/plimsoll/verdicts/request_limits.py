"""Loads of so many requests: which they are, and their end, where connections have none left."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.recording import Recording


def is_counted(recording: Recording) -> bool:
    """Whether the load was given by a number of requests, and not ended by its length before."""
    load, driver = recording.load, recording.driver
    if load.model == "unknown" or not load.request_limit:
        return False
    return load.model == "open" or driver is None or driver.ended_by != "schedule"


def tail_ratio(tables: Tables) -> float:
    """Share of the holds, at most, in which requests ran out: 0 where time ended the load.

    The last request begins no earlier than the longest service time before the end.
    """
    driver, longest_ns = tables.recording.driver, tables.summary.service_time.max_ns
    held_ns = tables.recording.held_ns
    if driver is None or driver.ended_by != "request_limit" or not longest_ns or not held_ns:
        return 0.0
    return min(longest_ns / held_ns, 1.0)
