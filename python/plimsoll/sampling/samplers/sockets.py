"""Sockets: the server's listen queue and connections, the driver's round trips, TCP's counters.

Source: `sampling.sock_diag`; `/proc/net/netstat`, `/proc/net/snmp` and `/proc/net/sockstat` in
proc_net(5), names as in the kernel's document on SNMP counters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.processes.tree import PROC, shown
from plimsoll.sampling import sock_diag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.sampling.scope import Scope
    from plimsoll.sampling.sock_diag import Listener

COUNTERS = {
    "TcpExt": {
        "ListenOverflows": "listen_overflows",
        "ListenDrops": "listen_drops",
        "SyncookiesSent": "syncookies_sent",
        "TCPReqQFullDrop": "request_queue_drops",
        "TCPTimeouts": "tcp_timeouts",
        "TCPDSACKRecvSegs": "tcp_duplicates",
    },
    "Tcp": {
        "ActiveOpens": "tcp_active_opens",
        "PassiveOpens": "tcp_passive_opens",
        "AttemptFails": "tcp_attempt_fails",
        "EstabResets": "tcp_established_resets",
        "OutRsts": "tcp_resets_sent",
        "InSegs": "tcp_segments_in",
        "OutSegs": "tcp_segments_out",
        "RetransSegs": "tcp_retransmits",
        "CurrEstab": "tcp_established",
    },
}
"""The kernel's names and ours."""

_MANY = 4000
"""Where a host has more connections, those of the server are counted in thorough readings only."""


def read(scope: Scope) -> dict[str, float]:
    """The listen queue of a server's port, or TCP's counters of the machine.

    Several sockets may listen on one port; queue, backlog and drops are sums over them. Of a driver
    it is the least round trip to the server that it connects to.
    """
    if scope.tree is None:
        return _of_machine()
    if scope.peer:
        return _of_driver(scope.peer)
    if scope.port is None:
        return {}
    known = sock_diag.listeners(scope.port)
    own = sock_diag.serving(known, scope.host)
    return _queues(own) | _accepted(scope, known) if own else {}


def parse_counters(text: str) -> dict[str, float]:
    """The counters of `COUNTERS` that a text has, by our names.

    Args:
        text: Pairs of lines, names above values, as in `/proc/net/netstat` and `/proc/net/snmp`.
    """
    values: dict[str, float] = {}
    lines = text.splitlines()
    for names, numbers in zip(lines[::2], lines[1::2], strict=False):
        group, *keys = names.split()
        wanted = COUNTERS.get(group.rstrip(":"), {})
        for key, number in zip(keys, numbers.split()[1:], strict=False):
            if key in wanted:
                values[wanted[key]] = int(number)
    return values


def parse_time_wait(text: str) -> int | None:
    """Sockets in the state TIME_WAIT; None when the text does not say.

    Args:
        text: The content of `/proc/net/sockstat`.
    """
    for line in text.splitlines():
        name, *fields = line.split()
        if name == "TCP:":
            return int(dict(zip(fields[::2], fields[1::2], strict=True))["tw"])
    return None


def _of_driver(server: str) -> dict[str, float]:
    trip_s = sock_diag.least_round_trip_s(server)
    return {} if trip_s is None else {"round_trip_min_s": trip_s}


def _accepted(scope: Scope, known: Sequence[Listener]) -> dict[str, float]:
    """Connections of the server by the kernel, where counting them costs little."""
    counters = parse_counters(shown(PROC / "net" / "snmp"))
    if not scope.thorough and counters.get("tcp_established", 0.0) > _MANY:
        return {}
    return {"connections_established": sock_diag.established(scope.port or 0, scope.host, known)}


def _queues(found: Sequence[Listener]) -> dict[str, float]:
    values: dict[str, float] = {
        "listen_queue": sum(listener.queue for listener in found),
        "listen_backlog": sum(listener.backlog for listener in found),
    }
    drops = [listener.drops for listener in found if listener.drops is not None]
    if drops:
        values["listen_drops"] = sum(drops)
    return values


def _of_machine() -> dict[str, float]:
    net = PROC / "net"
    values = parse_counters(shown(net / "netstat"))
    values |= parse_counters(shown(net / "snmp"))
    waiting = parse_time_wait(shown(net / "sockstat"))
    if waiting is not None:
        values["tcp_time_wait"] = waiting
    return values
