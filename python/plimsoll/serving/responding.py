"""Whether a server that was already running responds at all, checked with one request.

Under load a wrong port costs the whole load, and shows as failures without number. One
request before it finds what no load can mend: nothing listens, the host cannot be reached, every
connection is closed, or what is spoken is not HTTP/1. Any response will do, whatever its status. A
server that is merely slow is no error: the load goes on after a short wait.
"""

from __future__ import annotations

import errno
import os
import re
import socket
from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll import _engine
from plimsoll.campaign.requests import render
from plimsoll.errors import NotResponding

if TYPE_CHECKING:
    from plimsoll.campaign.requests import Request

WAIT_S = 0.5
"""How long a connection, and then a response, is waited for, in seconds."""

TRIES = 3
"""Connections that must all be closed without a response before a server counts as one that fails.

A server that closes one connection now and then is measured under load.
"""

SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing on a server; RFC 9110, section 9.2.1."""

_UNREACHABLE = {
    errno.ECONNREFUSED: (
        "`{address}` refuses connections: nothing listens there",
        "start the server, or check host and port",
    ),
    errno.EHOSTUNREACH: ("`{address}` cannot be reached: {reason}", "check the host's address"),
    errno.ENETUNREACH: ("`{address}` cannot be reached: {reason}", "check the host's address"),
}
"""Errors of connecting that a load cannot change, with their hints; others are left to the load."""

_NUMBER = re.compile(r"os error (?P<errno>\d+)")
"""How Rust writes the error number of a failed connection."""

_NO_TLS = "use a port on which the server speaks plain `http`"
_OTHER_PORT = "check the port: another protocol may be spoken there"
_TLS_WAIT_S = 0.2
_BAD_REQUEST = 400
"""What most servers say where plain HTTP comes to a port of TLS."""


def require(address: str, request: Request, *, keep_alive: bool) -> int:
    """Requires that a server responds in HTTP, or is not yet known not to.

    The request is the load's own where its method changes nothing; else OPTIONS is sent.

    Args:
        address: Address and port, both as numbers: `127.0.0.1:8080`.
        request: A request of the load.
        keep_alive: Whether the load keeps connections.

    Returns:
        How many requests were sent.

    Raises:
        NotResponding: Nothing listens, or what is spoken there is not HTTP/1.
        InputError: The request would break its head apart.
    """
    sent = render(request, address, keep_alive)
    if request.method not in SAFE:
        sent = render(replace(request, method="OPTIONS", body=b""), address, keep_alive)
    for number in range(1, TRIES + 1):
        try:
            status = _status(address, sent, is_head=request.method == "HEAD")
        except _engine.NoResponse as error:
            kind, reason = error.args
            if kind not in ("closed", "broken", "not_http"):
                return number
            if number == TRIES or kind == "not_http":
                raise _not_http(address, kind, reason) from None
        else:
            if status == _BAD_REQUEST and _speaks_tls(address):
                raise _tls(address)
            return number
    return TRIES


def _status(address: str, sent: bytes, *, is_head: bool) -> int | None:
    """Status of a response on a new connection; None where there was no connection in time.

    Raises:
        NotResponding: There can be no connection.
        NoResponse: No complete response came.
    """
    try:
        connection = _engine.Connection(address, WAIT_S)
    except OSError as error:
        reported = _NUMBER.search(str(error))
        number = int(reported["errno"]) if reported else 0
        if number not in _UNREACHABLE:
            return None
        message, hint = _UNREACHABLE[number]
        reason = os.strerror(number).lower()
        raise NotResponding(message.format(address=address, reason=reason), hint) from None
    return connection.ask([sent], WAIT_S, is_head, WAIT_S)["status"]


def _not_http(address: str, kind: str, reason: str) -> NotResponding:
    if _speaks_tls(address):
        return _tls(address)
    if kind == "not_http":
        return NotResponding(f"`{address}` does not speak HTTP/1: {reason}", _OTHER_PORT)
    return NotResponding(f"`{address}` closes every connection without a response", _OTHER_PORT)


def _tls(address: str) -> NotResponding:
    message = f"`{address}` speaks TLS, and `plimsoll load` speaks plain HTTP only"
    return NotResponding(message, _NO_TLS)


def _speaks_tls(address: str) -> bool:
    """Whether a TLS handshake succeeds, or is refused by an alert of TLS."""
    import ssl  # noqa: PLC0415 - only a server that fails costs its import

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    host, _, port = address.rpartition(":")
    try:
        with (
            socket.create_connection((host.strip("[]"), int(port)), _TLS_WAIT_S) as connection,
            context.wrap_socket(connection),
        ):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
