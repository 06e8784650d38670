"""The end of a load of so many requests, where connections have none left to send."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables


def tail_ratio(tables: Tables) -> float:
    """Share of the holds, at most, in which requests ran out: 0 where time ended the load.

    The last request begins no earlier than the longest service time before the end.
    """
    driver, longest_ns = tables.recording.driver, tables.summary.service_time.max_ns
    held_ns = sum(end - start for start, end in tables.holds)
    if driver is None or driver.ended_by != "request_limit" or not longest_ns or not held_ns:
        return 0.0
    return min(longest_ns / held_ns, 1.0)
