"""The path to another host: routers on it, the shortest round trip, and what the card does itself.

Datagrams are sent to a port on which nobody listens, with a growing time to live: routers and the
host answer with ICMP, which the kernel reports as an error of the socket. No program there takes
part, and no right is needed. A firewall that drops such datagrams leaves hops and round trip
unknown.

Source: ip(7), IP_TTL and IP_RECVERR; RFC 792 and 1122, 3.2.2; the kernel's `ethtool.h`.
"""

from __future__ import annotations

import array
import errno
import fcntl
import select
import socket
import struct
import time
from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING

from plimsoll.sampling.link import LOOPBACK

if TYPE_CHECKING:
    from plimsoll.recording import NetworkLink

MOST_HOPS = 30
PATIENCE_S = 0.3
TRIES = 3
CLOSED_PORT = 33_434
"""Where `traceroute` begins as well: hardly anybody listens there."""

OFFLOADS = {"tso": 0x1E, "gso": 0x23, "gro": 0x2B}
"""Commands of SIOCETHTOOL that ask whether an interface cuts and joins segments itself."""

_ETHTOOL = 0x8946
_IP_RECVERR, _IPV6_RECVERR = 11, 25
_VALUE = struct.Struct("II")
_REQUEST = struct.Struct("16sP16x")
_V4 = 4


def along(link: NetworkLink | None, address: str) -> NetworkLink | None:
    """A link with what is known of the path that begins with it.

    Args:
        link: The interface that leads to a server; None and loopback stay as they are.
        address: Address of the server: `10.0.0.9:8080`.
    """
    if link is None or link.interface == LOOPBACK:
        return link
    hops, rtt_s = _reached(address.rpartition(":")[0].strip("[]"))
    return replace(link, hops=hops, rtt_s=rtt_s, offloads=_offloads(link.interface))


def _reached(host: str) -> tuple[int | None, float | None]:
    """Links to a host, and the shortest round trip in seconds; None where it does not respond."""
    for hops in range(1, MOST_HOPS + 1):
        answer, took_s = _asked(host, hops)
        if answer == errno.ECONNREFUSED:
            others = (_asked(host, hops) for _ in range(TRIES - 1))
            return hops, min([took_s, *(again for code, again in others if code == answer)])
        if answer != errno.EHOSTUNREACH:
            break
    return None, None


def _asked(host: str, hops: int) -> tuple[int, float]:
    """The error by which somebody on the way answers, 0 for none; and after how many seconds."""
    is_v4 = ip_address(host).version == _V4
    family = socket.AF_INET if is_v4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        if is_v4:
            probe.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, hops)
            probe.setsockopt(socket.IPPROTO_IP, _IP_RECVERR, 1)
        else:
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, hops)
            probe.setsockopt(socket.IPPROTO_IPV6, _IPV6_RECVERR, 1)
        began_s = time.perf_counter()
        try:
            probe.connect((host, CLOSED_PORT))
            probe.send(b"")
        except OSError as error:
            return error.errno or 0, 0.0
        waiting = select.poll()
        waiting.register(probe, select.POLLERR)
        waiting.poll(PATIENCE_S * 1000)
        took_s = time.perf_counter() - began_s
        return probe.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), took_s


def _offloads(interface: str) -> tuple[str, ...]:
    """What an interface does itself, of `OFFLOADS`; nothing where it does not say."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        return tuple(name for name, code in OFFLOADS.items() if _is_on(asked, interface, code))


def _is_on(asked: socket.socket, interface: str, command: int) -> bool:
    value = array.array("B", _VALUE.pack(command, 0))
    request = _REQUEST.pack(interface.encode(), value.buffer_info()[0])
    try:
        fcntl.ioctl(asked, _ETHTOOL, request)
    except OSError:
        return False
    return bool(_VALUE.unpack(value.tobytes())[1])
