"""A conversation with a server in bytes, responses read by h11."""

from __future__ import annotations

import select
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import h11

from plimsoll.campaign.requests import HttpResponse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.serving.asking import Address

    Event = (
        h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED] | Literal["closed", "silent", "not_http"]
    )
    """A part of a response, or what happened instead."""

Ending = Literal["answered", "closed", "silent", "not_http"]
"""Whether all awaited responses came, or what happened instead of the next one."""

PAUSE_S = 0.0005
"""Time between two pieces, in seconds; a response that comes meanwhile ends the sending."""

_START = b"HTTP/"
_LONGEST_HEAD_BYTES = 1 << 20
_READ_BYTES = 1 << 16
_FINAL = 200


@dataclass(frozen=True)
class Sending:
    """Bytes, and the responses that are awaited once they are sent.

    Attributes:
        pieces: The bytes, in one or more segments.
        methods: Method of each request whose response is awaited.
        awaits_continue: Whether `100 Continue` is awaited as well; silence then ends nothing, and a
            final response ends the conversation.
    """

    pieces: tuple[bytes, ...]
    methods: tuple[str, ...] = ("GET",)
    awaits_continue: bool = False


@dataclass(frozen=True)
class Conversation:
    """What came.

    Attributes:
        responses: The responses in order; interim ones only where they were awaited.
        ending: How it ended.
        waited_in_vain: Whether `100 Continue` was awaited and nothing came.
    """

    responses: tuple[HttpResponse, ...]
    ending: Ending
    waited_in_vain: bool = False

    @property
    def first(self) -> HttpResponse | None:
        """The first response; None without any."""
        return self.responses[0] if self.responses else None


def converse(address: Address, script: Sequence[Sending], patience_s: float) -> Conversation:
    """Sends requests on one connection, and reads responses.

    Args:
        address: Where the server listens.
        script: What is sent; each part after the responses to the one before.
        patience_s: How long each response is waited for, in seconds.
    """
    responses: list[HttpResponse] = []
    waited_in_vain = False
    try:
        with socket.create_connection(address, patience_s) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            line = _Line(connection, patience_s)
            for sending in script:
                line.send(sending.pieces)
                for method in sending.methods:
                    found = line.response(method, interim=sending.awaits_continue)
                    if isinstance(found, HttpResponse):
                        responses.append(found)
                    elif found == "silent" and sending.awaits_continue:
                        waited_in_vain = True
                    else:
                        return Conversation(tuple(responses), found, waited_in_vain)
                if sending.awaits_continue and responses and responses[-1].status >= _FINAL:
                    break
    except OSError:
        return Conversation(tuple(responses), "closed", waited_in_vain)
    return Conversation(tuple(responses), "answered", waited_in_vain)


class _Line:
    """A connection, and what came of responses that are not read yet."""

    def __init__(self, connection: socket.socket, patience_s: float) -> None:
        self._connection = connection
        self._patience_s = patience_s
        self._left = b""
        self._start = b""

    def send(self, pieces: Sequence[bytes]) -> None:
        """Sends bytes, until the server responds or closes."""
        try:
            for place, piece in enumerate(pieces):
                if place and select.select([self._connection], [], [], PAUSE_S)[0]:
                    return
                self._connection.sendall(piece)
        except OSError:
            return  # the response may have come before the server closed

    def response(self, method: str, *, interim: bool) -> HttpResponse | Ending:
        """The next response, or what happened instead.

        Args:
            method: Method of its request; a response to HEAD has no body.
            interim: Whether an interim one counts.
        """
        end_s = time.monotonic() + self._patience_s
        reader = _reader(method)
        self._start = self._left[: len(_START)]
        if self._left:
            reader.receive_data(self._left)
        head: h11.Response | None = None
        body = bytearray()
        while True:
            match self._event(reader, end_s):
                case "closed" | "silent" | "not_http" as ending:
                    return ending
                case h11.PAUSED:
                    return "not_http"  # it switched to another protocol
                case h11.Response() as response:
                    head = response
                case h11.Data() as piece:
                    body += piece.data
                case h11.InformationalResponse() as response if interim:
                    self._left = reader.trailing_data[0]
                    return _of(response, b"")
                case h11.EndOfMessage() if head is not None:
                    self._left = reader.trailing_data[0]
                    return _of(head, bytes(body))
                case _:
                    pass

    def _event(self, reader: h11.Connection, end_s: float) -> Event:
        """The next event of a response, or what happened instead."""
        while _START.startswith(self._start):
            try:
                event = reader.next_event()
            except h11.RemoteProtocolError:
                return "not_http" if self._start else "closed"
            if event is not h11.NEED_DATA:
                return event
            received = self._received(end_s)
            if received is None:
                return "silent"
            self._start = (self._start + received)[: len(_START)]
            reader.receive_data(received)
        return "not_http"

    def _received(self, end_s: float) -> bytes | None:
        """The next bytes; empty when the server has closed, None when nothing came in time."""
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            return None
        try:
            self._connection.settimeout(left_s)
            return self._connection.recv(_READ_BYTES)
        except TimeoutError:
            return None
        except OSError:
            return b""


def _reader(method: str) -> h11.Connection:
    """What reads the response to one request; nothing that it would send is sent."""
    reader = h11.Connection(h11.CLIENT, max_incomplete_event_size=_LONGEST_HEAD_BYTES)
    reader.send(h11.Request(method=method, target="/", headers=[("Host", "-")]))
    reader.send(h11.EndOfMessage())
    return reader


def _of(head: h11.Response | h11.InformationalResponse, body: bytes) -> HttpResponse:
    headers = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers)
    return HttpResponse(head.status_code, tuple(headers), body)
