"""A server that misbehaves in one way, as a process of its own: `python hostile_server.py WAY`.

It says its address on stdout as soon as it listens, and serves until it is ended.
"""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import sys
import time

RIGHT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
WRONG = b"HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"
MOVED = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: %b\r\n\r\n"
CODED = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Encoding: %b\r\n\r\n"
COMPRESSED = gzip.compress(bytes(range(256)))
SWOLLEN = gzip.compress(bytes(2**20))
"""A kibibyte that is a mebibyte once decoded: it costs its client far more than its server."""
IN_TURN = {
    "redirects": (RIGHT, MOVED % b"/elsewhere"),
    "loops": (MOVED % b"/",),
    "leaves": (MOVED % b"http://other.example/",),
    "truncates": (CODED % (20, b"gzip") + COMPRESSED[:20],),
    "swells": (CODED % (len(SWOLLEN), b"gzip") + SWOLLEN,),
    "folds": (b"HTTP/1.1 200 OK\r\nX: a\r\n  b\r\nContent-Length:\r\n 2\r\n\r\nhi",),
    "confuses": (CODED % (len(COMPRESSED), b"br") + COMPRESSED,),
}
"""What some ways answer requests with, one after the other."""
EVENTS = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"12\r\ndata: 0\n\ndata: 1\n\n\r\n"
)
CHUNKS_END = b"0\r\n\r\n"
REFUSED = b"HTTP/1.1 413 Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
END = b"\r\n\r\n"
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: closed at once, with a reset."""

FREEZES_AFTER_S = 0.4
FREEZES_FOR_S = 2.2
LINGERS_S = 0.02
"""By so much later than its last event a stream ends."""
HURRIES_S = 0.01
"""So long after its response a connection is reset that has not sent its request."""
TIRES_S = 0.012
"""By so much longer every second an answer takes."""


class Server:
    """What all connections have in common."""

    def __init__(self, way: str) -> None:
        self.way = way
        self.connections = self.requests = 0
        self.begun_s: float | None = None
        self.has_frozen = False

    def passed_s(self) -> float:
        """Time since the first request."""
        now_s = time.monotonic()
        self.begun_s = now_s if self.begun_s is None else self.begun_s
        return now_s - self.begun_s


class Connection(asyncio.Protocol):
    """One connection: one answer for each request, but for what is wrong with the server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.transport: asyncio.Transport | None = None
        self.number = server.connections
        server.connections += 1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        for _ in range(data.count(END)):
            self.server.requests += 1
            self.answer()

    def answer(self) -> None:
        """Answers as the server's way is."""
        assert self.transport is not None
        passed_s, nth = self.server.passed_s(), self.server.requests
        match self.server.way:
            case "wrong" if nth % 4 == 0:
                self.transport.write(WRONG)
            case "resets" if nth % 10 == 0:
                self.reset()
            case "starves" if self.number % 4 == 1:
                pass
            case "silent" if self.number:  # the first connection is that of before the load
                pass
            case "freezes" if passed_s > FREEZES_AFTER_S and not self.server.has_frozen:
                self.server.has_frozen = True
                time.sleep(FREEZES_FOR_S)
                self.transport.write(RIGHT)
            case "lingers":
                self.transport.write(EVENTS)
                asyncio.get_running_loop().call_later(LINGERS_S, self.transport.write, CHUNKS_END)
            case "hurries":
                self.transport.write(REFUSED)
                self.transport.pause_reading()
                asyncio.get_running_loop().call_later(HURRIES_S, self.reset)
            case "tires":
                asyncio.get_running_loop().call_later(passed_s * TIRES_S, self.write_right)
            case way:
                answers = IN_TURN.get(way, (RIGHT,))
                self.transport.write(answers[nth % len(answers)])

    def write_right(self) -> None:
        """Answers rightly."""
        assert self.transport is not None
        self.transport.write(RIGHT)

    def reset(self) -> None:
        """Ends the connection as a server does that has crashed."""
        assert self.transport is not None
        found = self.transport.get_extra_info("socket")
        found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.transport.abort()


async def serve(way: str) -> None:
    """Serves in one way until the process is ended."""
    server = Server(way)
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: Connection(server), "127.0.0.1", 0, backlog=512)
    address, port = listening.sockets[0].getsockname()
    print(f"{address}:{port}", flush=True)
    await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
