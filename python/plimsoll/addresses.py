"""Addresses of servers: `127.0.0.1:8080` over TCP, `unix:/run/app.sock` at a Unix socket."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNIX = "unix:"

_MAPPED = bytes(10) + b"\xff\xff"
"""How an address of IPv6 begins that stands for one of IPv4; RFC 4291, section 2.5.5.2."""

LONGEST_PATH_BYTES = 107
"""The longest path of a Unix socket, in bytes; unix(7): `sun_path` has 108 with its NUL."""


def of_socket(path: str) -> str:
    """The address of a Unix socket.

    Args:
        path: Its absolute path.
    """
    return f"{_UNIX}{path}"


def socket_path(address: str) -> str:
    """The path of the Unix socket that an address names; empty for one of TCP."""
    return address.removeprefix(_UNIX) if is_unix(address) else ""


def is_unix(address: str) -> bool:
    """Whether an address names a Unix socket."""
    return address.startswith(_UNIX)


def packed(host: str) -> bytes:
    """The bytes of an address of IP, as `ip` gives them.

    Args:
        host: The address in numbers: `127.0.0.1`, `[::1]`.
    """
    return ip(ip_address(host.strip("[]")).packed)


def ip(address: bytes) -> bytes:
    """The bytes of an address of IP; one of IPv4 has four, even where IPv6 stands for it."""
    return address.removeprefix(_MAPPED)


def reached(bound: Iterable[bytes], host: str) -> set[bytes]:
    """To which addresses those sockets are bound that accept connections to a host.

    Where one is bound to the very address, those that are bound to every address get none of them.

    Args:
        bound: The addresses to which sockets that listen on one port are bound, as `ip` gives them.
        host: The address that clients connect to, in numbers; empty for any.

    Source:
        `inet_lhash2_lookup` of the kernel: a socket bound to the address goes first.
    """
    known = set(bound)
    if not host:
        return known
    exact = {packed(host)} & known
    return exact or {address for address in known if not any(address)}
