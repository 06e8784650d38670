"""Who is answered, with what, and when nothing is sent."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from plimsoll.errors import InputError, PortTaken
from plimsoll.watch import server
from plimsoll.watch.server import Feed
from small_servers import eventually


class Looks:
    """Looks at what a test sets."""

    def __init__(self) -> None:
        self.text = '{"a": 1}'
        self.count = 0

    def look(self) -> str:
        self.count += 1
        return self.text

    def page(self) -> str:
        return "<!doctype html><p>page</p>"


@pytest.fixture
def looks() -> Looks:
    return Looks()


@pytest.fixture
def port(looks: Looks) -> Iterator[int]:
    """Port of a page that is served in a thread."""
    listener = server.listening("127.0.0.1", 0)
    app = server.application(Feed(looks), server.LOOPBACK, lambda: served.should_exit)  # pyright: ignore[reportArgumentType]
    served = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_config=None))
    thread = threading.Thread(target=served.run, kwargs={"sockets": [listener]})
    thread.start()
    assert eventually(lambda: served.started)
    yield listener.getsockname()[1]
    served.should_exit = True
    thread.join()
    listener.close()


def asked(port: int, path: str = "/", host: str = "127.0.0.1") -> tuple[int, bytes, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers={"Host": host})
    response = connection.getresponse()
    found = (response.status, response.read(), dict(response.getheaders()))
    connection.close()
    return found


def test_the_page_and_its_scripts_come_from_here_alone(port: int) -> None:
    code, body, headers = asked(port)
    assert (code, body) == (200, b"<!doctype html><p>page</p>")
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    for path in ("/vega.js", "/watch.js", "/mark.svg"):
        assert asked(port, path)[0] == 200
    assert asked(port, "/nothing")[0] == 404


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:9", "localhost", "localhost:80"])
def test_who_calls_this_host_by_its_name_is_answered(port: int, host: str) -> None:
    assert asked(port, host=host)[0] == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:7890", "", "127.0.0.1.evil.example"]
)
@pytest.mark.parametrize("path", ["/", "/events", "/watch.js"])
def test_who_calls_it_otherwise_is_refused(port: int, host: str, path: str) -> None:
    assert asked(port, path, host)[0] == 400


def test_an_event_is_sent_when_the_state_changes_and_only_then(
    port: int, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "EVERY_S", 0.02)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", "/events")
    response = connection.getresponse()
    assert response.getheader("content-type", "").startswith("text/event-stream")
    assert response.readline() == b"retry: 1000\n"
    assert [response.readline(), response.readline()] == [b"\n", b'data: {"a": 1}\n']
    before = looks.count
    assert eventually(lambda: looks.count > before + 3)
    looks.text = '{"a": 2}'
    assert [response.readline(), response.readline()] == [b"\n", b'data: {"a": 2}\n']
    connection.close()


def test_several_readers_cost_no_more_than_one() -> None:
    looks, seconds = Looks(), [0.0]

    async def read() -> list[tuple[int, str]]:
        feed = Feed(looks, lambda: seconds[0])  # pyright: ignore[reportArgumentType]
        found = [*await asyncio.gather(*(feed.latest() for _ in range(5)))]
        seconds[0] += server.EVERY_S
        return [*found, await feed.latest()]

    found = asyncio.run(read())
    assert looks.count == 2
    assert set(found) == {(1, looks.text)}


def test_a_port_that_is_taken_is_named_with_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=f"port {port} of 127.0.0.1 is in use") as caught:
            server.listening("127.0.0.1", port)
    assert "--port" in caught.value.hint
    assert caught.value.exit_code == 3


@pytest.mark.parametrize("host", ["0.0.0.0", "localhost", "", "::", "192.0.2.1", "a b"])
def test_an_address_that_is_none_of_one_interface_is_refused(host: str) -> None:
    with pytest.raises(InputError, match="address"):
        server.listening(host, 0)
