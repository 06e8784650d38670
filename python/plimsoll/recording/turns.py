"""Turns: what one server did while others rested."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Turn:
    """What one server did in one of its turns.

    Attributes:
        group: Which processes it had: each group starts fresh ones.
        round: Which round of the group, from 0; in a round every server has one turn.
        entry: Whose turn it was.
        start_ns: Its begin by CLOCK_MONOTONIC.
        duration_ns: Until the last request of the turn ended.
        requests: Complete and correct responses.
        failures: Requests that ended otherwise.
        server_cpu_ns: CPU time of the server's processes within the turn; None when unknown, as in
            a turn in which one of them ended, or of a server that works in short-lived ones.
        driver_cpu_ns: The same of the load generator.
        server_delay_ns: Time that threads of the server were ready to run and waited for a core,
            all together; None when unknown.
        driver_delay_ns: The same of the load generator.
        planned_ns: For how long requests began; the rest is the wait for the last responses.
            None when unknown.
        p50_ns: Median response time within the turn; None when not worked out.
        p99_ns: The 99th percentile of the same.
    """

    group: int
    round: int
    entry: str
    start_ns: int
    duration_ns: int
    requests: int
    failures: int
    server_cpu_ns: int | None
    driver_cpu_ns: int | None
    server_delay_ns: int | None
    driver_delay_ns: int | None
    planned_ns: int | None = None
    p50_ns: int | None = None
    p99_ns: int | None = None
