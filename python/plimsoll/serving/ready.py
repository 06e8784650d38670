"""Whether a server is ready: it returns 200 for a request."""

from __future__ import annotations

import re
import socket
import time
from typing import TYPE_CHECKING

from plimsoll.campaign.requests import render
from plimsoll.serving.asking import Client, ResponseMissing, authority

if TYPE_CHECKING:
    from plimsoll.campaign.load import Protocol
    from plimsoll.campaign.requests import Request
    from plimsoll.campaign.tls import Tls

SILENT = "accepted the connection but sent no response"
"""What `ask` returns when the time was over before a response came."""

RESPONDED = "responded"
"""How what `ask` returns begins when there was a response, but not the right one."""

NOT_HTTP = f"{RESPONDED} other than in HTTP/1.1"
"""How it begins when that was no response of HTTP/1.1."""

REFUSED = "refused the connection"
"""What `ask` returns when nobody listens."""

_HEAD_BYTES = 1 << 16

_INTERIM = re.compile(rb"HTTP/1\.\d +1(?!01)\d\d\s")
"""How the head of an interim response begins; 101 is final.

Source:
    RFC 9110, section 15.2: a client reads them before the final response, awaited or not.
"""

_END_OF_HEAD = re.compile(rb"\n\r?\n")


def ask(host: str, port: int, request: Request, timeout_s: float) -> str:
    """Sends one request on a connection of its own.

    Args:
        host: Address of the server.
        port: Its port.
        request: The request.
        timeout_s: Seconds for all of it, however slowly the response drips.

    Returns:
        What is wrong, after the words "the server …"; empty if it returned 200.
    """
    end_s = time.monotonic() + timeout_s
    try:
        with socket.create_connection((host, port), timeout=timeout_s) as connection:
            connection.sendall(render(request, authority((host, port)), keep_alive=False))
            line = _status_line(connection, end_s)
    except ConnectionRefusedError:
        return REFUSED
    except TimeoutError:
        return SILENT
    except OSError as error:
        return f"reset the connection: {error.strerror}"
    return _judged(line)


def ask_as_clients(
    address: tuple[str, int],
    request: Request,
    timeout_s: float,
    tls: Tls | None,
    protocol: Protocol,
) -> str:
    """The same over TLS or HTTP/2.

    Args:
        address: Address and port of the server.
        request: The request.
        timeout_s: Seconds for the connection, and again for the response.
        tls: TLS to the server; None for plain TCP.
        protocol: What is spoken.
    """
    client = Client(address, keep_alive=False, timeout_s=timeout_s, tls=tls, protocol=protocol)
    try:
        status = client.ask(request).response.status
    except ResponseMissing as error:
        return f"gave no response: {error}"
    return _of_status(str(status))


def pause_s(waited_s: float) -> float:
    """Seconds until it is worth asking again: a fiftieth of the wait so far, 20 to 250 ms.

    The time to start is known to 2 % or 20 ms, and a slow start is not made slower.
    """
    return min(0.25, max(0.02, waited_s / 50))


def _status_line(connection: socket.socket, end_s: float) -> bytes:
    """The first line of the final response, or what there is of it when the server closes."""
    heard = b""
    while (b"\n" not in heard or _INTERIM.match(heard)) and len(heard) < _HEAD_BYTES:
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        connection.settimeout(left_s)
        piece = connection.recv(1 << 12)
        if not piece:
            break
        heard = _without_interim(heard + piece)
    return heard.partition(b"\n")[0].strip()


def _without_interim(heard: bytes) -> bytes:
    """What came after the interim responses that are complete."""
    while _INTERIM.match(heard) and (end := _END_OF_HEAD.search(heard)):
        heard = heard[end.end() :]
    return heard


def _judged(line: bytes) -> str:
    if not line:
        return "closed the connection without a response"
    words = line.split()
    if not words[0].startswith(b"HTTP/1.") or not words[1:] or not words[1].isdigit():
        return f"{NOT_HTTP}: `{line[:40].decode('ascii', 'replace')}`"
    return _of_status(words[1].decode())


def _of_status(status: str) -> str:
    return "" if status == "200" else f"{RESPONDED} {status}"
