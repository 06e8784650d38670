"""The kernel's sockets of TCP, asked for by netlink: who listens, who is connected, how far it is.

Source: sock_diag(7), linux/inet_diag.h, TCP_INFO in tcp(7).
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

from plimsoll import addresses

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_REQUEST_DUMP = 0x301
_ERROR, _DONE = 2, 3
_ESTABLISHED, _LISTENING = 1 << 1, 1 << 10
_INFO, _LEAST_ROUND_TRIP = 2, 148
_MEMORY, _DROPS = 7, 8
_UNSET = 0xFFFFFFFF
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBxI 2s2s 16s16s I II")
_MESSAGE = struct.Struct("=BBBB 2s2s 16s16s I II IIIII")
_LOCAL = 8
"""Where the local address begins in a message."""
_ATTRIBUTE = struct.Struct("=HH")


@dataclass(frozen=True)
class Listener:
    """One listening socket.

    Attributes:
        port: Its port.
        queue: Connections that wait to be accepted.
        backlog: The most that may wait.
        address: The address to which it is bound, as `addresses.ip` gives it.
        drops: Attempts to connect that it dropped so far; None when the kernel does not say.
    """

    port: int
    queue: int
    backlog: int
    address: bytes
    drops: int | None = None


def serving(known: Sequence[Listener], host: str) -> tuple[Listener, ...]:
    """Those of the sockets on a port that accept connections to an address.

    Args:
        known: The sockets that listen on the port.
        host: The address that clients connect to, in numbers; empty for any.
    """
    bound = addresses.reached((one.address for one in known), host)
    return tuple(one for one in known if one.address in bound)


def established(port: int, host: str = "", known: Sequence[Listener] = ()) -> int:
    """Connections of a server's port, by the kernel.

    Another server may have the same port at another address: its connections are not counted.

    Args:
        port: The server's port.
        host: The address that clients connect to, in numbers; empty for any.
        known: The sockets that listen on the port.

    Raises:
        OSError: The kernel does not support such requests.
    """
    families = (socket.AF_INET, socket.AF_INET6)
    own = {one.address for one in serving(known, host)}
    others = {one.address for one in known} - own
    counts = Counter(
        addresses.ip(payload[_LOCAL : _LOCAL + size])
        for family, size in zip(families, (4, 16), strict=True)
        for datagram in _responses(_question(family, port, _ESTABLISHED, 0))
        for payload in datagram
    )
    is_everywhere = not known or any(not any(address) for address in own)
    counted = set(counts) - others if is_everywhere else own
    return sum(counts[address] for address in counted)


def least_round_trip_s(address: str) -> float | None:
    """The least round trip that the kernel saw on some connections to a server, in seconds.

    Only the first datagram of the response is read, so thousands of connections cost little.

    Args:
        address: Address and port of the server, both as numbers: `127.0.0.1:8080`.

    Returns:
        The least of them; None when there is no connection.

    Raises:
        OSError: The kernel does not support such requests.
    """
    host, _, port = address.rpartition(":")
    ip = ip_address(host.strip("[]"))
    family = socket.AF_INET if ip.version == 4 else socket.AF_INET6  # noqa: PLR2004
    question = _question(family, int(port), _ESTABLISHED, _INFO, to_server=True)
    trips = [_round_trip_s(payload) for payload in next(_responses(question), ())]
    return min((trip for trip in trips if trip is not None), default=None)


def listeners(port: int) -> tuple[Listener, ...]:
    """The sockets that listen on a port, in the network namespace of this process.

    Args:
        port: The port; 0 for every port.

    Raises:
        OSError: The kernel does not support such requests.

    Source:
        sock_diag(7): of a listening socket `idiag_rqueue` is the accept queue, `idiag_wqueue` its
        limit, SK_MEMINFO_DROPS what it dropped. Only listening sockets are requested, so thousands
        of open connections cost nothing.
    """
    families = (socket.AF_INET, socket.AF_INET6)
    return tuple(listener for family in families for listener in _dump(family, port))


def parse_datagram(data: bytes) -> tuple[list[bytes], bool]:
    """The content of each message of a datagram, and whether the response ends with it.

    Args:
        data: Netlink messages, one after the other.

    Raises:
        OSError: The kernel returned an error, or the messages do not fit together.
    """
    found: list[bytes] = []
    for kind, payload in _messages(data):
        if kind == _ERROR:
            number = -struct.unpack_from("=i", payload)[0]
            raise OSError(number, os.strerror(number))
        if kind == _DONE:
            return found, True
        found.append(payload)
    return found, False


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each netlink message; each starts at a multiple of four bytes."""
    at = 0
    while at + _HEADER.size <= len(data):
        length, kind, *_ = _HEADER.unpack_from(data, at)
        if length < _HEADER.size:
            raise OSError(errno.EBADMSG, os.strerror(errno.EBADMSG))
        yield kind, data[at + _HEADER.size : at + length]
        at += (length + 3) & ~3


def parse_listener(payload: bytes) -> Listener:
    """A listening socket.

    Args:
        payload: The content of one message.
    """
    fields = _MESSAGE.unpack_from(payload)
    port, queue, backlog = fields[4], fields[12], fields[13]
    address = fields[6][:4] if fields[0] == socket.AF_INET else fields[6]
    drops = _drops(payload[_MESSAGE.size :])
    return Listener(int.from_bytes(port, "big"), queue, backlog, addresses.ip(address), drops)


def _drops(attributes: bytes) -> int | None:
    """What a socket dropped, by the attribute on its memory; None when there is no such."""
    return _number(attributes, _MEMORY, 4 * _DROPS)


def _round_trip_s(payload: bytes) -> float | None:
    """The least round trip of a connection; None when there is none yet."""
    microseconds = _number(payload[_MESSAGE.size :], _INFO, _LEAST_ROUND_TRIP)
    if microseconds is None or not 0 < microseconds < _UNSET:
        return None
    return microseconds / 1e6


def _number(attributes: bytes, wanted: int, offset: int) -> int | None:
    """A number of 32 bits within one attribute; None when there is no such."""
    at = 0
    while at + _ATTRIBUTE.size <= len(attributes):
        length, kind = _ATTRIBUTE.unpack_from(attributes, at)
        if length < _ATTRIBUTE.size:
            break
        if kind == wanted and length >= _ATTRIBUTE.size + offset + 4:
            return struct.unpack_from("=I", attributes, at + _ATTRIBUTE.size + offset)[0]
        at += (length + 3) & ~3
    return None


def _dump(family: int, port: int) -> list[Listener]:
    """Asks for the listening sockets of one address family."""
    question = _question(family, port, _LISTENING, _MEMORY)
    return [parse_listener(payload) for datagram in _responses(question) for payload in datagram]


def _responses(question: bytes) -> Iterator[list[bytes]]:
    """The kernel's response, datagram by datagram; a caller that stops early spares it the rest."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _NETLINK_SOCK_DIAG) as kernel:
        kernel.settimeout(1.0)
        kernel.send(question)
        last = False
        while not last:
            payloads, last = parse_datagram(kernel.recv(1 << 16))
            yield payloads


def _question(
    family: int, port: int, states: int, attribute: int, *, to_server: bool = False
) -> bytes:
    """Asks for sockets of a port in some states, with one attribute of each.

    The port is the socket's own, or that of the server it is connected to.
    """
    ports = (port.to_bytes(2, "big"), bytes(2))
    nothing = bytes(16)
    requested = _REQUEST.pack(
        family, socket.IPPROTO_TCP, 1 << (attribute - 1) if attribute else 0, states,
        *(reversed(ports) if to_server else ports), nothing, nothing, 0, 0xFFFFFFFF, 0xFFFFFFFF,
    )  # fmt: skip
    length = _HEADER.size + len(requested)
    return _HEADER.pack(length, _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 0, 0) + requested
