"""HTTP/2 of `plimsoll load` and of the reference server, against implementations of others."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import h2.config
import h2.connection
import h2.events
import pytest

import reference_servers
from command_line import run
from plimsoll.campaign.endpoints import by_name
from plimsoll.serving import contract
from plimsoll.serving.contract import CheckedServer

pytestmark = pytest.mark.timeout(120)

BODY = b"hello, world" * 2_000


class Oracle:
    """A server by hyper-h2, which fails when a client breaks a rule."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.requests: list[tuple[dict[str, str], bytes]] = []
        self.connections = 0
        self.received_bytes = 0
        self.failures: list[Exception] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}/a?b=c"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        config = h2.config.H2Configuration(client_side=False)
        http2 = h2.connection.H2Connection(config)
        http2.initiate_connection()
        heads: dict[int, dict[str, str]] = {}
        bodies: dict[int, bytes] = {}
        waiting: dict[int, bytes] = {}
        with connection, suppress(OSError):
            connection.sendall(http2.data_to_send())
            while data := connection.recv(65536):
                self.received_bytes += len(data)
                try:
                    for event in http2.receive_data(data):
                        match event:
                            case h2.events.RequestReceived(stream_id=stream, headers=headers):
                                fields = (
                                    (name.decode(), value.decode()) for name, value in headers
                                )
                                heads[stream], bodies[stream] = dict(fields), b""
                            case h2.events.DataReceived(stream_id=stream):
                                bodies[stream] += event.data
                                length = event.flow_controlled_length
                                http2.acknowledge_received_data(length, stream)
                            case h2.events.StreamEnded(stream_id=stream):
                                self.requests.append((heads.pop(stream), bodies.pop(stream)))
                                http2.send_headers(stream, [(":status", "200"), ("x-a", "b" * 50)])
                                waiting[stream] = BODY
                            case _:
                                pass
                    _send_bodies(http2, waiting)
                except Exception as error:
                    self.failures.append(error)
                    return
                connection.sendall(http2.data_to_send())


def _send_bodies(http2: h2.connection.H2Connection, waiting: dict[int, bytes]) -> None:
    """Sends as much of each body as the client's windows take."""
    for stream, body in list(waiting.items()):
        left = body
        while left:
            length = min(len(left), http2.local_flow_control_window(stream), 16_384)
            if not length:
                break
            http2.send_data(stream, left[:length], end_stream=length == len(left))
            left = left[length:]
        waiting[stream] = left
        if not left:
            del waiting[stream]


@pytest.fixture
def oracle() -> Iterator[Oracle]:
    """A server by hyper-h2."""
    server = Oracle()
    yield server
    server.listener.shutdown(socket.SHUT_RDWR)
    server.listener.close()


@pytest.fixture
def reference() -> Iterator[str]:
    """Address of a reference server that responds after 2 ms."""
    with reference_servers.reference("--service-time", "2ms") as address:
        yield address


def test_the_contract_is_asked_by_http2_by_its_rules(oracle: Oracle) -> None:
    address = oracle.listener.getsockname()
    found = contract.failures(CheckedServer(address, protocol="http2"), by_name("plaintext"), 1)
    assert not oracle.failures
    problems = {failure.problem for failure in found}
    assert f"the body has {len(BODY)} bytes, expected 13" in problems
    assert "the status is `200`, expected `404`" in problems
    heads = [head for head, _ in oracle.requests]
    assert {head[":method"] for head in heads} == {"GET"}
    assert oracle.connections < len(heads), "no connection carried two requests"


def test_another_implementation_finds_nothing_wrong(oracle: Oracle, tmp_path: Path) -> None:
    ran = run(
        *("load", oracle.url, "--http2", "--streams", "10", "-c", "3", "-n", "500", "--json"),
        *("--expect-length", str(len(BODY)), "-H", "X-Mark: yes"),
        folder=tmp_path,
    )
    found = json.loads(ran.stdout)
    assert not oracle.failures, oracle.failures
    assert (found["summary"]["completed"], found["summary"]["failed"]) == (500, 0)
    # One request goes before the load, on a connection of its own.
    assert (len(oracle.requests), oracle.connections) == (501, 4)
    head, body = oracle.requests[-1]
    assert (head[":path"], head[":method"], head[":scheme"]) == ("/a?b=c", "GET", "http")
    assert (head[":authority"], head["x-mark"], body) == (oracle.url[7:-6], "yes", b"")


def test_bodies_arrive_whole_through_small_windows(oracle: Oracle, tmp_path: Path) -> None:
    text = "0123456789" * 12_000
    run(
        *("load", oracle.url, "--http2", "--streams", "4", "-c", "2", "-n", "40", "--json"),
        *("-b", text),
        folder=tmp_path,
    )
    assert not oracle.failures, oracle.failures
    posted = [body for head, body in oracle.requests if head[":method"] == "POST"]
    assert posted == [text.encode()] * 40


def test_the_length_of_requests_is_what_is_sent(oracle: Oracle, tmp_path: Path) -> None:
    """Beside them only a preface, settings and windows are sent, some hundred bytes in all."""
    run(
        *("load", oracle.url, "--http2", "--streams", "8", "-c", "1", "-n", "2000"),
        *("--expect-length", str(len(BODY)), "-b", "0123456789", "--record", "kept"),
        folder=tmp_path,
    )
    (written,) = (tmp_path / "kept").rglob("trial.json")
    (length,) = json.loads(written.read_text())["request_bytes"]
    requests = len(oracle.requests)
    assert requests * length <= oracle.received_bytes < requests * (length + 2)


@pytest.mark.alone
def test_a_stream_waits_for_its_own_service_time_only(reference: str, tmp_path: Path) -> None:
    ran = run(
        *("load", f"{reference}/2048", "--http2", "--streams", "20", "-c", "1", "-d", "500ms"),
        "--json",
        folder=tmp_path,
    )
    found = json.loads(ran.stdout)
    alone = run(*("load", f"{reference}/2048", "-c", "1", "-d", "500ms", "--json"), folder=tmp_path)
    single = json.loads(alone.stdout)
    ratio = found["summary"]["throughput_per_s"] / single["summary"]["throughput_per_s"]
    assert ratio > 5, ratio


@pytest.mark.skipif(not shutil.which("h2load"), reason="h2load is not installed")
def test_h2load_finds_nothing_wrong_with_the_reference_server(reference: str) -> None:
    command = ("h2load", "-n", "2000", "-c", "4", "-m", "20", f"http://{reference}/32768")
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "2000 succeeded, 0 failed, 0 errored, 0 timeout" in said


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--streams", "2"), "streams need HTTP/2"),
        (("--http2", "--pipeline", "2"), "pipelining needs HTTP/1.1"),
        (("--http2", "--streams", "1025"), "`1025` is too large"),
        (("--http2", "--streams", "2", "--no-keepalive"), "more than one request per connection"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    ran = run("load", "127.0.0.1:9", *options, folder=tmp_path)
    assert ran.code == 2
    assert complaint in ran.said
