"""Was any answer faster than the way to the server and back?

No answer comes before a packet could go there and one come back. The kernel knows the least round
trip of each connection (TCP_INFO), and was asked once a second for those of the driver. Measured is
the least service time of the trial divided by the least round trip that was seen. A tenth less is
allowed, for not every connection was asked.

Pipelined requests share packets with others and are left out. Where the kernel was not asked, or
did not say, the least handshake by the rows takes its place, which is never less than a round trip:
it can show that all is well, but not the contrary, for a driver that opens thousands at once sees
each of them late.

Source: tcp(7), TCP_INFO; sock_diag(7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, not_asked, unknown, verdict

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "round_trip_floor"
SOURCE = "least service time against the kernel's least round trip; tcp(7), TCP_INFO"
REMEDY = "Do not use this trial: answers were counted that did not come from the server"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether every answer took at least a round trip."""
    return verdict(NAME, tables.recording.trial, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "floor_ratio")
    service_ns = tables.summary["service_time_min_ns"]
    if (tables.recording.load.get("pipeline") or 1) > 1:
        return not_asked(limit, "requests are pipelined, so one round trip may serve many")
    if service_ns is None:
        return unknown(limit, "nothing was answered in the hold", "Hold the load for longer")
    trips = [series.values.min() for series in tables.usage.of("driver", "round_trip_min_s")]
    if not trips:
        return _by_handshakes(tables, limit, service_ns)
    least_s = float(min(trips))
    sentence = (
        f"the fastest answer took {wording.seconds(service_ns / 1e9)}; the least round trip to the "
        f"server is {wording.seconds(least_s)} by the kernel"
    )
    ratio = service_ns / 1e9 / least_s if least_s else float("inf")
    return found(limit, min(ratio, 1e6), sentence, REMEDY)


def _by_handshakes(tables: Tables, limit: Limit, service_ns: float) -> Finding:
    handshake_ns = tables.summary["connect_min_ns"]
    told = f"the fastest answer took {wording.seconds(service_ns / 1e9)}"
    if handshake_ns and limit.level(service_ns / handshake_ns) == "sound":
        sentence = f"{told}, the fastest handshake {wording.seconds(handshake_ns / 1e9)}"
        return found(limit, service_ns / handshake_ns, sentence, "")
    sentence = f"{told}; the least round trip to the server could not be read"
    return unknown(limit, sentence, "Hold the load for some seconds, and keep connections alive")
