"""A proxy between a client and its server that cuts the connection when it sees certain bytes."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

_BYTES = 1 << 16
_RESET = struct.pack("ii", 1, 0)
"""`SO_LINGER` of no time: a connection that is closed is reset."""


class Proxy:
    """Forwards connections to a port on loopback.

    Args:
        target: The port of the server.

    Attributes:
        cut_at: The connection is cut when the client sends these bytes, before they reach the
            server; empty to cut it at once; None to leave it alone.
        forwarded_bytes: What of a client reaches the server before it is cut; None for all.
        cuts: How often it has cut.
    """

    def __init__(self, target: int) -> None:
        self.cut_at: bytes | None = None
        self.forwarded_bytes: int | None = None
        self.cuts = 0
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._sides: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        """Ends it."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for side in self._sides:
            _end(side)
        for thread in self._threads:
            thread.join(10)
        for side in self._sides:
            side.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                self._sides += [client, server]
                for work in (self._to_server, self._to_client):
                    thread = threading.Thread(target=work, args=(client, server), daemon=True)
                    self._threads.append(thread)
                    thread.start()

    def _to_server(self, client: socket.socket, server: socket.socket) -> None:
        seen, passed = b"", 0
        with suppress(OSError):
            while block := client.recv(_BYTES):
                seen = seen[-100:] + block
                if self.cut_at is not None and self.cut_at in seen:
                    return self._cut(client, server)
                passed += len(block)
                if self.forwarded_bytes is not None and passed > self.forwarded_bytes:
                    return self._cut(client, server)
                server.sendall(block)
        _end(server)
        return None

    def _to_client(self, client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError):
            while block := server.recv(_BYTES):
                client.sendall(block)
        _end(client)

    def _cut(self, client: socket.socket, server: socket.socket) -> None:
        self.cuts += 1
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        for side in (client, server):
            _end(side)


def _end(side: socket.socket) -> None:
    with suppress(OSError):
        side.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(target: int) -> Generator[Proxy]:
    """A proxy for as long as the block runs."""
    proxy = Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
