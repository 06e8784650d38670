"""The question whether a server is ready, and its answers."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plimsoll.campaign.requests import Request
from plimsoll.processes import ports
from plimsoll.serving import ready

EMPTY = Request("empty", "GET", "/empty")
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
PROCESSING = b"HTTP/1.1 102 Processing\n\n"


@contextmanager
def _answering(*pieces: bytes, silent: bool = False) -> Iterator[int]:
    """A server for one connection that sends some bytes and closes, or keeps silent."""
    over = threading.Event()
    with socket.create_server((ports.LOOPBACK, 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1 << 16)
                for piece in pieces:
                    connection.sendall(piece)
                if silent:
                    over.wait(20)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        over.set()
        thread.join()


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ((b"HTTP/1.1 200 OK\r\n\r\n",), ""),
        ((b"HTTP/1.0 200 OK\r\n\r\n",), ""),
        ((b"HTT", b"P/1.1 2", b"00 OK\r\n", b"\r\n"), ""),
        ((b"HTTP/1.1 500 Oh\r\n\r\n",), "responded 500"),
        ((b"HTTP/1.1 2000 Oh\r\n\r\n",), "responded 2000"),
        ((), "closed the connection without a response"),
        ((b"220 mail.example ESMTP\r\n",), "responded other than in HTTP/1.1: `220 mail.example"),
        ((b"HTTP/1.1\r\n",), "responded other than in HTTP/1.1: `HTTP/1.1`"),
        ((HINTS, PROCESSING, b"HTTP/1.1 200 OK\r\n\r\n"), ""),
        ((HINTS[:20], HINTS[20:-1], b"\n" + PROCESSING + b"HTTP/1.1 500 Oh\r\n"), "responded 500"),
        ((b"HTTP/1.1 100\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",), ""),
        ((b"HTTP/1.1 101 Switched\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",), "responded 101"),
        ((HINTS,), "closed the connection without a response"),
        ((HINTS[:-2],), "responded 103"),
        ((HINTS, b"220 mail"), "responded other than in HTTP/1.1: `220 mail`"),
    ],
)
def test_only_200_is_right_and_all_else_is_said(pieces: tuple[bytes, ...], said: str) -> None:
    with _answering(*pieces) as port:
        answer = ready.ask(ports.LOOPBACK, port, EMPTY, 10)
    assert answer == said if not said.endswith("example") else answer.startswith(said)


def test_silence_ends_in_time() -> None:
    with _answering(silent=True) as port:
        answer = ready.ask(ports.LOOPBACK, port, EMPTY, 0.05)
    assert answer == "accepted the connection but sent no response"


def test_silence_after_an_interim_response_ends_in_time() -> None:
    with _answering(HINTS, silent=True) as port:
        answer = ready.ask(ports.LOOPBACK, port, EMPTY, 0.05)
    assert answer == ready.SILENT


def test_nobody_listening_is_said() -> None:
    answer = ready.ask(ports.LOOPBACK, ports.free_port(), EMPTY, 10)
    assert answer == "refused the connection"


@pytest.mark.parametrize(("waited_s", "pause_s"), [(0, 0.02), (1, 0.02), (5, 0.1), (60, 0.25)])
def test_it_is_asked_tightly_at_first_and_slower_later(waited_s: float, pause_s: float) -> None:
    assert ready.pause_s(waited_s) == pytest.approx(pause_s)
