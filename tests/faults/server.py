"""A server with one fault of its time, connections or responses: `python server.py OPTIONS`.

It says its address on stdout as soon as it listens, and serves until it is ended. Faults of bodies
and lengths are those of `content_server.py`. Instants count from the first request, and requests
over all connections.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import struct
import time

END = b"\r\n\r\n"
BODY = b"A" * 2048
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER: closed at once, with a reset."""
SLOW_FIRST_TIMES = 5
STOPS_AFTER_S = 1.0
PAGE_BYTES = 4096


def options() -> argparse.ArgumentParser:
    """The faults and their sizes; without any, the server is right."""
    parser = argparse.ArgumentParser(description=__doc__)
    number = {"type": float, "default": 0.0, "metavar": "X"}
    nth = {"type": int, "default": 0, "metavar": "N"}
    parser.add_argument("--service-ms", **number, help="time before each response")
    parser.add_argument("--slower-each-second", **number, help="percent of that time, added up")
    parser.add_argument("--slower-from", **number, help="second from which on it is slower")
    parser.add_argument("--slower-by", **number, help="percent it is then slower")
    parser.add_argument("--slow-first", **number, help="seconds in which it is 5 times slower")
    parser.add_argument("--stop", **number, help="seconds it stops, once, after the first second")
    parser.add_argument("--freeze", **number, help="milliseconds it stops in each second")
    parser.add_argument("--slow-connections", **nth, help="of ten connections, so many are slower")
    parser.add_argument("--slow-times", **{**number, "default": 1.0}, help="so many times slower")
    parser.add_argument("--serial", action="store_true", help="one response after the other")
    parser.add_argument("--cached", action="store_true", help="only the first one takes time")
    parser.add_argument("--mute-connections", **nth, help="so many connections get no response")
    parser.add_argument("--mute-every", **nth, help="the nth request gets no response")
    parser.add_argument("--reset-every", **nth, help="a reset in the middle of the nth body")
    parser.add_argument("--cut-every", **nth, help="the end in the middle of the nth body")
    parser.add_argument("--garbage-every", **nth, help="the nth response is not HTTP")
    parser.add_argument("--twice-every", **nth, help="the nth response is sent twice")
    parser.add_argument("--empty-every", **nth, help="the nth body is empty")
    parser.add_argument("--status", **{**nth, "default": 503}, help="of the responses that have it")
    parser.add_argument("--status-every", **nth, help="the nth response has that status")
    parser.add_argument("--parts-every", **nth, help="the nth connection's come in two segments")
    parser.add_argument("--listen-for", **nth, help="connections after which it does not listen")
    parser.add_argument("--die-after", **number, help="second in which the server dies")
    parser.add_argument("--grow", **number, help="MiB of memory that it takes in each second")
    return parser


class Server:
    """What all connections have in common."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.connections = self.requests = 0
        self.begun_s: float | None = None
        self.free_s = 0.0
        self.kept: list[bytearray] = []
        self.listening: asyncio.Server | None = None

    def begin(self) -> None:
        """Starts what happens at instants when the first request comes."""
        if self.begun_s is not None:
            return
        loop = asyncio.get_running_loop()
        self.begun_s = loop.time()
        asked = self.asked
        if asked.stop:
            loop.call_later(STOPS_AFTER_S, time.sleep, asked.stop)
        if asked.die_after:
            loop.call_later(asked.die_after, os._exit, 1)
        if asked.freeze:
            loop.call_later(0.5, self.freeze)
        if asked.grow:
            self.grow()

    def freeze(self) -> None:
        """Stops for a moment, now and a second later again."""
        asyncio.get_running_loop().call_later(1.0, self.freeze)
        time.sleep(self.asked.freeze / 1000)

    def grow(self) -> None:
        """Takes a tenth of the memory of a second, ten times a second."""
        asyncio.get_running_loop().call_later(0.1, self.grow)
        taken = bytearray(round(self.asked.grow * 2**20 / 10))
        taken[::PAGE_BYTES] = b"\1" * len(taken[::PAGE_BYTES])
        self.kept.append(taken)


class Connection(asyncio.Protocol):
    """One connection: one response for each request, but for the fault."""

    transport: asyncio.Transport

    def __init__(self, server: Server) -> None:
        self.server, self.asked = server, server.asked
        self.number = server.connections
        server.connections += 1

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self.comes_in_parts():
            found = transport.get_extra_info("socket")
            found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        listening = self.server.listening
        if listening and 0 < self.asked.listen_for <= self.server.connections:
            listening.close()

    def data_received(self, data: bytes) -> None:
        self.server.begin()
        for _ in range(data.count(END)):
            self.server.requests += 1
            delay_s, number = self.delay_s(), self.server.requests
            if delay_s:
                asyncio.get_running_loop().call_later(delay_s, self.answer, number)
            else:
                self.answer(number)

    def delay_s(self) -> float:
        """Time until the response."""
        server, asked = self.server, self.asked
        now_s = asyncio.get_running_loop().time()
        passed_s = now_s - (server.begun_s or now_s)
        delay_s = asked.service_ms / 1000
        delay_s *= 1 + asked.slower_each_second / 100 * passed_s
        if asked.slower_by and passed_s >= asked.slower_from:
            delay_s *= 1 + asked.slower_by / 100
        if passed_s < asked.slow_first:
            delay_s *= SLOW_FIRST_TIMES
        if self.number % 10 < asked.slow_connections:
            delay_s *= asked.slow_times
        if asked.cached and server.requests > 1:
            return 0.0
        if asked.serial:
            server.free_s = max(server.free_s, now_s) + delay_s
            return server.free_s - now_s
        return delay_s

    def answer(self, number: int) -> None:
        """Gives the response to the nth request of all, with the fault that is due."""
        asked = self.asked

        def due(every: int) -> bool:
            return every > 0 and number % every == 0

        # The first connection is that of the request before the load.
        if 0 < self.number <= asked.mute_connections or due(asked.mute_every):
            return
        if due(asked.garbage_every):
            self.transport.write(b"\0\1\2 this is not HTTP" + END)
            return
        body = b"" if due(asked.empty_every) else BODY
        status = asked.status if due(asked.status_every) else 200
        head = b"HTTP/1.1 %d X\r\nContent-Length: %d%s" % (status, len(body), END)
        if due(asked.reset_every) or due(asked.cut_every):
            self.break_off(head + body[: len(body) // 2])
        elif self.comes_in_parts():
            self.transport.write(head)
            self.transport.write(body)
        else:
            self.transport.write((head + body) * (1 + due(asked.twice_every)))

    def break_off(self, begun: bytes) -> None:
        """Sends the beginning of a response, and ends the connection with or without a reset."""
        self.transport.write(begun)
        if self.asked.reset_every:
            found = self.transport.get_extra_info("socket")
            found.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self.transport.abort()
        else:
            self.transport.close()

    def comes_in_parts(self) -> bool:
        """Whether head and body are sent apart, the body once the head was acknowledged."""
        every = self.asked.parts_every
        return every > 0 and self.number % every == 0


async def serve(asked: argparse.Namespace) -> None:
    """Serves until the process is ended."""
    server = Server(asked)
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: Connection(server), "127.0.0.1", 0, backlog=512)
    server.listening = listening
    address, port = listening.sockets[0].getsockname()
    print(f"{address}:{port}", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(options().parse_args()))
