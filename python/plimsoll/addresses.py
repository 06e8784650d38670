"""Addresses of servers: `127.0.0.1:8080` over TCP, `unix:/run/app.sock` at a Unix socket."""

from __future__ import annotations

_UNIX = "unix:"

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
