"""The cases of WebSocket: handshakes and frames that few clients send, and what comes of them.

They are sent to servers that have the endpoint `ws`, which echoes messages. A message follows each:
who echoes it has gone on. Sources are sections of RFC 6455; most cases are among Autobahn's.
"""

from __future__ import annotations

import re
import socket
import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha1
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.recording.compliance import Compliance
    from plimsoll.serving.asking import Address

    Judged = tuple[Compliance, str]

CONTINUATION, TEXT, BINARY, RESERVED, CLOSE, PING, PONG = 0, 1, 2, 3, 8, 9, 10
"""Opcodes; RFC 6455, 5.2."""

FINAL, RSV1, MASKED = 0x80, 0x40, 0x80

_KEY = b64encode(b"plimsoll plimsol").decode()
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_PROBE = b"plimsoll goes on"
_MASK = b"mask"
_SHORT = 125
_TWO_BYTES = 126
_UPGRADED = 101
_BAD_REQUEST = 400
_SERVER_ERROR = 500
_STATUS = re.compile(r"\S+ ([0-9]{3})(?!\S)")
_READ_BYTES = 1 << 16
_LONGEST_HEAD_BYTES = 1 << 16


def frame(opcode: int, payload: bytes = b"", *, bits: int = FINAL, masked: bool = True) -> bytes:
    """A frame of a client with at most 65,535 bytes; RFC 6455, 5.2."""
    length, mask = len(payload), MASKED if masked else 0
    size = bytes((mask | length,)) if length <= _SHORT else bytes((mask | _TWO_BYTES,))
    more = b"" if length <= _SHORT else length.to_bytes(2)
    if masked:
        payload = bytes(byte ^ _MASK[place % 4] for place, byte in enumerate(payload))
    return bytes((bits | opcode,)) + size + more + (_MASK if masked else b"") + payload


@dataclass
class WebSocketHeard:
    """What came.

    Attributes:
        status: Status of the response to the handshake; 0 without one.
        fields: Its fields, names in lower case.
        frames: Opcode and payload of each frame.
        closed: Whether the connection was closed.
    """

    status: int = 0
    fields: dict[str, str] = field(default_factory=dict[str, str])
    frames: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])
    closed: bool = False

    @property
    def has_gone_on(self) -> bool:
        """Whether the message that was sent last came back."""
        return any(_PROBE in payload for opcode, payload in self.frames if opcode != CLOSE)

    @property
    def close_code(self) -> int | None:
        """The code of a close frame, 1005 for none; None without such a frame."""
        codes = (payload for opcode, payload in self.frames if opcode == CLOSE)
        payload = next(codes, None)
        return None if payload is None else int.from_bytes(payload[:2]) or 1005

    def __str__(self) -> str:
        """What came, in a few words."""
        if self.status != _UPGRADED:
            return str(self.status or ("closed" if self.closed else "no response"))
        parts = [f"close frame {self.close_code}"] if self.close_code else []
        if self.closed and not parts:
            parts.append("closed")
        if self.has_gone_on:
            parts.append("went on")
        return ", ".join(parts) or "silence"


WebSocketJudge = Callable[[WebSocketHeard], "Judged"]


def upgrades(heard: WebSocketHeard) -> Judged:
    """The response must be 101 with the Sec-WebSocket-Accept of the key."""
    accept = b64encode(sha1(f"{_KEY}{_GUID}".encode()).digest()).decode()  # noqa: S324 - RFC 6455
    is_right = heard.status == _UPGRADED and heard.fields.get("sec-websocket-accept") == accept
    return ("conforms" if is_right else "differs"), str(heard)


def refuses(heard: WebSocketHeard) -> Judged:
    """The response must be an error of the client."""
    is_right = _BAD_REQUEST <= heard.status < _SERVER_ERROR
    return ("conforms" if is_right else "differs"), str(heard)


def refuses_version(heard: WebSocketHeard) -> Judged:
    """The response must be an error, with Sec-WebSocket-Version naming 13."""
    named = heard.fields.get("sec-websocket-version", "")
    is_right = _BAD_REQUEST <= heard.status < _SERVER_ERROR and "13" in named
    noted = f", sec-websocket-version: {named}" if named else ", without sec-websocket-version"
    return ("conforms" if is_right else "differs"), f"{heard}{noted}"


def fails(heard: WebSocketHeard) -> Judged:
    """The connection must be closed, mostly after a close frame."""
    has_failed = heard.closed or heard.close_code is not None
    is_right = heard.status == _UPGRADED and has_failed and not heard.has_gone_on
    return ("conforms" if is_right else "differs"), str(heard)


def goes_on(heard: WebSocketHeard) -> Judged:
    """What was sent must be passed over, and the next message come back."""
    return ("conforms" if heard.has_gone_on else "differs"), str(heard)


def pongs(heard: WebSocketHeard) -> Judged:
    """A pong with the same bytes must come."""
    is_right = (PONG, _MASK * 30) in heard.frames and heard.has_gone_on
    return ("conforms" if is_right else "differs"), str(heard)


def closes(heard: WebSocketHeard) -> Judged:
    """A close frame must come back, and nothing after it."""
    is_right = heard.close_code is not None and not heard.has_gone_on
    return ("conforms" if is_right else "differs"), str(heard)


@dataclass(frozen=True)
class WebSocketCase:
    """One case.

    Attributes:
        name: Its name.
        title: What is sent, in a few words.
        source: Section that says how to respond.
        judge: Judges what came.
        sent: Frames that are sent once the connection is upgraded.
        fields: Fields of the handshake that are other than usual; None leaves one out.
    """

    name: str
    title: str
    source: str
    judge: WebSocketJudge
    sent: bytes = b""
    fields: tuple[tuple[str, str | None], ...] = ()


CASES: tuple[WebSocketCase, ...] = (
    WebSocketCase("ws_upgrade", "a handshake", "RFC 6455, 4.2.2", upgrades),
    WebSocketCase(
        "ws_version",
        "a handshake of version 8",
        "RFC 6455, 4.2.2 and 4.4",
        refuses_version,
        fields=(("Sec-WebSocket-Version", "8"),),
    ),
    WebSocketCase(
        "ws_no_key",
        "a handshake without a key",
        "RFC 6455, 4.2.1",
        refuses,
        fields=(("Sec-WebSocket-Key", None),),
    ),
    WebSocketCase(
        "ws_unmasked",
        "a frame without a mask",
        "RFC 6455, 5.1",
        fails,
        frame(TEXT, b"hello", masked=False),
    ),
    WebSocketCase(
        "ws_reserved_bit",
        "a reserved bit",
        "RFC 6455, 5.2",
        fails,
        frame(TEXT, b"hello", bits=FINAL | RSV1),
    ),
    WebSocketCase(
        "ws_reserved_opcode",
        "a reserved opcode",
        "RFC 6455, 5.2",
        fails,
        frame(RESERVED, b"hello"),
    ),
    WebSocketCase(
        "ws_long_ping",
        "a ping of 126 bytes",
        "RFC 6455, 5.5",
        fails,
        frame(PING, b"?" * _TWO_BYTES),
    ),
    WebSocketCase(
        "ws_split_ping",
        "a ping in fragments",
        "RFC 6455, 5.5",
        fails,
        frame(PING, b"he", bits=0) + frame(CONTINUATION, b"llo"),
    ),
    WebSocketCase(
        "ws_continuation",
        "a continuation of nothing",
        "RFC 6455, 5.4",
        fails,
        frame(CONTINUATION, b"hello"),
    ),
    WebSocketCase(
        "ws_interrupted",
        "a message within another's fragments",
        "RFC 6455, 5.4",
        fails,
        frame(TEXT, b"he", bits=0) + frame(TEXT, b"hello"),
    ),
    WebSocketCase(
        "ws_not_text",
        "a text that is not UTF-8",
        "RFC 6455, 8.1",
        fails,
        frame(TEXT, b"\xce\xba\xed\xa0\x80"),
    ),
    WebSocketCase(
        "ws_close_byte",
        "a close frame of one byte",
        "RFC 6455, 5.5.1",
        fails,
        frame(CLOSE, b"\x03"),
    ),
    WebSocketCase(
        "ws_ping",
        "a ping",
        "RFC 6455, 5.5.2",
        pongs,
        frame(PING, _MASK * 30),
    ),
    WebSocketCase(
        "ws_pong",
        "an unsolicited pong",
        "RFC 6455, 5.5.3",
        goes_on,
        frame(PONG, b"hello"),
    ),
    WebSocketCase(
        "ws_close",
        "a close frame",
        "RFC 6455, 5.5.1",
        closes,
        frame(CLOSE, (1000).to_bytes(2)),
    ),
)
"""Every case, in the order of the report."""


def tried(address: Address, authority: str, patience_s: float, case: WebSocketCase) -> Judged:
    """What a server makes of a case, on a connection of its own.

    Args:
        address: Where it listens.
        authority: Host and port, as `Host` has them.
        patience_s: How long it is waited for, in seconds.
        case: The case.
    """
    heard = WebSocketHeard()
    end_s = time.monotonic() + patience_s
    try:
        with socket.create_connection(address, patience_s) as connection:
            connection.sendall(_handshake(authority, case))
            received = _read_head(heard, connection, end_s)
            if heard.status == _UPGRADED:
                connection.sendall(case.sent + frame(TEXT, _PROBE))
                _read_frames(heard, connection, received, end_s)
    except OSError:
        heard.closed = True
    return case.judge(heard)


def _handshake(authority: str, case: WebSocketCase) -> bytes:
    fields: dict[str, str | None] = {
        "Host": authority,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": _KEY,
        "Sec-WebSocket-Version": "13",
        **dict(case.fields),
    }
    lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join(("GET /echo HTTP/1.1", *lines, "", "")).encode()


def _received(connection: socket.socket, end_s: float) -> Iterator[bytes]:
    """Pieces of what comes, until the connection ends (an empty one) or the time is over."""
    while (left_s := end_s - time.monotonic()) > 0:
        connection.settimeout(left_s)
        try:
            piece = connection.recv(_READ_BYTES)
        except TimeoutError:
            return
        yield piece
        if not piece:
            return


def _read_head(heard: WebSocketHeard, connection: socket.socket, end_s: float) -> bytes:
    """Reads the response to the handshake; what came behind its head."""
    received = b""
    for piece in _received(connection, end_s):
        received += piece
        heard.closed = not piece
        head, end, rest = received.partition(b"\r\n\r\n")
        if end:
            first, *lines = head.decode("latin-1").split("\r\n")
            stated = _STATUS.match(first)
            heard.status = int(stated[1]) if stated else 0
            fields = (line.partition(":") for line in lines)
            heard.fields = {name.strip().lower(): value.strip() for name, _, value in fields}
            return rest
        if len(received) > _LONGEST_HEAD_BYTES:
            break
    return b""


def _read_frames(
    heard: WebSocketHeard, connection: socket.socket, received: bytes, end_s: float
) -> None:
    """Reads frames until the last message has come back, or the connection ends."""
    for piece in _received(connection, end_s):
        heard.closed = not piece
        received = _take(heard, received + piece)
        if heard.closed or heard.has_gone_on:
            return


def _take(heard: WebSocketHeard, received: bytes) -> bytes:
    """Takes in whole frames of a server; what is left of the bytes."""
    while len(received) > 1:
        length, start = received[1] & 0x7F, 2
        if length > _SHORT:
            size = 2 if length == _TWO_BYTES else 8
            start += size
            length = int.from_bytes(received[2:start])
        if len(received) < start + length:
            break
        heard.frames.append((received[0] & 0x0F, received[start : start + length]))
        received = received[start + length :]
    return received
