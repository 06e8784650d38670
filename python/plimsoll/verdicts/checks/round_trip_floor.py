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

from plimsoll import wording
from plimsoll.verdicts.finding import Finding, found, not_checked, of_trial, unread_host
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.needs import EveryRequest

if TYPE_CHECKING:
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limit, Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "round_trip_floor"
TITLE = "Round trip floor"
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
LIMITS = (FLOOR_RATIO,)
NEEDS = EveryRequest(FLOOR_RATIO, "how long the fastest response took is unknown")
TRIP = ("driver", "round_trip_min_s")
REMEDY = "Discard these numbers: some responses did not come from the server"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether every answer took at least a round trip."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(FLOOR_RATIO)
    service_ns = tables.summary.service_time.min_ns
    if tables.recording.load.pipeline > 1:
        return not_checked(limit, "requests are pipelined, so one round trip may serve many")
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
    ratio = service_ns / 1e9 / least_s if least_s else float("inf")
    return found(limit, min(ratio, 1e6), sentence, REMEDY)


def _by_handshakes(tables: Tables, limit: Limit, service_ns: float) -> Finding:
    handshake_ns = tables.summary.connect.min_ns
    told = f"the fastest response took {wording.seconds(service_ns / 1e9)}"
    if handshake_ns and limit.level(service_ns / handshake_ns) == "sound":
        sentence = f"{told}, the fastest handshake {wording.seconds(handshake_ns / 1e9)}"
        return found(limit, service_ns / handshake_ns, sentence, "")
    sentence = f"{told}; the least round trip to the server could not be read"
    return unread_host(limit, tables.usage, [TRIP], sentence)
