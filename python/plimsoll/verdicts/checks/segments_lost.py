"""Did packets get lost on the way, or connections break?

Measured is how many of all segments that the host sent in the holds it sent again. What is lost is
repeated after 200 ms or more, so a few losses are the slowest answers of a trial. Where a load
keeps its connections, those that were reset or could not be opened in the holds count, too, but for
the last second, in which the load's own begin to end. The counters are those of the whole host:
fewer than ten may be another program's and do not count.

Source: RFC 6298; `RetransSegs`, `OutSegs`, `TCPTimeouts`, `AttemptFails`, `EstabResets` and
`OutRsts` in the kernel's document on SNMP counters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.aggregate.query import SECOND_NS
from plimsoll.verdicts import wording
from plimsoll.verdicts.finding import Finding, found, unknown, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Window
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "segments_lost"
SOURCE = "Tcp RetransSegs / OutSegs of the host in the holds; RFC 6298"
BROKEN = ("tcp_resets_sent", "tcp_established_resets", "tcp_attempt_fails")
"""Counters of the same event on either side, of which the greatest counts."""
FEWEST = 10.0
"""So few may be another program's."""


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether packets got lost on the way."""
    findings = [_again(tables, limits), *_broken(tables, limits)]
    return verdict(NAME, tables.recording.trial, findings, SOURCE)


def _broken(tables: Tables, limits: Limits) -> list[Finding]:
    """Connections reset, or not opened, where each should have been kept."""
    load, inside = tables.recording.load, _inside(tables.holds)
    counts = [tables.usage.growth("machine", name, inside) for name in BROKEN]
    known = [count for count in counts if count is not None]
    sent = tables.usage.growth("machine", "tcp_segments_out", inside)
    is_kept = load.get("keep_alive", True) and not load.get("requests_per_connection")
    if not known or not sent or not is_kept:
        return []
    broken = max(known) if max(known) >= FEWEST else 0.0
    sentence = (
        f"{wording.count(max(known))} connections of this host were reset, or could not be opened, "
        f"in the hold, in {wording.count(sent)} segments"
    )
    remedy = "See in `server.log` why connections broke, or what else on this host lost its own"
    return [found(limits.of(NAME, "broken_ratio"), broken / sent, sentence, remedy)]


def _inside(holds: Sequence[Window]) -> list[Window]:
    """The holds without their last second, whose reading may see the load's own connections end."""
    return [(start, end - SECOND_NS) for start, end in holds if end - start > SECOND_NS]


def _again(tables: Tables, limits: Limits) -> Finding:
    limit = limits.of(NAME, "retransmitted_ratio")
    again, sent, late = (
        tables.usage.growth("machine", name, tables.holds)
        for name in ("tcp_retransmits", "tcp_segments_out", "tcp_timeouts")
    )
    if again is None or not sent:
        sentence = "how many segments were sent twice could not be read"
        return unknown(limit, sentence, "Measure on a host whose counters can be read")
    if again < FEWEST:
        number = "no" if again < 1 else wording.count(again)
        return found(limit, 0.0, f"{number} segments were sent again in the hold", "")
    waited = "" if late is None else f", {wording.count(late)} times after a long wait"
    sentence = (
        f"{wording.count(again)} of {wording.count(sent)} segments were sent again in the hold "
        f"({wording.percent(again / sent)}{waited}): packets got lost, and their requests are slow"
    )
    remedy = "See where packets are dropped: the listen queue, the link, or a full socket"
    return found(limit, again / sent, sentence, remedy)
