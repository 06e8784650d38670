"""Sockets: the queue of the server's listening sockets, and TCP's counters of the machine.

Source: sock_diag(7) and linux/inet_diag.h; `/proc/net/netstat`, `/proc/net/snmp` and
`/proc/net/sockstat` in proc_net(5), names as in the kernel's document on SNMP counters.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.conduct.tree import PROC

if TYPE_CHECKING:
    from plimsoll.conduct.scope import Scope

COUNTERS = {
    "TcpExt": {
        "ListenOverflows": "listen_overflows",
        "ListenDrops": "listen_drops",
        "SyncookiesSent": "syncookies_sent",
        "TCPReqQFullDrop": "request_queue_drops",
        "TCPTimeouts": "tcp_timeouts",
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

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST_DUMP = 0x301
_ERROR, _DONE = 2, 3
_LISTENING = 1 << 10
_MEMORY, _DROPS = 7, 8
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI 2s2s 16s16s I II")
_MESSAGE = struct.Struct("=BBBB 2s2s 16s16s I II IIIII")
_ATTRIBUTE = struct.Struct("=HH")


@dataclass(frozen=True)
class Listener:
    """One listening socket.

    Attributes:
        port: Its port.
        queue: Connections that wait to be accepted.
        backlog: The most that may wait.
        inode: Number of the socket; tells sockets of one port apart.
        drops: Attempts to connect that it dropped so far; None when the kernel does not say.
    """

    port: int
    queue: int
    backlog: int
    inode: int
    drops: int | None = None


def read(scope: Scope) -> dict[str, float]:
    """The listen queue of a server's port, or TCP's counters of the machine.

    Several sockets may listen on one port; queue, backlog and drops are sums over them.
    """
    if scope.tree is None:
        return _of_machine()
    return {} if scope.port is None else _of_port(scope.port)


def listeners(port: int) -> tuple[Listener, ...]:
    """The sockets that listen on a port, in the network namespace of this process.

    Args:
        port: The port; 0 for every port.

    Raises:
        OSError: The kernel does not answer such questions.

    Source:
        sock_diag(7): of a listening socket `idiag_rqueue` is the accept queue, `idiag_wqueue` its
        limit, SK_MEMINFO_DROPS what it dropped. Only listening sockets are asked for, so thousands
        of open connections cost nothing.
    """
    families = (socket.AF_INET, socket.AF_INET6)
    return tuple(listener for family in families for listener in _dump(family, port))


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


def parse_messages(data: bytes) -> tuple[tuple[Listener, ...], bool]:
    """The sockets in one datagram of an answer, and whether it was the last one.

    Args:
        data: Netlink messages, one after the other.

    Raises:
        OSError: The kernel answered with an error.
    """
    found: list[Listener] = []
    for kind, payload in _messages(data):
        if kind == _ERROR:
            number = -struct.unpack_from("=i", payload)[0]
            raise OSError(number, os.strerror(number))
        if kind == _DONE:
            return tuple(found), True
        found.append(_listener(payload))
    return tuple(found), False


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each netlink message; each starts at a multiple of four bytes."""
    at = 0
    while at + _HEADER.size <= len(data):
        length, kind, *_ = _HEADER.unpack_from(data, at)
        if length < _HEADER.size:
            raise OSError(errno.EBADMSG, os.strerror(errno.EBADMSG))
        yield kind, data[at + _HEADER.size : at + length]
        at += (length + 3) & ~3


def _listener(payload: bytes) -> Listener:
    fields = _MESSAGE.unpack_from(payload)
    port, queue, backlog, inode = fields[4], fields[12], fields[13], fields[15]
    drops = _drops(payload[_MESSAGE.size :])
    return Listener(int.from_bytes(port, "big"), queue, backlog, inode, drops)


def _drops(attributes: bytes) -> int | None:
    """What a socket dropped, by the attribute on its memory; None when there is no such."""
    at = 0
    while at + _ATTRIBUTE.size <= len(attributes):
        length, kind = _ATTRIBUTE.unpack_from(attributes, at)
        if length < _ATTRIBUTE.size:
            break
        if kind == _MEMORY and length >= _ATTRIBUTE.size + 4 * (_DROPS + 1):
            return struct.unpack_from("=I", attributes, at + _ATTRIBUTE.size + 4 * _DROPS)[0]
        at += (length + 3) & ~3
    return None


def _dump(family: int, port: int) -> list[Listener]:
    """Asks for the listening sockets of one address family."""
    found: list[Listener] = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)
        kernel.send(_question(family, port))
        while True:
            more, last = parse_messages(kernel.recv(1 << 16))
            found.extend(more)
            if last:
                return found


def _question(family: int, port: int) -> bytes:
    nothing = bytes(16)
    asked = _REQUEST.pack(
        family, socket.IPPROTO_TCP, 1 << (_MEMORY - 1), _LISTENING,
        port.to_bytes(2, "big"), bytes(2), nothing, nothing, 0, 0xFFFFFFFF, 0xFFFFFFFF,
    )  # fmt: skip
    length = _HEADER.size + len(asked)
    return _HEADER.pack(length, _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 0, 0) + asked


def _of_port(port: int) -> dict[str, float]:
    found = listeners(port)
    if not found:
        return {}
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
    values = parse_counters((net / "netstat").read_text())
    values |= parse_counters((net / "snmp").read_text())
    waiting = parse_time_wait((net / "sockstat").read_text())
    if waiting is not None:
        values["tcp_time_wait"] = waiting
    return values
