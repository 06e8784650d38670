"""A server whose responses, or connections, have one fault: `python content_server.py OPTIONS`.

It says its address on stdout as soon as it listens, and serves until it is ended. Requests are
counted over all connections, so that a fault of every nth response comes exactly so often.
"""

from __future__ import annotations

import argparse
import asyncio
import random

RIGHT, WRONG = b"A", b"B"
END = b"\r\n\r\n"


def options() -> argparse.ArgumentParser:
    """The faults and their sizes; without any, the server is right."""
    parser = argparse.ArgumentParser(description=__doc__)
    whole = {"type": int, "default": 0, "metavar": "N"}
    parser.add_argument("--body-bytes", **{**whole, "default": 2048}, help="length of the body")
    parser.add_argument("--wrong-every", **whole, help="the nth body differs in its last byte")
    parser.add_argument("--above", **whole, help="only while more connections than this are open")
    parser.add_argument("--longer-every", **whole, help="the nth body is declared a byte longer")
    parser.add_argument("--extra-every", **whole, help="a byte follows the nth response")
    parser.add_argument("--varying", action="store_true", help="every body has another length")
    parser.add_argument("--announce-after", **whole, help="the nth of a connection ends it")
    parser.add_argument("--drop-after", **whole, help="the request behind the nth ends it")
    return parser


class Server:
    """What all connections have in common."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.open = self.requests = 0
        self.draw = random.Random(1)


class Connection(asyncio.Protocol):
    """One connection: one response for each request."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.asked = server.asked
        self.transport: asyncio.Transport | None = None
        self.responses = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.open += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.open -= 1

    def data_received(self, data: bytes) -> None:
        assert self.transport is not None
        for _ in range(data.count(END)):
            if self.asked.drop_after and self.responses >= self.asked.drop_after:
                self.transport.abort()
                return
            self.server.requests += 1
            self.responses += 1
            self.transport.write(self.response())
            if self.asked.announce_after and self.responses >= self.asked.announce_after:
                self.transport.close()
                return

    def response(self) -> bytes:
        """The response with the fault that is due, if one is."""
        asked = self.asked
        length = asked.body_bytes + self.is_due(asked.longer_every)
        if asked.varying:
            length += self.server.draw.randrange(1000)
        body = RIGHT * length
        if self.is_due(asked.wrong_every) and self.server.open > asked.above:
            body = body[:-1] + WRONG
        last = asked.announce_after and self.responses >= asked.announce_after
        close = b"Connection: close\r\n" if last else b""
        extra = RIGHT if self.is_due(asked.extra_every) else b""
        return b"HTTP/1.1 200 OK\r\n%sContent-Length: %d%s%s%s" % (close, length, END, body, extra)

    def is_due(self, every: int) -> bool:
        """Whether a fault of every nth response is in this one."""
        return every > 0 and self.server.requests % every == 0


async def serve(asked: argparse.Namespace) -> None:
    """Serves until the process is ended."""
    server = Server(asked)
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: Connection(server), "127.0.0.1", 0, backlog=512)
    address, port = listening.sockets[0].getsockname()
    print(f"{address}:{port}", flush=True)
    await listening.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(options().parse_args()))
