"""Servers that echo messages of WebSocket, or take exactly one shortcut.

`HonestEcho` keeps the contract, and `harmless` servers do; each other class under it is one cheat.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import itertools
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
AT_ONCE_BYTES = 64
"""Length of the messages that the check sends at once."""

CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


@dataclass(frozen=True)
class Frame:
    """A frame, freed of its mask."""

    opcode: int
    payload: bytes
    is_final: bool = True

    def written(self) -> bytes:
        first, length = self.opcode | 0x80 * self.is_final, len(self.payload)
        if length < 126:
            return bytes([first, length]) + self.payload
        if length < 1 << 16:
            return bytes([first, 126]) + length.to_bytes(2) + self.payload
        return bytes([first, 127]) + length.to_bytes(8) + self.payload


class HonestEcho:
    """Keeps the contract."""

    def __init__(self) -> None:
        self.begun: list[Frame] = []

    def greeting(self) -> Iterator[Frame]:
        """What is sent when the connection is upgraded."""
        yield from ()

    def answers(self, frame: Frame) -> Iterator[Frame]:
        """What is sent when a frame has come."""
        if frame.opcode == PING:
            yield from self.pong(frame)
        elif frame.opcode == CLOSE:
            yield from self.closed(frame)
        elif frame.opcode in (TEXT, BINARY, CONTINUATION):
            yield from self.fragment(frame)

    def fragment(self, frame: Frame) -> Iterator[Frame]:
        self.begun.append(frame)
        if frame.is_final:
            whole = b"".join(one.payload for one in self.begun)
            opcode = self.begun[0].opcode
            self.begun = []
            yield from self.message(opcode, whole)

    def message(self, opcode: int, whole: bytes) -> Iterator[Frame]:
        yield Frame(opcode, whole)

    def pong(self, ping: Frame) -> Iterator[Frame]:
        yield Frame(PONG, ping.payload)

    def closed(self, close: Frame) -> Iterator[Frame]:
        yield close


class AlwaysBinary(HonestEcho):
    """Does not tell text from binary."""

    def message(self, opcode: int, whole: bytes) -> Iterator[Frame]:
        yield Frame(BINARY, whole)


class AlwaysText(HonestEcho):
    """Takes every message for text."""

    def message(self, opcode: int, whole: bytes) -> Iterator[Frame]:
        yield Frame(TEXT, whole)


class InLatin(HonestEcho):
    """Loses characters beyond Latin-1."""

    def message(self, opcode: int, whole: bytes) -> Iterator[Frame]:
        if opcode == TEXT:
            whole = whole.decode().encode("latin-1", "replace").decode("latin-1").encode()
        yield Frame(opcode, whole)


class FirstFrameOnly(HonestEcho):
    """Takes the first fragment for the message."""

    def fragment(self, frame: Frame) -> Iterator[Frame]:
        if frame.opcode != CONTINUATION:
            yield from self.message(frame.opcode, frame.payload)


class CutAt64K(HonestEcho):
    """Knows no length of eight bytes."""

    def message(self, opcode: int, whole: bytes) -> Iterator[Frame]:
        yield Frame(opcode, whole[: (1 << 16) - 1])


class KeptByLength(HonestEcho):
    """Gives the first message of a length to all of that length."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[int, bytes] = {}

    def message(self, opcode: int, whole: bytes) -> Iterator[Frame]:
        yield Frame(opcode, self.kept.setdefault(len(whole), whole))


class PairsSwapped(HonestEcho):
    """Keeps the first of two messages that come at once, and sends it after the second."""

    def __init__(self) -> None:
        super().__init__()
        self.first: Frame | None = None

    def message(self, opcode: int, whole: bytes) -> Iterator[Frame]:
        if len(whole) != AT_ONCE_BYTES:
            yield Frame(opcode, whole)
        elif self.first is None:
            self.first = Frame(opcode, whole)
        else:
            yield from (Frame(opcode, whole), self.first)
            self.first = None


class NoPong(HonestEcho):
    """Does not answer pings."""

    def pong(self, ping: Frame) -> Iterator[Frame]:
        yield from ()


class EmptyPong(HonestEcho):
    """Answers pings without what they hold."""

    def pong(self, ping: Frame) -> Iterator[Frame]:
        yield Frame(PONG, b"")


class ClosesWithoutCode(HonestEcho):
    """Answers a close frame without its code."""

    def closed(self, close: Frame) -> Iterator[Frame]:
        yield Frame(CLOSE, b"")


class PingsForEver(HonestEcho):
    """Sends pings instead of messages."""

    def answers(self, frame: Frame) -> Iterator[Frame]:
        yield Frame(PING, b"")


class HeartbeatEcho(HonestEcho):
    """Sends pings of its own, one of them first, and echoes nothing before each has its pong."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = itertools.count()
        self.awaited = b""
        self.held: list[Frame] = []

    def ping(self) -> Frame:
        self.awaited = b"%d" % next(self.numbers)
        return Frame(PING, self.awaited)

    def greeting(self) -> Iterator[Frame]:
        yield self.ping()

    def answers(self, frame: Frame) -> Iterator[Frame]:
        if frame.opcode == CLOSE:
            yield from super().answers(frame)
            return
        if frame.opcode != PONG:
            self.held.append(frame)
            return
        assert frame.payload == self.awaited
        for held in self.held:
            yield from super().answers(held)
        self.held.clear()
        yield self.ping()


class PongsUnasked(HonestEcho):
    """Sends pongs that nobody asked for, as one-way heartbeats."""

    def greeting(self) -> Iterator[Frame]:
        yield Frame(PONG, b"")

    def answers(self, frame: Frame) -> Iterator[Frame]:
        yield Frame(PONG, b"alive")
        yield from super().answers(frame)


HARMLESS = (HeartbeatEcho, PongsUnasked)
"""They keep the contract, with control frames of their own; RFC 6455, sections 5.5.2 and 5.5.3."""


def gallery() -> tuple[type[HonestEcho], ...]:
    """Every cheat."""
    return tuple(one for one in HonestEcho.__subclasses__() if one not in HARMLESS)


async def serve(echo: type[HonestEcho], host: str, port: int) -> asyncio.Server:
    """Listens; each connection has an echo of its own."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await upgrade(reader, writer)
            own = echo()
            writer.writelines(frame.written() for frame in own.greeting())
            async for frame in frames(reader):
                writer.writelines(answer.written() for answer in own.answers(frame))
                await writer.drain()
                if frame.opcode == CLOSE:
                    return
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    return await asyncio.start_server(talk, host, port)


async def upgrade(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    fields = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    (key,) = (
        value.strip() for name, _, value in fields if name.strip().lower() == b"sec-websocket-key"
    )
    accept = base64.b64encode(hashlib.sha1(key + MAGIC, usedforsecurity=False).digest())
    writer.write(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Accept: %s\r\n\r\n" % accept
    )


async def frames(reader: asyncio.StreamReader) -> AsyncIterator[Frame]:
    while True:
        first, second = await reader.readexactly(2)
        length = second & 0x7F
        if length >= 126:
            length = int.from_bytes(await reader.readexactly(2 if length == 126 else 8))
        mask, payload = await reader.readexactly(4), await reader.readexactly(length)
        key = (mask * (length // 4 + 1))[:length]
        bare = (int.from_bytes(payload) ^ int.from_bytes(key)).to_bytes(length)
        yield Frame(first & 0x0F, bare, bool(first & 0x80))
