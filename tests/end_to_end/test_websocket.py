"""WebSocket of `plimsoll load` and of the reference server, against an implementation of others."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.server import Server, ServerConnection, serve

import reference_servers
from command_line import Ran, run

pytestmark = pytest.mark.timeout(120)


class Oracle:
    """An echo server by `websockets`, which closes a connection that breaks a rule."""

    def __init__(self) -> None:
        self.messages: list[str | bytes] = []
        self.closes: list[int | None] = []
        self.targets: list[str] = []
        self.server: Server = serve(self._echo, "127.0.0.1", 0, compression=None)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.server.socket.getsockname()[1]}/chat?room=1"

    def _echo(self, connection: ServerConnection) -> None:
        if connection.request is not None:
            self.targets.append(connection.request.path)
        try:
            while True:
                message = connection.recv()
                self.messages.append(message)
                connection.send(message)
        except ConnectionClosed as closed:
            self.closes.append(None if closed.rcvd is None else closed.rcvd.code)


@pytest.fixture
def oracle() -> Iterator[Oracle]:
    """An echo server by `websockets`."""
    server = Oracle()
    yield server
    server.server.shutdown()


@pytest.fixture
def plain() -> Iterator[str]:
    """Host and port of a reference server that responds after 2 ms."""
    with reference_servers.reference("--service-time", "2ms") as address:
        yield address


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Files of a certificate for loopback, and of its key."""
    return reference_servers.certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def secured(certificate: tuple[str, str]) -> Iterator[str]:
    """Host and port of a reference server that serves by TLS."""
    pem, key = certificate
    with reference_servers.reference("--tls-cert", pem, "--tls-key", key) as address:
        yield address


def loaded(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    """The JSON of a load that ended well."""
    ran = run("load", *arguments, "--json", folder=tmp_path)
    assert ran.code in (0, 1), ran.said
    return json.loads(ran.stdout)


def test_another_implementation_finds_nothing_wrong(oracle: Oracle, tmp_path: Path) -> None:
    options = ("-c", "3", "-n", "200", "--message", "Grüße, κόσμε", "--pipeline", "4")
    found = loaded(tmp_path, oracle.url, *options)
    assert (found["summary"]["completed"], found["summary"]["failed"]) == (200, 0)
    assert found["protocol"] == "websocket"
    oracle.server.shutdown()
    # One connection is upgraded before the load, and closed without a message.
    assert oracle.targets == ["/chat?room=1"] * 4
    assert oracle.messages == ["Grüße, κόσμε"] * 200
    assert oracle.closes == [1000] * 4


def test_binary_messages_of_a_size_are_echoed_by_another_implementation(
    oracle: Oracle, tmp_path: Path
) -> None:
    found = loaded(tmp_path, oracle.url, "-c", "2", "-n", "20", "--binary", "--message-size", "70k")
    assert (found["summary"]["completed"], found["summary"]["failed"]) == (20, 0)
    assert {len(message) for message in oracle.messages} == {70_000}
    assert all(isinstance(message, bytes) for message in oracle.messages)


def test_another_implementation_is_echoed_by_the_reference_server(plain: str) -> None:
    with connect(f"ws://{plain}/echo", compression=None) as client:
        for message in ("", "Grüße", "x" * 126, b"\0\xff", b"y" * 70_000):
            client.send(message)
            assert client.recv(timeout=10) == message
        client.send(["in ", "three ", "fragments"])
        assert client.recv(timeout=10) == "in three fragments"
        assert client.ping(b"there?").wait(10)
        client.send("first")
        client.send("second")
        assert [client.recv(timeout=10), client.recv(timeout=10)] == ["first", "second"]
    assert client.close_code == 1000


def test_messages_are_loaded_and_their_times_contain_the_service_time(
    plain: str, tmp_path: Path
) -> None:
    for model in (("-d", "300ms"), ("-d", "300ms", "-R", "100")):
        found = loaded(tmp_path, f"ws://{plain}/echo", "-c", "4", *model)
        assert found["summary"]["failed"] == 0
        service_time = found["summary"]["service_time_ns"]
        assert isinstance(service_time, dict)
        assert service_time["min"] >= 2e6


def test_messages_go_over_tls(secured: str, certificate: tuple[str, str], tmp_path: Path) -> None:
    options = ("-c", "2", "-n", "100", "--cacert", certificate[0])
    ran = run("load", f"wss://{secured}/echo", *options, folder=tmp_path)
    assert ran.code in (0, 1), ran.said
    assert "messages/s" in ran.stdout
    assert "messages        100 complete, 0 failed" in ran.stdout
    assert "TLS 1.3" in ran.stdout


def test_the_code_of_a_close_frame_is_told(tmp_path: Path) -> None:
    def gives_up(connection: ServerConnection) -> None:
        with suppress(ConnectionClosed):
            connection.recv()
            connection.close(1011, "broken")

    server = serve(gives_up, "127.0.0.1", 0, compression=None)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}/"
    options = ("-c", "2", "-n", "20")
    (failure,) = loaded(tmp_path, url, *options)["failures"]
    said = run("load", url, *options, folder=tmp_path).said
    server.shutdown()
    assert (failure["outcome"], failure["status"]) == ("close_received", 1011)
    assert "20 closed by the server with a close frame (1011)" in said


def refused(tmp_path: Path, url: str) -> Ran:
    options = ("--insecure",) if url.startswith("wss") else ()
    ran = run("load", url, "-n", "10", *options, folder=tmp_path)
    assert ran.code == 4, ran.said
    return ran


def test_a_server_without_websocket_there_is_named_at_once(
    plain: str, secured: str, tmp_path: Path
) -> None:
    said = refused(tmp_path, f"ws://{plain}/nowhere").said
    assert f"`{plain}` does not speak WebSocket at `/nowhere`: it responds with status 404" in said
    said = refused(tmp_path, f"ws://{plain}/2048").said
    assert "it responds with status 200" in said
    said = refused(tmp_path, f"wss://{plain}/echo").said
    assert f"`{plain}` does not speak TLS" in said
    assert "`ws://`" in said
    said = refused(tmp_path, f"ws://{secured}/echo").said
    assert f"`{secured}` speaks TLS" in said
    assert "`wss://`" in said
