"""Servers that send events at the wrong time: each is caught by the problem named here."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from plimsoll.campaign.endpoints import by_name
from plimsoll.campaign.endpoints.stream import EVERY_S
from plimsoll.serving import contract
from plimsoll.serving.contract import CheckedServer

SEED = 20261126


class Streaming(BaseHTTPRequestHandler):
    """Sends each event when it is due."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        before, _, last = self.path.rpartition("/")
        if before != "/stream":
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        begun_s = time.monotonic()
        for event in self.events(int(last), begun_s):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    def events(self, count: int, begun_s: float) -> Iterator[bytes]:
        for number in range(count):
            self.wait(begun_s + number * EVERY_S)
            yield f"data: {number}\n\n".encode()

    def wait(self, until_s: float) -> None:
        time.sleep(max(until_s - time.monotonic(), 0.0))

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""


class Early(Streaming):
    """Waits for nothing."""

    def wait(self, until_s: float) -> None:
        pass


class Held(Streaming):
    """Sends all events when the last one is due."""

    def events(self, count: int, begun_s: float) -> Iterator[bytes]:
        yield b"".join(super().events(count, begun_s))


class HeldOnce(Streaming):
    """Holds the events of its first stream back until the last one is due."""

    held = 0

    def events(self, count: int, begun_s: float) -> Iterator[bytes]:
        HeldOnce.held += 1
        found = super().events(count, begun_s)
        yield from (b"".join(found),) if HeldOnce.held == 1 else found


class HeldButFirst(Streaming):
    """Sends the first event, and all others when the last one is due."""

    def events(self, count: int, begun_s: float) -> Iterator[bytes]:
        yield from super().events(1, begun_s)
        yield b"".join([*super().events(count, begun_s)][1:])


class Short(Streaming):
    """Leaves the last event out."""

    def events(self, count: int, begun_s: float) -> Iterator[bytes]:
        return super().events(count - 1, begun_s)


CAUGHT = {
    "Early": "due after",
    "Held": "all events came within",
    "HeldButFirst": "10 events came at 2 instants",
    "Short": "events, expected",
}
"""Cheat to words of the problem that names it."""


@contextmanager
def served(handler: type[Streaming]) -> Iterator[tuple[str, int]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield "127.0.0.1", server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def failures(handler: type[Streaming]) -> list[str]:
    with served(handler) as address:
        return [
            str(one) for one in contract.failures(CheckedServer(address), by_name("stream"), SEED)
        ]


def test_a_server_that_sends_events_when_they_are_due_keeps_the_contract() -> None:
    assert failures(Streaming) == []


def test_events_that_come_at_once_a_single_time_are_the_hosts() -> None:
    assert failures(HeldOnce) == []
    assert HeldOnce.held > 1


@pytest.mark.parametrize("cheat", [Early, Held, HeldButFirst, Short])
def test_events_at_the_wrong_time_are_caught(cheat: type[Streaming]) -> None:
    found = failures(cheat)
    assert any(CAUGHT[cheat.__name__] in one for one in found), found
