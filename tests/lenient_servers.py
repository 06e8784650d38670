"""Servers of HTTP/2 and WebSocket that take everything: they break every rule on what to refuse."""

from __future__ import annotations

import socketserver
import threading
from base64 import b64encode
from collections.abc import Generator
from contextlib import contextmanager
from hashlib import sha1

from plimsoll.serving.compliance import http2, websocket

BODY = b"A" * 64
HEAD_OF_RESPONSE = b"\x88"
"""`:status` 200 in the static table; RFC 7541, appendix A."""


class LenientHttp2(socketserver.BaseRequestHandler):
    """Responds with 200 to every stream it hears of, whatever the windows, and answers PINGs."""

    def handle(self) -> None:
        left = b""
        settings = http2.frame(http2.SETTINGS, 0, 0) + http2.frame(http2.SETTINGS, http2.ACK, 0)
        self.request.sendall(settings)
        while received := self.request.recv(1 << 16):
            left += received
            left = left[len(http2.PREFACE) :] if left.startswith(b"PRI ") else left
            while len(left) >= 9 and len(left) >= 9 + int.from_bytes(left[:3]):
                end = 9 + int.from_bytes(left[:3])
                self.answer(left[3], int.from_bytes(left[5:9]), left[9:end])
                left = left[end:]

    def answer(self, kind: int, stream: int, payload: bytes) -> None:
        if kind == http2.PING:
            self.request.sendall(http2.frame(http2.PING, http2.ACK, 0, payload))
        elif kind in (http2.HEADERS, http2.WINDOW_UPDATE) and stream:
            head = http2.frame(http2.HEADERS, http2.END_HEADERS, stream, HEAD_OF_RESPONSE)
            body = http2.frame(http2.DATA, http2.END_STREAM, stream, BODY)
            self.request.sendall(head + body)


class MuteHttp2(socketserver.BaseRequestHandler):
    """Says nothing but SETTINGS."""

    def handle(self) -> None:
        self.request.sendall(http2.frame(http2.SETTINGS, 0, 0))
        while self.request.recv(1 << 16):
            pass


class LenientWebSocket(socketserver.BaseRequestHandler):
    """Upgrades whoever asks, and echoes the payload of every frame as text."""

    def handle(self) -> None:
        head = self.request.recv(1 << 16).decode()
        lines = dict(line.split(": ", 1) for line in head.splitlines()[1:] if line)
        key = lines.get("Sec-WebSocket-Key", "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = b64encode(sha1(key.encode()).digest()).decode()  # noqa: S324 - RFC 6455
        self.request.sendall(
            "HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        )
        while received := self.request.recv(1 << 16):
            # The last message is not longer than 125 bytes, and comes masked in one piece.
            payload, mask = received[-16:], received[-20:-16]
            text = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
            self.request.sendall(websocket.frame(websocket.TEXT, text, masked=False))


class MuteWebSocket(socketserver.BaseRequestHandler):
    """Knows no WebSocket."""

    def handle(self) -> None:
        self.request.recv(1 << 16)
        self.request.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")


class SquaredStatus(socketserver.BaseRequestHandler):
    """Has a status that Unicode calls a digit, and that is no number."""

    def handle(self) -> None:
        self.request.recv(1 << 16)
        self.request.sendall(b"HTTP/1.1 \xb2 Squared\r\nContent-Length: 0\r\n\r\n")


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        pass


@contextmanager
def served(handler: type[socketserver.BaseRequestHandler]) -> Generator[tuple[str, int]]:
    """A server in threads of its own; gives its address."""
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            host, port = server.socket.getsockname()
            yield host, port
        finally:
            server.shutdown()
            thread.join()
