"""Did ends of responses wait for the client's delayed ACK?

A server that sends a response in parts and leaves Nagle's algorithm on sends the last part only
after the first is acknowledged. Linux delays an ACK that nothing else carries by 40 ms, rounded up
to its clock ticks. Each response then takes 40 to 44 ms, in which the server does no work.

The check counts the responses whose end came 38 to 50 ms after their first byte. From 1 % on this
wait is the 99th percentile, so more is doubtful. Two things distinguish a server that itself waits
or streams for about as long:

- its times scatter: no cluster is found if more than a quarter of the responses that took 19 to
  100 ms are outside of these 12 ms;
- it delays the first response on a new connection, too, which Linux acknowledges at once (quick
  ACKs). The 95 % interval of the delayed share of first responses must lie below that of all, and
  most of them must be prompt. From 19 ms on a first response counts as delayed: the processors of a
  busy machine may add to the server's wait, or read its first byte late.

After a handshake of TLS, an upgrade to WebSocket or the preface of HTTP/2 a first response may be
delayed as well. There, and where the load generator does not record connections, both servers look
alike. So do a server that waits from its second response on, and ACKs delayed by a client that is
not Linux.

Source: `TCP_DELACK_MIN` (HZ/25) and `TCP_MAX_QUICKACKS` of Linux, include/net/tcp.h; RFC 1122,
4.2.3.2 and 4.2.3.4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.statistics.proportions import proportion_interval
from plimsoll.verdicts.finding import Finding, found, inapplicable, not_checked, of_trial
from plimsoll.verdicts.limits import Limit
from plimsoll.verdicts.needs import EveryRequest
from plimsoll.verdicts.role import Cause, Role

if TYPE_CHECKING:
    from plimsoll.aggregate.check_inputs import LateEnds
    from plimsoll.aggregate.trial import Tables
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "delayed_ack"
TITLE = "Delayed ACK"
PROBLEM = "Waits for delayed ACKs"
SOURCE = "times from first byte to end of responses; TCP_DELACK_MIN of Linux"
WAITED_RATIO = Limit(
    NAME,
    "waited_ratio",
    "above",
    0.01,
    None,
    "ratio",
    "responses whose end waited for the client's delayed ACK / responses",
    "from 1 % on, the wait is the 99th percentile",
)
LIMITS = (WAITED_RATIO,)
NEEDS = EveryRequest(WAITED_RATIO, "when responses began and ended is unknown")
WAIT_NS = (38_000_000, 50_000_000)
"""40 ms, and up to a tick of 10 ms more (HZ = 100); less, where the first byte is read late."""
CLUSTERED_RATIO = 0.75
"""Share of the responses near this time that must be within it."""
FEWEST = 10
"""Fewer delayed responses show no cluster."""
REMEDY = "Set TCP_NODELAY on the server's connections, or send head and body in one call"


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether ends of responses waited for the client's delayed ACK."""
    return of_trial(NAME, tables.recording, [_finding(tables, limits)], SOURCE)


def _finding(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(WAITED_RATIO)
    if tables.recording.load.events:
        return inapplicable(limit, "events come when the server sends them, not in one response")
    ends = tables.late_ends(WAIT_NS)
    if not ends.ended:
        return not_checked(limit, "first byte and end are not known for any response")
    late_ratio = ends.late / ends.ended
    if limit.level(late_ratio) == "sound" or not _is_clustered(ends):
        return found(limit, 0.0, "no responses waited 40 ms for an ACK of their first part", "")
    seen = f"the last part of {wording.percent(late_ratio)} of responses came 40 ms after the first"
    if _are_first_ones_prompt(ends, late_ratio):
        return _waited(tables, limit, late_ratio, seen)
    if _is_acknowledged_at_once(tables, ends):
        sentence = (
            f"{seen}, also on new connections, where ACKs are prompt: the server itself waits"
        )
        return found(limit, 0.0, sentence, "")
    sentence = f"{seen}: a delayed ACK, or the server's own wait; this load cannot tell which"
    return not_checked(limit, sentence)


def _waited(tables: Tables, limit: Limit, late_ratio: float, seen: str) -> Finding:
    sentence = f"{seen}: Nagle's algorithm on the server waits for the client's delayed ACK"
    first_byte_ns = tables.summary.first_byte.p50_ns
    means = (
        f"this wait is not service time: the server's first bytes came after a median of "
        f"{wording.duration(first_byte_ns)}"
    )
    return found(limit, late_ratio, sentence, REMEDY, means)


def _is_clustered(ends: LateEnds) -> bool:
    return ends.late >= FEWEST and ends.late >= CLUSTERED_RATIO * (ends.late + ends.near)


def _are_first_ones_prompt(ends: LateEnds, late_ratio: float) -> bool:
    """Whether most first responses were prompt, and more of them than of all, beyond chance."""
    if 2 * ends.late_first >= ends.connections:
        return False
    return proportion_interval(ends.late_first, ends.connections).high < late_ratio


def _is_acknowledged_at_once(tables: Tables, ends: LateEnds) -> bool:
    """Whether first responses on connections are known to have been acknowledged at once.

    As many as were delayed would then be impossible if delayed ACKs were the reason.
    """
    load = tables.recording.load
    return ends.late_first > 0 and load.protocol == "http1" and not load.tls


def _cause(_: Tables, verdict: Verdict) -> Cause | None:
    """Why neither the server nor anything else was saturated."""
    if not verdict.is_doubting:
        return None
    return Cause(NAME, "the server waited for delayed ACKs", "delayed_acks")


ROLE = Role(tells=_cause)
