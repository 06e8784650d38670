"""Were packets lost on the way, or did connections break?

The check measures how many of all segments that the host sent in the measurement windows were
retransmissions. A lost segment is repeated after 200 ms or more, so a few losses are the slowest
responses of a trial. If the load keeps its connections, connections that were reset or could not be
opened in the measurement windows count, too. The last second does not, because the load's own
connections begin to end in it.

Of several hosts the one that repeated the greatest share counts: requests are lost on one way, and
responses on the other. The counters cover the whole host, so they count only as far as they can
belong to this trial. Broken connections are at most those that the load lost or could not open. On
loopback, retransmitted segments are at most the requests and handshakes that took as long as the
kernel waits before it retransmits. Fewer than ten do not count. Nor do segments that had arrived: a
kernel also sends them again where an acknowledgement is late, as from a host without a free core,
and the receiver reports the duplicates. If the firewall of a host dropped
packets because its table of connections was full, the remedy names that host.

Source: RFC 6298; RFC 2883 for duplicates; `RetransSegs`, `OutSegs`, `TCPDSACKRecvSegs`,
`TCPTimeouts`, `AttemptFails`, `EstabResets` and `OutRsts` in the kernel's document on SNMP
counters.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.aggregate.outcomes import NOT_FAILED
from plimsoll.aggregate.query import SECOND_NS
from plimsoll.recording import HOST, host_in_words
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
from plimsoll.verdicts.limits import PROPOSAL, Limit
from plimsoll.verdicts.role import Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.aggregate.trial import Tables
    from plimsoll.aggregate.usage import Usage, Window
    from plimsoll.verdicts.limits import Limits
    from plimsoll.verdicts.verdict import Verdict

NAME = "segments_lost"
TITLE = "Segments lost"
PROBLEM = "Segments lost"
SOURCE = "Tcp RetransSegs / OutSegs of the host in the measurement window; RFC 6298"
RETRANSMITTED_RATIO = Limit(
    NAME,
    "retransmitted_ratio",
    "above",
    0.001,
    None,
    "ratio",
    "segments that the host retransmitted in the measurement window / segments sent",
    PROPOSAL,
)
BROKEN_RATIO = Limit(
    NAME,
    "broken_ratio",
    "above",
    0.001,
    None,
    "ratio",
    "connections reset or refused on the host in the measurement window / segments sent",
    PROPOSAL,
)
LIMITS = (
    RETRANSMITTED_RATIO,
    BROKEN_RATIO,
)
NEEDS = None
ROLE = Role(misled_by=frozenset({"full_queue"}))
BROKEN = ("tcp_resets_sent", "tcp_established_resets", "tcp_attempt_fails")
"""Counters of the same event on either side, of which the greatest counts."""
AGAIN = ("machine", "tcp_retransmits")
FEWEST = 10.0
"""So few may belong to another program."""
WHERE_DROPPED = (
    "Find where packets are dropped: the listen queue, the link, or a full socket buffer"
)
BETWEEN_HOSTS = (
    "Find where packets are dropped: the listen queue, a full socket buffer, or a switch or link "
    "between these hosts"
)
RESENT_S = 0.2
"""Linux waits at least so long for an acknowledgement (TCP_RTO_MIN)."""
HERE = "lo"
THIS = "this host"
WHY_BROKEN = Remedy(
    "Find in `server.log` why connections broke", "Find in the server's log why connections broke"
)


def judge(tables: Tables, limits: Limits) -> Verdict:
    """Whether packets were lost on the way."""
    if tables.recording.is_over_tcp:
        findings = led_by(_again(tables, limits), *_broken(tables, limits))
    else:
        sentence = "a Unix socket sends no packets"
        findings = [inapplicable(limits.of(RETRANSMITTED_RATIO), sentence)]
    return of_trial(NAME, tables.recording, findings, SOURCE)


def _broken(tables: Tables, limits: Limits) -> list[Finding]:
    """Connections reset, or not opened, where each should have been kept."""
    load, inside = tables.recording.load, _inside(tables.holds)
    counts = [tables.usage.growth("machine", name, inside) for name in BROKEN]
    known = [count for count in counts if count is not None]
    sent = tables.usage.growth("machine", "tcp_segments_out", inside)
    is_kept = load.keeps_connections
    if not known or not sent or not is_kept:
        return []
    limit, on_host, own = limits.of(BROKEN_RATIO), max(known), _own_broken(tables)
    clause = f"{wording.count(on_host)} connections of {_whose(tables)} were reset or refused"
    if on_host >= FEWEST and own is not None and own < FEWEST:
        sentence = f"{clause}, {wording.count(own)} of this load: they belong to other programs"
        return [not_checked(limit, sentence)]
    broken = min(on_host, on_host if own is None else own)
    ratio = broken / sent if broken >= FEWEST else 0.0
    sentence = f"{clause} in the measurement window, in {wording.count(sent)} segments"
    return [found(limit, ratio, sentence, WHY_BROKEN)]


def _own_broken(tables: Tables) -> float | None:
    """Connections that this load lost, or could not open; None if nothing tells.

    Without rows, a load that opened each connection once and had no failed request lost none.
    """
    lost, refused = tables.summary.connections_lost, tables.summary.connections_refused
    if lost is not None and refused is not None:
        return float(lost + refused)
    driver = tables.recording.driver
    if driver is None or not driver.outcomes or driver.opened is None:
        return None
    is_reopened = driver.refused or driver.opened > (driver.connections_requested or 0)
    has_failed = any(count for name, count in driver.outcomes.items() if name not in NOT_FAILED)
    return None if is_reopened or has_failed else 0.0


def _whose(tables: Tables) -> str:
    """The hosts whose counters are read: the server's, or all others where that was not read."""
    recording, known = tables.recording, tables.usage.hosts
    if not recording.hosts:
        return THIS
    read = [
        host for host, series in known.items() if any(("machine", one) in series for one in BROKEN)
    ]
    chosen = [recording.server_host] if recording.server_host in read else read
    return wording.listed([*map(host_in_words, chosen)])


def _inside(holds: Sequence[Window]) -> list[Window]:
    """The holds without their last second, whose reading may see the load's own connections end."""
    return [(start, end - SECOND_NS) for start, end in holds if end - start > SECOND_NS]


def _own_late(tables: Tables) -> float | None:
    """Requests and handshakes of this load that may have waited for a lost segment, at most.

    Over a network a loss may be repaired sooner, when later segments arrive, so the number is
    unknown there; loopback has no losses of that kind.
    """
    server, summary = tables.recording.server, tables.summary
    connect_ns = summary.connect.max_ns
    if server is None or server.link != HERE or connect_ns is None or tables.requests is None:
        return None
    handshakes = summary.connections_opened or 0 if connect_ns >= RESENT_S * 1e9 else 0
    return float(tables.slower_than(int(RESENT_S * 1e9)) + handshakes)


def _again(tables: Tables, limits: Limits) -> Finding:
    """Segments sent again by the host that, of all that took part, lost the greatest share."""
    if not tables.recording.hosts:
        return _again_by(THIS, tables.usage, tables, limits)
    readings = {host: tables.usage.of_host(host) for host in tables.usage.hosts}
    findings = [
        _again_by(f"`{host}`", of_host, tables, limits)
        for host, of_host in readings.items()
        if of_host.of(*AGAIN)
    ]
    if not findings:
        return _again_by(THIS, tables.usage, tables, limits)
    worst = max(findings, key=lambda finding: finding.measured or 0.0)
    if all(finding.measured == 0 for finding in findings):
        fewest = wording.count(FEWEST)
        sentence = f"fewer than {fewest} segments were retransmitted on each host"
        return replace(worst, sentence=sentence)
    return worst


def _again_by(host: str, readings: Usage, tables: Tables, limits: Limits) -> Finding:
    """Segments that one host sent again, without those that had arrived."""
    limit = limits.of(RETRANSMITTED_RATIO)
    again, sent, late, twice = (
        readings.growth("machine", name, tables.holds)
        for name in ("tcp_retransmits", "tcp_segments_out", "tcp_timeouts", "tcp_duplicates")
    )
    if again is None or not sent:
        sentence = "retransmitted segments could not be read"
        return unread_host(limit, readings, [AGAIN], sentence)
    arrived = min(again, twice or 0.0)
    again -= arrived
    twice_sent = f", and {wording.count(arrived)} that had arrived" if arrived >= 1 else ""
    if again < FEWEST:
        number = "no" if again < 1 else wording.count(again)
        sentence = f"{number} segments were retransmitted on {host}{twice_sent}"
        return found(limit, 0.0, sentence, "")
    own = _own_late(tables)
    if own is not None and own < FEWEST:
        few = "none" if not own else f"only {wording.count(own)}"
        sentence = (
            f"{host} retransmitted {wording.count(again)} segments, but {few} of this load: "
            f"{'no' if not own else 'few'} requests took {wording.seconds(RESENT_S)}, the least "
            "wait before a retransmission"
        )
        return not_checked(limit, sentence)
    lost = again if own is None else min(again, own)
    waited = "" if late is None else f", {wording.count(late)} after a timeout"
    most = f", at most {wording.count(lost)} of this load" if lost < again else ""
    whose = "" if host == THIS else f" of {host}"
    sentence = (
        f"{wording.count(again)} of {wording.count(sent)} segments{whose} were retransmitted"
        f"{waited}{most}{twice_sent} ({wording.percent(lost / sent)}): packets were lost, and "
        "their requests were slow"
    )
    elsewhere = BETWEEN_HOSTS if tables.recording.hosts else WHERE_DROPPED
    return found(limit, lost / sent, sentence, _full_tables(tables) or elsewhere)


def _full_tables(tables: Tables) -> str:
    """Which hosts' firewalls dropped packets, as a remedy; empty where none is known to."""
    dropping = [
        THIS if host == HOST else f"`{host}`"
        for host in tables.usage.hosts
        if tables.usage.machine_rate(host, "tracking_drops", tables.holds)
    ]
    if not dropping:
        return ""
    return (
        f"Raise `net.netfilter.nf_conntrack_max` on {wording.listed(dropping)}: the firewall's "
        "table of connections was full, and it dropped packets"
    )
