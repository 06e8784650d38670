"""Was any response faster than the network round trip?

No response can arrive before a packet has reached the server and another has come back. The kernel
knows the minimum round trip of each connection (TCP_INFO), and Plimsoll reads it once a second for
the load generator's connections. The check divides the minimum service time of the trial by the
minimum round trip seen. It allows a tenth less, because not every connection was read.

Pipelined requests share packets with others and are left out. If the kernel's values are missing,
the fastest handshake in the rows takes their place. A handshake never takes less than a round trip,
so it can show that all is well, but not the contrary: a load generator that opens thousands at once
sees each of them late.

Whatever the network, no response takes less than a microsecond: if half of them do, the times are
in another unit than that of the tool. Times that are all below the resolution of the log are
unknown.

Source: tcp(7), TCP_INFO; sock_diag(7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.verdicts.finding import (
    Finding,
    Remedy,
    found,
    inapplicable,
    led_by,
    not_checked,
    of_trial,
    unread_host,
)
from plimsoll.verdicts.limits import PROPOSAL, Limit, capped_ratio
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "round_trip_floor"
TITLE = "Round trip floor"
PROBLEM = "Faster than a round trip"
SOURCE = "least service time against the kernel's least round trip; tcp(7), TCP_INFO"
FLOOR_RATIO = Limit(
    NAME,
    "floor_ratio",
    "below",
    None,
    0.9,
    "ratio",
    "least service time / least round trip by the kernel",
    PROPOSAL,
)
MEDIAN_S = Limit(
    NAME,
    "median_s",
    "below",
    None,
    1e-6,
    "s",
    "median service time",
    "sending and receiving are system calls, and each takes some tenths of a microsecond",
)
RESOLUTION_RATIO = Limit(
    NAME,
    "resolution_ratio",
    "below",
    1.0,
    None,
    "ratio",
    "longest service time / resolution of the times of another tool's log",
    "a time below the resolution is unknown",
)
LIMITS = (FLOOR_RATIO, MEDIAN_S, RESOLUTION_RATIO)
NEEDS = EveryRequest(FLOOR_RATIO, "the time of the fastest response is unknown")
ROLE = Role()
TRIP = ("driver", "round_trip_min_s")
UNIT = Remedy(
    "Look for the unit in which the load generator reports times",
    imported="Check the unit of the times in the log: it must be that of the tool",
)
REMEDY = "Discard these numbers: some responses did not come from the server"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether every response took at least a round trip."""
    findings = led_by(_finding(tables, limits), *_impossible(tables, limits))
    return of_trial(NAME, tables.recording, findings, SOURCE)


def _impossible(tables: Tables, limits: Limits) -> Iterator[Finding]:
    """Times that are below any response's, or below the resolution of the log."""
    times, driver = tables.summary.service_time, tables.recording.driver
    limit, step_s = limits.of(MEDIAN_S), 0.0 if driver is None else driver.durations_step_s
    if times.p50_ns is None or times.max_ns is None or tables.recording.load.events:
        return
    if step_s:
        ratio = times.max_ns / SECOND_NS / step_s
        yield found(limits.of(RESOLUTION_RATIO), ratio, _below_resolution(tables, step_s), UNIT)
    if step_s < (limit.void or 0.0):
        sentence = (
            f"half of the responses took {wording.duration(times.p50_ns)} or less: no response "
            "takes less than 1 µs"
        )
        yield found(limit, times.p50_ns / SECOND_NS, sentence, UNIT)


def _below_resolution(tables: Tables, step_s: float) -> str:
    return (
        f"all {wording.count(tables.summary.completed)} responses took less than "
        f"{wording.seconds(step_s)}, the resolution of the log: how long they took is unknown"
    )


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(FLOOR_RATIO)
    service_ns = tables.summary.service_time.min_ns
    if tables.recording.load.in_flight_each > 1:
        sentence = "connections carry several requests, so one round trip may serve many"
        return inapplicable(limit, sentence)
    if tables.recording.load.events:
        return inapplicable(limit, "events have no requests of their own")
    if not tables.recording.is_over_tcp:
        return inapplicable(limit, "the kernel measures no round trip over a Unix socket")
    if service_ns is None:
        return not_checked(limit, "no request got a response in the measurement window")
    trips = [series.values.min() for series in tables.usage.of(*TRIP)]
    if not trips:
        return _by_handshakes(tables, limit, service_ns)
    least_s = float(min(trips))
    sentence = (
        f"the fastest response took {wording.seconds(service_ns / 1e9)}; the least round trip to "
        "the "
        f"server is {wording.seconds(least_s)} by the kernel"
    )
    return found(limit, capped_ratio(service_ns / 1e9, least_s), sentence, REMEDY)


def _by_handshakes(tables: Tables, limit: Limit, service_ns: float) -> Finding:
    handshake_ns = tables.summary.connect.min_ns
    clause = f"the fastest response took {wording.seconds(service_ns / 1e9)}"
    if handshake_ns and limit.level(service_ns / handshake_ns) == "sound":
        sentence = f"{clause}, the fastest handshake {wording.seconds(handshake_ns / 1e9)}"
        return found(limit, service_ns / handshake_ns, sentence, "")
    sentence = f"{clause}; the least round trip to the server could not be read"
    return unread_host(limit, tables.usage, [TRIP], sentence)
