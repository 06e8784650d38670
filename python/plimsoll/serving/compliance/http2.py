"""The cases of HTTP/2: frames that few clients send, and what comes of them.

They are sent without TLS, to servers that state `h2c`. A PING follows each: who answers it has gone
on. Sources are sections of RFC 9113; most cases are among those of h2spec.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import hpack

if TYPE_CHECKING:
    from plimsoll.recording.compliance import Compliance
    from plimsoll.serving.asking import Address

    Judged = tuple[Compliance, str]

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
WINDOW_UPDATE, CONTINUATION, UNKNOWN = 8, 9, 0x42
"""Types of frames; RFC 9113, 6."""

END_STREAM = ACK = 1
END_HEADERS = 4

ENABLE_PUSH, INITIAL_WINDOW_SIZE, UNKNOWN_SETTING = 2, 4, 0x4242
LARGEST_WINDOW = 2**31 - 1

_HEAD_BYTES = 9
_READ_BYTES = 1 << 16
_PROBE = b"plimsoll"
_OTHER_PING = b"answerme"
_OK = 200
_BAD_REQUEST = 400
_SERVER_ERROR = 500


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """A frame; RFC 9113, 4.1."""
    return len(payload).to_bytes(3) + bytes((kind, flags)) + stream.to_bytes(4) + payload


@dataclass(frozen=True)
class Http2Usual:
    """The request that servers respond to with 200.

    Attributes:
        authority: Host and port of the server.
        path: Its path.
    """

    authority: str
    path: str

    def block(self, *more: tuple[str, str], without: str = "", method: str = "GET") -> bytes:
        """The header block of the request; nothing in it refers to an earlier one.

        Args:
            more: Fields after the usual ones.
            without: Pseudo-field that is left out.
            method: Its method.
        """
        pseudo = {
            ":method": method,
            ":scheme": "http",
            ":path": self.path,
            ":authority": self.authority,
        }
        fields = [(name, value) for name, value in pseudo.items() if name != without]
        return b"".join(map(_literal, (*fields, *more)))

    def request(
        self, *more: tuple[str, str], stream: int = 1, without: str = "", method: str = "GET"
    ) -> bytes:
        """The request whole, in one frame."""
        block = self.block(*more, without=without, method=method)
        return frame(HEADERS, END_HEADERS | END_STREAM, stream, block)

    def begun(self, *more: tuple[str, str], stream: int = 1) -> bytes:
        """A request whose body is still to come."""
        return frame(HEADERS, END_HEADERS, stream, self.block(*more, method="POST"))


def _literal(header: tuple[str, str]) -> bytes:
    """A field that no table keeps; RFC 7541, 6.2.3."""
    name, value = (text.encode() for text in header)
    return b"\x10" + bytes((len(name),)) + name + bytes((len(value),)) + value


@dataclass
class Http2Heard:
    """What came.

    Attributes:
        statuses: Status of the response on each stream; 0 for a head without one.
        ended: Streams whose response is complete.
        body_bytes: Bytes of the body on each stream.
        resets: Error code of each stream that was reset.
        go_away: Error code of a GOAWAY; None without one.
        pongs: Payloads of answered PINGs.
        acknowledged: SETTINGS that were acknowledged.
        has_settings: Whether the server began with SETTINGS.
        closed: Whether the connection was closed.
    """

    statuses: dict[int, int] = field(default_factory=dict[int, int])
    ended: set[int] = field(default_factory=set[int])
    body_bytes: dict[int, int] = field(default_factory=dict[int, int])
    resets: dict[int, int] = field(default_factory=dict[int, int])
    go_away: int | None = None
    pongs: list[bytes] = field(default_factory=list[bytes])
    acknowledged: int = 0
    has_settings: bool = False
    closed: bool = False

    @property
    def has_ended(self) -> bool:
        """Whether the connection is over, or the server said that it ends for an error."""
        return self.closed or bool(self.go_away)

    @property
    def has_gone_on(self) -> bool:
        """Whether the server read on behind all that was sent."""
        return _PROBE in self.pongs

    def __str__(self) -> str:
        """What came, in a few words."""
        parts = [str(status) for status in self.statuses.values()]
        parts += [f"RST_STREAM {code:#x}" for code in self.resets.values()]
        if self.go_away is not None:
            parts.append(f"GOAWAY {self.go_away:#x}")
        elif self.closed:
            parts.append("closed")
        elif self.has_gone_on:
            parts.append("went on")
        return ", ".join(parts) or "no response"


Http2Judge = Callable[[Http2Heard], "Judged"]


def ends_connection(heard: Http2Heard) -> Judged:
    """The connection must be closed, mostly after a GOAWAY."""
    return ("conforms" if heard.has_ended else "differs"), str(heard)


def refuses_stream(heard: Http2Heard) -> Judged:
    """The stream must be reset, or the connection closed; a response of 4xx may come first."""
    refused = any(_BAD_REQUEST <= one < _SERVER_ERROR for one in heard.statuses.values())
    return ("conforms" if heard.has_ended or heard.resets or refused else "differs"), str(heard)


def responds(heard: Http2Heard) -> Judged:
    """The response must be 200."""
    is_right = heard.has_settings and heard.statuses == {1: _OK} and not heard.resets
    return ("conforms" if is_right else "differs"), str(heard)


def acknowledges(heard: Http2Heard) -> Judged:
    """The frame must be answered with ACK set."""
    is_right = heard.acknowledged > 0 and _OTHER_PING in heard.pongs
    return ("conforms" if is_right else "differs"), str(heard)


def waits_for_window(heard: Http2Heard) -> Judged:
    """No more of the body may come than the window takes."""
    is_right = heard.statuses == {1: _OK} and heard.body_bytes.get(1, 0) <= 1
    return ("conforms" if is_right else "differs"), f"{heard}, {heard.body_bytes.get(1, 0)} bytes"


@dataclass(frozen=True)
class Http2Case:
    """One case.

    Attributes:
        name: Its name.
        title: What is sent, in a few words.
        source: Section that says how to respond.
        sent: Makes the frames that follow the preface and SETTINGS.
        judge: Judges what came.
        settings: Payload of the first SETTINGS.
        preface: What the connection begins with.
    """

    name: str
    title: str
    source: str
    sent: Callable[[Http2Usual], bytes]
    judge: Http2Judge
    settings: bytes = b""
    preface: bytes = PREFACE


def _setting(identifier: int, value: int) -> bytes:
    return identifier.to_bytes(2) + value.to_bytes(4)


def _in_continuations(usual: Http2Usual) -> bytes:
    block = usual.block()
    return (
        frame(HEADERS, END_STREAM, 1, block[:5])
        + frame(CONTINUATION, 0, 1, block[5:9])
        + frame(CONTINUATION, END_HEADERS, 1, block[9:])
    )


CASES: tuple[Http2Case, ...] = (
    Http2Case("h2_request", "a request", "RFC 9113, 3.4", Http2Usual.request, responds),
    Http2Case(
        "h2_preface",
        "a preface that is none",
        "RFC 9113, 3.4",
        Http2Usual.request,
        ends_connection,
        preface=b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    ),
    Http2Case(
        "h2_acknowledged",
        "SETTINGS and PING",
        "RFC 9113, 6.5.3 and 6.7",
        lambda _: frame(PING, 0, 0, _OTHER_PING),
        acknowledges,
    ),
    Http2Case(
        "h2_unknown_frame",
        "a frame of unknown type",
        "RFC 9113, 4.1 and 5.5",
        lambda usual: frame(UNKNOWN, 0xFF, 0, b"?" * 7) + usual.request(),
        responds,
    ),
    Http2Case(
        "h2_unknown_setting",
        "an unknown setting",
        "RFC 9113, 6.5.2",
        Http2Usual.request,
        responds,
        settings=_setting(UNKNOWN_SETTING, 1),
    ),
    Http2Case(
        "h2_continuations",
        "a header block in three frames",
        "RFC 9113, 4.3 and 6.10",
        _in_continuations,
        responds,
    ),
    Http2Case(
        "h2_window",
        "a stream window of one byte",
        "RFC 9113, 6.9.1",
        Http2Usual.request,
        waits_for_window,
        settings=_setting(INITIAL_WINDOW_SIZE, 1),
    ),
    Http2Case(
        "h2_data_on_zero",
        "DATA on stream 0",
        "RFC 9113, 6.1",
        lambda _: frame(DATA, END_STREAM, 0, b"?"),
        ends_connection,
    ),
    Http2Case(
        "h2_headers_on_zero",
        "HEADERS on stream 0",
        "RFC 9113, 6.2",
        lambda usual: usual.request(stream=0),
        ends_connection,
    ),
    Http2Case(
        "h2_even_stream",
        "a stream with an even number",
        "RFC 9113, 5.1.1",
        lambda usual: usual.request(stream=2),
        ends_connection,
    ),
    Http2Case(
        "h2_lower_stream",
        "a stream with a lower number than the last",
        "RFC 9113, 5.1.1",
        lambda usual: usual.request(stream=5) + usual.request(stream=3),
        ends_connection,
    ),
    Http2Case(
        "h2_idle_stream",
        "DATA on a stream that was not opened",
        "RFC 9113, 5.1",
        lambda _: frame(DATA, END_STREAM, 1, b"?"),
        ends_connection,
    ),
    Http2Case(
        "h2_reset_idle",
        "RST_STREAM on a stream that was not opened",
        "RFC 9113, 6.4",
        lambda _: frame(RST_STREAM, 0, 1, bytes(4)),
        ends_connection,
    ),
    Http2Case(
        "h2_settings_length",
        "SETTINGS of a wrong length",
        "RFC 9113, 6.5",
        lambda _: frame(SETTINGS, 0, 0, bytes(3)),
        ends_connection,
    ),
    Http2Case(
        "h2_settings_ack",
        "an ACK of SETTINGS with content",
        "RFC 9113, 6.5",
        lambda _: frame(SETTINGS, ACK, 0, bytes(6)),
        ends_connection,
    ),
    Http2Case(
        "h2_enable_push",
        "ENABLE_PUSH with the value 2",
        "RFC 9113, 6.5.2",
        lambda _: frame(SETTINGS, 0, 0, _setting(ENABLE_PUSH, 2)),
        ends_connection,
    ),
    Http2Case(
        "h2_initial_window",
        "INITIAL_WINDOW_SIZE above its maximum",
        "RFC 9113, 6.5.2",
        lambda _: frame(SETTINGS, 0, 0, _setting(INITIAL_WINDOW_SIZE, LARGEST_WINDOW + 1)),
        ends_connection,
    ),
    Http2Case(
        "h2_ping_length",
        "a PING of seven bytes",
        "RFC 9113, 6.7",
        lambda _: frame(PING, 0, 0, bytes(7)),
        ends_connection,
    ),
    Http2Case(
        "h2_window_zero",
        "WINDOW_UPDATE by 0 on a stream",
        "RFC 9113, 6.9",
        lambda usual: usual.begun() + frame(WINDOW_UPDATE, 0, 1, bytes(4)),
        refuses_stream,
    ),
    Http2Case(
        "h2_window_overflow",
        "a window of the connection above its maximum",
        "RFC 9113, 6.9.1",
        lambda _: frame(WINDOW_UPDATE, 0, 0, LARGEST_WINDOW.to_bytes(4)),
        ends_connection,
    ),
    Http2Case(
        "h2_continuation_alone",
        "CONTINUATION without HEADERS",
        "RFC 9113, 6.10",
        lambda usual: frame(CONTINUATION, END_HEADERS, 1, usual.block()),
        ends_connection,
    ),
    Http2Case(
        "h2_interrupted_block",
        "a PING within a header block",
        "RFC 9113, 4.3",
        lambda usual: (
            frame(HEADERS, END_STREAM, 1, usual.block())
            + frame(PING, 0, 0, _OTHER_PING)
            + frame(CONTINUATION, END_HEADERS, 1)
        ),
        ends_connection,
    ),
    Http2Case(
        "h2_broken_block",
        "a header block that cannot be decoded",
        "RFC 9113, 4.3",
        lambda _: frame(HEADERS, END_HEADERS | END_STREAM, 1, b"\xff\xff\xff\xff\xff\xff"),
        ends_connection,
    ),
    Http2Case(
        "h2_upper_case",
        "a field name in upper case",
        "RFC 9113, 8.2.1",
        lambda usual: usual.request(("X-Plimsoll", "1")),
        refuses_stream,
    ),
    Http2Case(
        "h2_connection_field",
        "a field Connection",
        "RFC 9113, 8.2.2",
        lambda usual: usual.request(("connection", "keep-alive")),
        refuses_stream,
    ),
    Http2Case(
        "h2_no_path",
        "no :path",
        "RFC 9113, 8.3.1",
        lambda usual: usual.request(without=":path"),
        refuses_stream,
    ),
    Http2Case(
        "h2_late_pseudo",
        "a pseudo-field after a field",
        "RFC 9113, 8.3",
        lambda usual: usual.request(("x-plimsoll", "1"), (":path", usual.path), without=":path"),
        refuses_stream,
    ),
    Http2Case(
        "h2_unknown_pseudo",
        "an unknown pseudo-field",
        "RFC 9113, 8.3",
        lambda usual: frame(
            HEADERS,
            END_HEADERS | END_STREAM,
            1,
            _literal((":plimsoll", "1")) + usual.block(),
        ),
        refuses_stream,
    ),
    Http2Case(
        "h2_length_differs",
        "more DATA than Content-Length",
        "RFC 9113, 8.1.1",
        lambda usual: (
            usual.begun(("content-length", "1")) + frame(DATA, END_STREAM, 1, b"too long")
        ),
        refuses_stream,
    ),
)
"""Every case, in the order of the report."""


def tried(address: Address, usual: Http2Usual, patience_s: float, case: Http2Case) -> Judged:
    """What a server makes of a case, on a connection of its own.

    Args:
        address: Where it listens.
        usual: The request that it responds to.
        patience_s: How long it is waited for, in seconds.
        case: The case.
    """
    sent = case.preface + frame(SETTINGS, 0, 0, case.settings) + case.sent(usual)
    try:
        with socket.create_connection(address, patience_s) as connection:
            connection.sendall(sent + frame(PING, 0, 0, _PROBE))
            heard = _listen(connection, time.monotonic() + patience_s, is_done=_is_done(case))
    except OSError:
        heard = Http2Heard(closed=True)
    return case.judge(heard)


def _is_done(case: Http2Case) -> Callable[[Http2Heard], bool]:
    """Whether nothing more needs to be waited for."""
    if case.judge in (responds, refuses_stream):
        return lambda heard: bool(heard.ended or heard.resets)
    if case.judge is waits_for_window:
        # What comes too much comes with the head, or is late for no good reason.
        return lambda heard: bool(heard.ended) or (bool(heard.statuses) and heard.has_gone_on)
    return lambda heard: heard.has_gone_on


def _listen(
    connection: socket.socket, end_s: float, is_done: Callable[[Http2Heard], bool]
) -> Http2Heard:
    """Reads frames until all has come, the connection ends, or the time is over."""
    heard, decoder, received = Http2Heard(), hpack.Decoder(), b""
    while not (heard.has_ended or is_done(heard)):
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            break
        connection.settimeout(left_s)
        try:
            more = connection.recv(_READ_BYTES)
        except TimeoutError:
            break
        except OSError:
            more = b""
        if not more:
            heard.closed = True
        received = _take(heard, decoder, received + more)
    return heard


def _take(heard: Http2Heard, decoder: hpack.Decoder, received: bytes) -> bytes:
    """Takes in whole frames; what is left of the bytes."""
    while len(received) >= _HEAD_BYTES:
        end = _HEAD_BYTES + int.from_bytes(received[:3])
        if len(received) < end:
            break
        kind, flags = received[3], received[4]
        stream = int.from_bytes(received[5:_HEAD_BYTES]) & LARGEST_WINDOW
        _take_frame(heard, decoder, kind, flags, stream, received[_HEAD_BYTES:end])
        received = received[end:]
    return received


def _take_frame(
    heard: Http2Heard, decoder: hpack.Decoder, kind: int, flags: int, stream: int, payload: bytes
) -> None:
    if kind in (DATA, HEADERS) and flags & END_STREAM:
        heard.ended.add(stream)
    if kind == SETTINGS:
        heard.has_settings = True
        heard.acknowledged += flags & ACK
    elif kind == HEADERS and heard.statuses.get(stream, 0) < _OK:
        heard.statuses[stream] = _status(decoder, payload)
    elif kind == DATA:
        heard.body_bytes[stream] = heard.body_bytes.get(stream, 0) + len(payload)
    elif kind == RST_STREAM:
        heard.resets[stream] = int.from_bytes(payload[:4])
    elif kind == PING and flags & ACK:
        heard.pongs.append(payload)
    elif kind == GOAWAY:
        heard.go_away = int.from_bytes(payload[4:8])


def _status(decoder: hpack.Decoder, block: bytes) -> int:
    """The status in a header block; 0 where there is none that can be read."""
    try:
        fields = decoder.decode(block, raw=True)
        return next((int(value) for name, value, *_ in fields if name == b":status"), 0)
    except (hpack.HPACKError, ValueError):
        return 0
