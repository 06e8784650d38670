"""Asks a server one request at a time, with the bytes of the load and the engine's own reader."""

from __future__ import annotations

import json
import socket
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plimsoll import _engine, wording
from plimsoll.campaign.requests import HttpResponse, ServerSentEvent, render, upgrade_request

if TYPE_CHECKING:
    from plimsoll.campaign.load import Protocol
    from plimsoll.campaign.requests import Request
    from plimsoll.campaign.tls import Tls

Address = tuple[str, int]
"""Host and port; the host as a number."""

Form = Literal["whole", "split", "chunked"]
"""How a request arrives: at once, in three pieces, or with a body in chunks."""

PAUSE_S = 0.02
"""Time between two pieces of a request, in seconds."""

_UPGRADED = 101
_DATA_SEGS_IN = 152
"""Offset of `tcpi_data_segs_in` in `struct tcp_info`, since Linux 4.6.

Source:
    include/uapi/linux/tcp.h.
"""


class ResponseMissing(Exception):  # noqa: N818  it is what came
    """No complete response came."""

    def __init__(self, message: str, hopeless: bool = False) -> None:
        """What came instead, and whether asking on would only cost time."""
        super().__init__(message)
        self.hopeless = hopeless


@dataclass(frozen=True)
class ServerResponse:
    """A complete response, and how it came.

    Attributes:
        response: The response.
        head_bytes: Length of its head.
        segments: TCP segments with data that it came in; None where the kernel does not say.
        early: Whether it began before the whole request was sent.
        arrived_s: When it was there, in seconds since 1970.
        took_s: Time from the first byte sent to the last received, in seconds.
    """

    response: HttpResponse
    head_bytes: int
    segments: int | None
    early: bool
    arrived_s: float
    took_s: float


class Client:
    """Asks on one connection for as long as the server lets it.

    Attributes:
        keep_alive: Whether connections are kept.
        protocol: What is spoken.
        requests_sent: How many requests, or messages of WebSocket, it sent.
        timeout_s: Time for each response, in seconds.
    """

    def __init__(
        self,
        address: Address,
        keep_alive: bool,
        timeout_s: float,
        tls: Tls | None = None,
        protocol: Protocol = "http1",
    ) -> None:
        """A client that is not yet connected.

        Args:
            address: Where the server listens.
            keep_alive: Whether connections are kept; if not, requests announce the close.
            timeout_s: Time for each response, in seconds.
            tls: TLS to the server; None for plain TCP.
            protocol: What is spoken.
        """
        self.keep_alive = keep_alive
        self.protocol = protocol
        self.requests_sent = 0
        self.timeout_s = timeout_s
        self._address = authority(address)
        self._tls = None if tls is None else json.dumps(tls.block)
        self._connection: _engine.Connection | None = None

    def close(self) -> None:
        """Closes the connection; the next question opens another."""
        self._connection = None

    def ask(self, request: Request, form: Form = "whole") -> ServerResponse:
        """A response, on a new connection where the one at hand has been closed meanwhile.

        Raises:
            ResponseMissing: No complete response came.
        """
        at_hand = self._connection is not None
        try:
            return self._ask(request, form)
        except ResponseMissing as error:
            if not at_hand or error.hopeless:
                raise
        return self._ask(request, form)

    def upgraded(self, request: Request) -> _engine.Connection:
        """A new connection of WebSocket, asked for with the head of a request.

        Raises:
            ResponseMissing: There is none.
        """
        connection = self._opened()
        head = render(upgrade_request(request), self._address, keep_alive=True)
        try:
            status = connection.upgrade(head, self.timeout_s)
        except _engine.NoResponse as error:
            raise self._failure(*error.args) from None
        if status != _UPGRADED:
            raise ResponseMissing(f"status {status} instead of {_UPGRADED}", hopeless=True)
        return connection

    def ask_again(self, request: Request) -> ServerResponse:
        """A response on the connection of the last one.

        Raises:
            ResponseMissing: The connection is closed, or no complete response came on it.
        """
        if self._connection is None:
            raise ResponseMissing("the first response announced that the connection closes")
        return self._ask(request, "whole")

    def _ask(self, request: Request, form: Form) -> ServerResponse:
        connection, self._connection = self._connection or self._opened(), None
        self.requests_sent += 1
        pieces = _pieces(request, self._address, self.keep_alive, form)
        before, begun_s = _segments(connection), time.monotonic()
        try:
            if self.protocol == "http2":
                found = connection.ask_by_http2(b"".join(pieces), self.timeout_s)
            else:
                found = connection.ask(pieces, PAUSE_S, request.method == "HEAD", self.timeout_s)
        except _engine.NoResponse as error:
            raise self._failure(*error.args) from None
        took_s, after = time.monotonic() - begun_s, _segments(connection)
        if self.keep_alive and not found["closes"]:
            self._connection = connection
        headers = ((name.lower(), value.decode("latin-1")) for name, value in found["headers"])
        return ServerResponse(
            HttpResponse(found["status"], tuple(headers), found["body"], _events(found)),
            head_bytes=found["head_bytes"],
            segments=None if before is None or after is None else after - before,
            early=found["early"],
            arrived_s=time.time(),
            took_s=took_s,
        )

    def _opened(self) -> _engine.Connection:
        try:
            return _engine.Connection(self._address, self.timeout_s, self._tls)
        except _engine.NoResponse as error:
            raise ResponseMissing(f"no TLS connection: {error.args[1]}", hopeless=True) from None
        except OSError as error:
            raise ResponseMissing(
                f"no connection: {error.strerror or error}", hopeless=True
            ) from error

    def _failure(self, kind: str, sentence: str) -> ResponseMissing:
        if kind == "timed_out":
            return ResponseMissing(
                f"no complete response within {wording.exact(self.timeout_s)} s", hopeless=True
            )
        if kind == "not_http2":
            return ResponseMissing("not HTTP/2", hopeless=True)
        if kind == "not_http":
            return ResponseMissing(f"not a valid HTTP response: {sentence}")
        if kind in ("closed", "broken"):
            return ResponseMissing(f"no response: {sentence}")
        return ResponseMissing(sentence)


def _events(found: _engine.Response) -> tuple[ServerSentEvent, ...]:
    events = ((data.decode("utf-8", "replace"), at_ns / 1e9) for data, at_ns in found["events"])
    return tuple(ServerSentEvent(*event) for event in events)


def _pieces(request: Request, host_header: str, keep_alive: bool, form: Form) -> list[bytes]:
    """The bytes of a request, as many at a time as are sent at once."""
    whole = render(request, host_header, keep_alive, chunked=form == "chunked")
    if form != "split":
        return [whole]
    head = len(whole) - len(request.body)
    first = head // 2
    second = head + len(request.body) // 2 if request.body else first + head // 4
    return [whole[:first], whole[first:second], whole[second:]]


def _segments(connection: _engine.Connection) -> int | None:
    """Segments with data that a connection has received; None where the kernel does not say."""
    with socket.socket(fileno=socket.dup(connection.fileno())) as same:
        stated = same.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _DATA_SEGS_IN + 4)
    if len(stated) < _DATA_SEGS_IN + 4:
        return None
    (segments,) = struct.unpack_from("=I", stated, _DATA_SEGS_IN)
    return segments


def authority(address: Address) -> str:
    """Host and port as `Host` has them."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
