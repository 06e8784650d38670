"""A listen queue that is too short, named as the cause of what looks like a slow server."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command_line import remedies_of, run, text_of

pytestmark = pytest.mark.timeout(300)

BACKLOG = 16
PAUSE_S = 0.05
ASKED = 500
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
SOMAXCONN = int(Path("/proc/sys/net/core/somaxconn").read_text())


class SlowToAccept:
    """Accepts one connection in some milliseconds, answers at once, and counts what it does."""

    def __init__(self) -> None:
        self.accepted = self.answered = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._begin(self._accept)

    def stop(self) -> None:
        """Ends every connection."""
        self._stop.set()
        with socket.create_connection(self._listener.getsockname()[:2]):
            self._threads[0].join()
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _begin(self, target: Any, *arguments: Any) -> None:
        self._threads.append(threading.Thread(target=target, args=arguments, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        while not self._stop.is_set():
            time.sleep(PAUSE_S)
            connection, _ = self._listener.accept()
            self.accepted += 1
            self._begin(self._answer, connection)

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(PAUSE_S)
        first = True
        with connection:
            while not self._stop.is_set():
                try:
                    if not connection.recv(65536):
                        return
                    connection.sendall(ANSWER)
                except TimeoutError:
                    continue
                except OSError:
                    return
                self.answered += first
                first = False


@pytest.fixture
def slow_to_accept() -> Iterator[SlowToAccept]:
    server = SlowToAccept()
    yield server
    server.stop()


def test_a_full_listen_queue_is_named_with_its_numbers_and_what_to_change(
    slow_to_accept: SlowToAccept, tmp_path: Path
) -> None:
    asked = ("-c", ASKED, "-d", "3s", "--json")
    ran = run("load", slow_to_accept.address, *asked, folder=tmp_path)
    found = json.loads(ran.stdout)
    assert (ran.code, found["level"]) == (1, "void")

    connections = found["connections"]
    opened, answered = connections["opened"], connections["with_response"]
    assert connections["requested"] == ASKED
    assert 0 < answered <= slow_to_accept.answered <= slow_to_accept.accepted < ASKED
    assert answered < opened

    verdicts = {verdict["check"]: verdict for verdict in found["verdicts"]}
    backlog = verdicts["backlog"]
    assert backlog["level"] == "void"
    assert f"queue of {BACKLOG} places (`net.core.somaxconn` {SOMAXCONN:,})" in text_of(backlog)
    assert "ListenOverflows " in text_of(backlog)
    assert "ListenDrops " in text_of(backlog)
    became = f"Of {ASKED} connections requested, {opened} were opened and {answered} got a response"
    assert became in text_of(backlog)
    assert f"({BACKLOG}; this host allows {SOMAXCONN:,})" in remedies_of(backlog)

    connected = verdicts["connection_target_met"]
    assert connected["level"] == "not_checked"
    assert text_of(connected).startswith("See Listen queue too short")


def test_a_person_sees_what_was_asked_opened_and_answered(
    slow_to_accept: SlowToAccept, tmp_path: Path
) -> None:
    ran = run("load", slow_to_accept.address, "-c", ASKED, "-d", "3s", "-v", folder=tmp_path)
    assert f"requested {ASKED}, opened " in ran.said
    assert "Listen queue too short: " in ran.said
    assert "Raise the backlog that the server passes to listen" in ran.said
