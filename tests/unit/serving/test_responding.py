"""Whether a server responds at all, before it is put under load."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.server import serve

from plimsoll import addresses
from plimsoll.campaign.load import Protocol
from plimsoll.campaign.requests import Request
from plimsoll.campaign.tls import Tls
from plimsoll.errors import NotResponding
from plimsoll.serving import responding

RIGHT = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
GET = Request("/", "GET", "/")
Way = Callable[[socket.socket, int], None]


@contextmanager
def serving(way: Way) -> Iterator[tuple[str, list[bytes]]]:
    """A server that treats each connection in a way; its address, and what it was sent."""
    heard: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                for number in range(100):
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        heard.append(connection.recv(65536))
                        way(connection, number)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}", heard
        listener.shutdown(socket.SHUT_RDWR)


def says(answer: bytes) -> Way:
    return lambda connection, _: connection.sendall(answer)


def closes(connection: socket.socket, number: int) -> None:
    pass


def required(address: str, request: Request = GET) -> int:
    return responding.require(address, request, keep_alive=True)


@pytest.mark.parametrize(
    "answer",
    [
        RIGHT,
        b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
        RIGHT + b"more than its length",
        RIGHT[:-1],
    ],
)
def test_any_response_in_http_will_do(answer: bytes) -> None:
    with serving(says(answer)) as (address, heard):
        assert required(address) == 1
    assert len([one for one in heard if one.startswith(b"GET / HTTP/1.1\r\n")]) == 1


def test_a_port_that_nobody_listens_on_is_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(NotResponding, match=f"^`127.0.0.1:{port}` refuses connections") as caught:
        required(f"127.0.0.1:{port}")
    assert caught.value.hint == "start the server, or check the host and port"
    assert caught.value.exit_code == 4


def test_a_server_that_closes_every_connection_is_told() -> None:
    with (
        serving(closes) as (address, heard),
        pytest.raises(NotResponding, match="closes every connection without a response"),
    ):
        required(address)
    assert len([one for one in heard if one.startswith(b"GET")]) == responding.TRIES


def test_a_server_that_closes_a_connection_now_and_then_is_put_under_load() -> None:
    def way(connection: socket.socket, number: int) -> None:
        if number:
            connection.sendall(RIGHT)

    with serving(way) as (address, _):
        assert required(address) == 2


@pytest.mark.parametrize("answer", [b"SSH-2.0-OpenSSH_9.7\r\n", b"-ERR unknown command\r\n\r\n"])
def test_another_protocol_is_told(answer: bytes) -> None:
    with (
        serving(says(answer)) as (address, _),
        pytest.raises(NotResponding, match="does not speak HTTP/1") as caught,
    ):
        required(address)
    assert "check the port" in caught.value.hint


def test_a_response_that_begins_as_http_is_not_one_of_another_protocol() -> None:
    broken = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX\r\n0\r\n\r\n"
    with (
        serving(says(broken)) as (address, _),
        pytest.raises(NotResponding, match=r"is not valid HTTP/1\.1: the chunks") as caught,
    ):
        required(address)
    assert caught.value.hint == "inspect the bytes that the server sends"


@pytest.mark.parametrize(
    ("alert", "protocol", "changes", "hint"),
    [
        (120, "http2", {}, "remove `http2=True`, or use a port on which the server speaks HTTP/2"),
        (40, "http2", {}, "enable TLS 1.2 or 1.3 on the server"),
        (40, "http1", {"version": "1.3"}, "remove `tls_version=`, or enable TLS 1.2 or 1.3"),
        (40, "http1", {"ciphers": ("TLS_AES_128_GCM_SHA256",)}, "remove `ciphers=`, or enable"),
    ],
)
def test_a_handshake_with_nothing_in_common_is_told_with_what_restricts_it(
    alert: int, protocol: Protocol, changes: dict[str, Any], hint: str
) -> None:
    tls = Tls("localhost", insecure=True, alpn=("h2",) if protocol == "http2" else (), **changes)
    with (
        serving(says(bytes([21, 3, 3, 0, 2, 2, alert]))) as (address, _),
        pytest.raises(NotResponding) as caught,
    ):
        responding.require(address, GET, keep_alive=True, tls=tls, protocol=protocol)
    assert caught.value.hint.startswith(hint)


def test_a_server_that_is_slow_is_put_under_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responding, "WAIT_S", 0.05)
    with serving(lambda connection, _: (connection.recv(1), None)[1]) as (address, _):
        assert required(address) == 1


def patient(
    address: str, request: Request = GET, protocol: Protocol = "http1"
) -> tuple[int, list[str]]:
    """How many requests a server was sent that has a while to respond, and what was said."""
    said: list[str] = []
    sent = responding.require(
        address, request, keep_alive=True, protocol=protocol, timeout_s=0.3, tell=said.append
    )
    return sent, said


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A complete response has a twentieth of a second, and is told of after a tenth."""
    monkeypatch.setattr(responding, "WAIT_S", 0.05)
    monkeypatch.setattr(responding, "TOLD_AFTER_S", 0.1)


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (401, "give an `Authorization` header with `headers=`"),
        (404, "check the path of the URL"),
        (500, "look at the response"),
        (204, ""),
    ],
)
def test_a_status_that_the_load_does_not_expect_is_told(status: int, advice: str) -> None:
    said: list[str] = []
    with serving(says(b"HTTP/1.1 %d Oh\r\nContent-Length: 0\r\n\r\n" % status)) as (address, _):
        for request in (GET, Request("/", "POST", "/")):
            responding.require(
                address, request, keep_alive=True, expected_status=(200, 399), tell=said.append
            )
    expected = f"`{address}/` responds with status {status}: {advice}, or expect it with "
    assert said == [f"{expected}`status={status}`"] * bool(advice)


def test_a_server_that_closes_is_not_waited_for() -> None:
    said: list[str] = []
    with serving(closes) as (address, _), pytest.raises(NotResponding, match="closes every"):
        responding.require(address, GET, keep_alive=True, timeout_s=60.0, tell=said.append)
    assert said == []


def waits(connection: socket.socket, number: int) -> None:
    """Sends nothing until the client leaves."""
    connection.recv(1)


@pytest.mark.usefixtures("impatient")
def test_a_server_that_never_sends_anything_is_told_after_the_timeout() -> None:
    with (
        serving(waits) as (address, heard),
        pytest.raises(NotResponding, match="accepts connections, but sends no response") as caught,
    ):
        patient(address)
    assert "timeout_s" in caught.value.hint
    assert caught.value.exit_code == 4
    assert len([one for one in heard if one.startswith(b"GET")]) == 1


@pytest.mark.usefixtures("impatient")
def test_a_server_that_has_time_until_the_timeout_is_put_under_load() -> None:
    def sleeps(connection: socket.socket, number: int) -> None:
        time.sleep(0.2)
        connection.sendall(RIGHT)

    with serving(sleeps) as (address, _):
        sent, said = patient(address)
        assert sent == 1
        assert said == [f"`{address}` does not respond yet; waiting up to 300 ms"]


@pytest.mark.usefixtures("impatient")
def test_a_server_that_takes_half_a_second_is_not_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def sleeps(connection: socket.socket, number: int) -> None:
        time.sleep(0.12)
        connection.sendall(RIGHT)

    monkeypatch.setattr(responding, "TOLD_AFTER_S", 0.29)
    with serving(sleeps) as (address, _):
        assert patient(address) == (1, [])


@pytest.mark.usefixtures("impatient")
def test_a_port_that_is_silent_to_tls_is_told_with_what_was_seen() -> None:
    said: list[str] = []
    with serving(waits) as (address, _), pytest.raises(NotResponding) as caught:
        responding.require(
            address, GET, keep_alive=True, tls=Tls("localhost"), timeout_s=0.3, tell=said.append
        )
    seen = f"`{address}` accepts connections, but"
    assert str(caught.value) == f"{seen} sends no reply to a TLS handshake within 300 ms"
    assert "write the URL with `http://`" in caught.value.hint
    assert said == [f"{seen} does not reply to TLS yet; waiting up to 300 ms"]


@contextmanager
def waiting_for_a_head(answer: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server of plain HTTP that reads up to the end of a head; its address, and what it read."""
    heard: list[bytes] = []

    def read(connection: socket.socket) -> None:
        received = b""
        with connection, suppress(OSError):
            while b"\r\n\r\n" not in received and (piece := connection.recv(65536)):
                received += piece
                heard.append(piece)
            connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    threading.Thread(target=read, args=(connection,), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}", heard
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("status", ["200 OK", "404 Not Found", "405 Not That"])
def test_plain_http_that_is_silent_to_tls_is_told_without_the_timeout(status: str) -> None:
    answer = f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode()
    secret = Request("/", "GET", "/", (("Cookie", "session=secret"),))
    said: list[str] = []
    with waiting_for_a_head(answer) as (address, heard), pytest.raises(NotResponding) as caught:
        responding.require(
            address, secret, keep_alive=True, tls=Tls("localhost"), timeout_s=60, tell=said.append
        )
    assert str(caught.value) == f"`{address}` does not speak TLS"
    assert said == []
    assert b"secret" not in b"".join(heard)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 307 To TLS\r\nLocation: https://a/\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_what_a_slow_port_of_tls_says_to_plain_http_does_not_prove_plain_http(
    answer: bytes,
) -> None:
    with (
        waiting_for_a_head(answer) as (address, _),
        pytest.raises(NotResponding, match="sends no reply to a TLS handshake"),
    ):
        responding.require(address, GET, keep_alive=True, tls=Tls("localhost"), timeout_s=0.1)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("protocol", ["http1", "http2"])
def test_where_silence_says_nothing_of_the_load_it_begins(protocol: Protocol) -> None:
    order = Request("/", "POST", "/orders", body=b"one")
    with serving(waits) as (address, _):
        assert patient(address, order, protocol) == (1, [])


SETTINGS = b"\0\0\0\4\0\0\0\0\0"
HEAD_WITHOUT_END = b"\0\0\1\1\4\0\0\0\1\x88"


@pytest.mark.usefixtures("impatient")
def test_settings_of_a_connection_are_no_response() -> None:
    def greets(connection: socket.socket, number: int) -> None:
        connection.sendall(SETTINGS)
        while connection.recv(65536):
            pass

    with (
        serving(greets) as (address, _),
        pytest.raises(NotResponding, match="accepts connections, but sends no response"),
    ):
        patient(address, GET, "http2")


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("pause_s", [0.0, 0.2])
def test_a_response_by_http2_that_has_begun_is_put_under_load(pause_s: float) -> None:
    def begins(connection: socket.socket, number: int) -> None:
        connection.sendall(SETTINGS)
        time.sleep(pause_s)
        connection.sendall(HEAD_WITHOUT_END)
        while connection.recv(65536):
            pass

    with serving(begins) as (address, _):
        sent, said = patient(address, GET, "http2")
    assert (sent, len(said)) == (1, int(pause_s > 0))


@pytest.mark.usefixtures("impatient")
def test_a_server_of_http2_that_closes_late_is_not_waited_for() -> None:
    def leaves(connection: socket.socket, number: int) -> None:
        connection.sendall(SETTINGS)
        time.sleep(0.15)

    with serving(leaves) as (address, _):
        assert patient(address, GET, "http2")[0] == 1


def test_a_method_that_may_change_something_is_not_sent() -> None:
    order = Request("/", "POST", "/orders", body=b"one")
    with serving(says(RIGHT)) as (address, heard):
        required(address, order)
    assert heard[0].startswith(b"OPTIONS /orders HTTP/1.1\r\n")
    assert b"one" not in heard[0]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate with its key, signed by itself."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split()
    try:
        subprocess.run(
            [*made, "-keyout", path, "-out", f"{path}.crt"], check=True, capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    path.write_bytes(path.read_bytes() + Path(f"{path}.crt").read_bytes())
    return path


@pytest.mark.parametrize("tells", [b"", b"HTTP/1.0 400 Bad Request\r\n\r\nuse TLS"])
def test_a_port_of_tls_is_told_whatever_it_says_to_plain_http(
    certificate: Path, tells: bytes
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, suppress(OSError):
                        if connection.recv(1, socket.MSG_PEEK) == b"\x16":
                            with context.wrap_socket(connection, server_side=True) as secured:
                                secured.recv(1)
                        else:
                            connection.recv(65536)
                            connection.sendall(tells)

        threading.Thread(target=serve, daemon=True).start()
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(NotResponding, match="speaks TLS") as caught:
            required(address)
        listener.shutdown(socket.SHUT_RDWR)
    assert "`https://`" in caught.value.hint


@pytest.mark.parametrize(
    "answer", [b"HTTP/1.1 505 No\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.0 400\r\n\r\n", RIGHT]
)
def test_a_server_without_http2_is_named_at_once(answer: bytes) -> None:
    with serving(says(answer)) as (address, heard):
        with pytest.raises(NotResponding) as error:
            responding.require(address, GET, keep_alive=True, protocol="http2")
        assert sum(said.startswith(b"PRI") for said in heard) == 1
    assert str(error.value) == f"`{address}` does not speak HTTP/2 without TLS"
    assert "http2" in error.value.hint


ECHO = Request("/echo", "GET", "/echo", body=b"hello")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
            " at `/echo`: it responds with status 404",
        ),
        (RIGHT, " at `/echo`: it responds with status 200"),
        (
            b"HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
            ": `Sec-WebSocket-Accept` is missing or wrong",
        ),
        (b"220 mail ESMTP\r\n", ": the response is not HTTP/1"),
    ],
)
def test_a_server_without_websocket_is_named_at_once(answer: bytes, reason: str) -> None:
    with serving(says(answer)) as (address, heard):
        with pytest.raises(NotResponding) as error:
            responding.require(address, ECHO, keep_alive=True, protocol="websocket")
        # Another one may be the question whether TLS is spoken there.
        assert heard[0].startswith(b"GET /echo HTTP/1.1\r\n")
        assert b"Sec-WebSocket-Version: 13\r\n" in heard[0]
    assert str(error.value) == f"`{address}` does not speak WebSocket{reason}"
    assert error.value.exit_code == 4


def test_an_upgrade_to_websocket_is_the_status_that_its_load_expects() -> None:
    said: list[str] = []
    with serve(lambda _: None, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sent = responding.require(
            f"127.0.0.1:{server.socket.getsockname()[1]}",
            ECHO,
            keep_alive=True,
            protocol="websocket",
            expected_status=(0, 0),
            tell=said.append,
        )
    assert (sent, said) == (1, [])


def test_a_server_that_responds_by_http2_is_asked_once() -> None:
    settings, head = b"\0\0\0\4\0\0\0\0\0", b"\0\0\1\1\5\0\0\0\1\x88"
    with serving(says(settings + head)) as (address, heard):
        assert responding.require(address, GET, keep_alive=True, protocol="http2") == 1
    assert heard[0].startswith(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("none", "there is no socket `"),
        ("file", "is not a socket"),
        ("left behind", "no server listens at `"),
        ("datagram", "is a socket without streams"),
        ("of a file", "there is no socket `"),
    ],
)
def test_a_path_that_cannot_be_connected_to_is_one_sentence(
    kind: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "app.sock"
    with socket.socket(
        socket.AF_UNIX, socket.SOCK_DGRAM if kind == "datagram" else socket.SOCK_STREAM
    ) as bound:
        if kind in ("file", "of a file"):
            path.write_text("", "ascii")
        elif kind != "none":
            bound.bind(str(path))
        address = addresses.of_socket(f"{path}/below" if kind == "of a file" else str(path))
        with pytest.raises(NotResponding, match=message) as error:
            required(address)
    assert str(path) in error.value.message
    assert error.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="root may connect to every socket")
def test_a_socket_without_permission_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "app.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        path.chmod(0)
        with pytest.raises(NotResponding, match="may not connect"):
            required(addresses.of_socket(str(path)))


def test_a_server_of_tls_at_a_unix_socket_is_told_from_one_of_http(tmp_path: Path) -> None:
    path = tmp_path / "app.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve() -> None:
            with suppress(OSError):
                for _ in range(responding.TRIES):
                    connection, _ = listener.accept()
                    with connection:
                        connection.recv(65536)
                        connection.sendall(b"\x15\x03\x01\x00\x02\x02\x28")

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(NotResponding, match="speaks TLS, not plain HTTP"):
            required(addresses.of_socket(str(path)))
