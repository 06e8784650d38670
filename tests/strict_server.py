"""A server that keeps every rule of the compliance gate, or breaks exactly one: `Strict(CASE)`.

It has `GET /2048`, and `POST /echo`, which returns its body.
"""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

HEAD_LIMIT_BYTES = 16 * 1024
LETTERS = b"A" * 2048
ALLOWED = {b"/2048": b"GET, HEAD", b"/echo": b"POST"}


class Refused(Exception):  # noqa: N818 - it is what is sent
    """A response after which the connection is closed."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass(frozen=True)
class Received:
    """A request."""

    method: bytes
    path: bytes
    body: bytes
    closes: bool


class Strict(socketserver.ThreadingTCPServer):
    """Keeps every rule but that of the case that it breaks."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, breaks: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Connection)
        self.breaks = breaks

    def handle_error(self, request: object, client_address: object) -> None:
        pass


class Connection(socketserver.BaseRequestHandler):
    """One connection."""

    server: Strict  # pyright: ignore[reportIncompatibleVariableOverride]
    request: socket.socket

    def handle(self) -> None:
        self.left = b""
        try:
            while (received := self.received()) is not None:
                responses = [self.response(received)]
                while self.breaks("pipelined") and b"\r\n\r\n" in self.left:
                    following = self.received()
                    assert following is not None
                    responses.insert(0, self.response(following))
                self.request.sendall(b"".join(responses))
                if received.closes:
                    return
                if b" 404 " in responses[0] and self.breaks("after_refusal"):
                    while self.request.recv(1 << 16):
                        pass
        except Refused as refused:
            self.request.sendall(rendered(refused.status, b"Connection: close\r\n"))

    def breaks(self, case: str) -> bool:
        return self.server.breaks == case

    def require(self, is_right: bool, case: str, status: int = 400) -> None:
        if not is_right and not self.breaks(case):
            raise Refused(status)

    def more(self) -> bool:
        """Takes further bytes; false at the end."""
        received = self.request.recv(1 << 16)
        self.left += received
        return bool(received)

    def taken(self, length: int) -> bytes:
        """So many bytes."""
        while len(self.left) < length:
            if not self.more():
                raise Refused(400)
        found, self.left = self.left[:length], self.left[length:]
        return found

    def line(self) -> bytes:
        while b"\r\n" not in self.left:
            if not self.more():
                raise Refused(400)
        found, _, self.left = self.left.partition(b"\r\n")
        return found

    def head(self) -> bytes | None:
        """The next head without its end; None when there is no further one."""
        while b"\r\n\r\n" not in self.left.lstrip(b"\r\n"):
            if len(self.left) > HEAD_LIMIT_BYTES:
                if self.breaks("long_head"):
                    return None
                raise Refused(431)
            if not self.more():
                return None
            if self.breaks("fragmented") and b"\r\n\r\n" not in self.left:
                raise Refused(400)
        if self.left.startswith(b"\r\n") and self.breaks("empty_line"):
            return None
        found, _, self.left = self.left.lstrip(b"\r\n").partition(b"\r\n\r\n")
        return found

    def received(self) -> Received | None:
        """The next request."""
        head = self.head()
        if head is None:
            return None
        first, *lines = head.split(b"\r\n")
        if b"\n" in head.replace(b"\r\n", b""):
            raise Refused(500 if self.breaks("bare_lf") else 400)
        if first.count(b" ") != 2:
            raise Refused(400)
        method, target, version = first.split(b" ")
        fields = [self.field(line) for line in lines]
        self.check_host([value for name, value in fields if name == self.name(b"Host")], version)
        if target.startswith(b"http://") and not self.breaks("absolute_form"):
            target = b"/" + target.removeprefix(b"http://").partition(b"/")[2]
        body, closes = self.body(fields)
        wishes = [value.lower() for name, value in fields if name == self.name(b"Connection")]
        closes |= b"close" in wishes and not self.breaks("close")
        closes |= version == b"HTTP/1.0" and not self.breaks("http10")
        return Received(method, target, body, closes)

    def name(self, name: bytes) -> bytes:
        return name if self.breaks("field_names") else name.lower()

    def field(self, line: bytes) -> tuple[bytes, bytes]:
        if line[:1] in (b" ", b"\t"):
            raise Refused(500 if self.breaks("folded") else 400)
        name, _, value = line.partition(b":")
        self.require(name == name.strip(), "space_before_colon")
        return self.name(name.strip()), value.strip()

    def check_host(self, hosts: list[bytes], version: bytes) -> None:
        self.require(bool(hosts) or version == b"HTTP/1.0", "host_missing")
        self.require(len(hosts) < 2, "host_twice")
        self.require(b" " not in b"".join(hosts), "host_invalid")

    def body(self, fields: list[tuple[bytes, bytes]]) -> tuple[bytes, bool]:
        """The body, and whether the connection has to be closed after the response."""
        lengths = [value for name, value in fields if name == self.name(b"Content-Length")]
        codings = [value for name, value in fields if name == self.name(b"Transfer-Encoding")]
        if codings and codings != [b"chunked"]:
            self.require(False, "unknown_coding", 501)
            return b"", False
        if codings:
            return self.chunks(), bool(lengths) and not self.breaks("length_and_chunked")
        if not lengths:
            return b"", False
        self.require(len({*lengths}) == 1, "lengths_differ")
        if len(lengths) > 1 and self.breaks("lengths_equal"):
            raise Refused(500)
        length = self.length(lengths[-1])
        expects = (self.name(b"Expect"), b"100-continue") in fields
        if expects and len(self.left) < length and not self.breaks("expect_continue"):
            self.request.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        return self.taken(length), False

    def length(self, stated: bytes) -> int:
        if stated.isdigit():
            return int(stated)
        self.require(not stated.startswith(b"+"), "length_sign")
        self.require(stated.startswith(b"+"), "length_word")
        return int(stated) if stated.startswith(b"+") else 0

    def chunks(self) -> bytes:
        body = b""
        while size := self.size():
            body += self.taken(size)
            self.line()
        while not self.breaks("trailers") and self.line():
            pass
        return body

    def size(self) -> int:
        line = self.line()
        try:
            return int(line if self.breaks("chunk_extensions") else line.partition(b";")[0], 16)
        except ValueError:
            raise Refused(400) from None

    def response(self, received: Received) -> bytes:
        allowed = ALLOWED.get(received.path)
        closing = b"Connection: close\r\n" if received.closes else b""
        if allowed is None:
            return rendered(404, closing)
        if received.method not in (b"GET", b"HEAD", b"POST", b"OPTIONS"):
            return rendered(405 if self.breaks("unknown_method") else 501, closing)
        if received.method.decode() not in allowed.decode().split(", "):
            allow = b"" if self.breaks("options") else b"Allow: " + allowed + b"\r\n"
            return rendered(405, closing + allow)
        body = LETTERS if received.path == b"/2048" else received.body
        whole = rendered(200, closing, body)
        is_cut = received.method == b"HEAD" and not self.breaks("head")
        return whole.removesuffix(body) if is_cut else whole


def rendered(status: int, fields: bytes = b"", body: bytes = b"") -> bytes:
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\n".encode()
    return head + fields + b"\r\n" + body


@contextmanager
def served(breaks: str = "") -> Generator[tuple[str, int]]:
    """A server in threads of its own; gives its address."""
    with Strict(breaks) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            host, port = server.socket.getsockname()
            yield host, port
        finally:
            server.shutdown()
            thread.join()
