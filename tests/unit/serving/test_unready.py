"""A server that runs and is not ready: what was seen, and what to correct."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import small_servers
from plimsoll import addresses
from plimsoll.campaign.requests import Request
from plimsoll.errors import NotReady
from plimsoll.serving import ready
from plimsoll.serving.unready import UnreadyServer, of_ended

EMPTY = Request("empty", "GET", "/empty")
HERE = ("127.0.0.1", 8080)
BOUND = (addresses.packed("127.0.0.1"), 8080)
LONGER = "see its log, `log`, or raise `start_timeout` in framework.toml"
LISTEN = "`start` must listen on `$HOST:$PORT`"


@pytest.fixture
def subject(tmp_path: Path) -> UnreadyServer:
    """A server that listens where it should and responds 500."""
    framework = small_servers.framework(tmp_path, "")
    return UnreadyServer(framework, HERE, None, {BOUND}, "responded 500", "see its log, `log`")


def error(subject: UnreadyServer) -> NotReady:
    return subject.error(EMPTY, "its log is empty")


def by_a_command(subject: UnreadyServer) -> UnreadyServer:
    return replace(subject, framework=replace(subject.framework, language="", endpoints=()))


@pytest.mark.parametrize(
    ("answer", "hint"),
    [
        (
            "responded 500",
            "correct how the server responds to `GET /empty`: it listens already, so more time "
            "does not help",
        ),
        (
            "responded 503",
            "correct how the server responds to `GET /empty`, or raise `start_timeout` in "
            "framework.toml if it responds 503 only until it is ready",
        ),
        (
            "responded other than in HTTP/1.1: `?`",
            "`start` must serve HTTP/1.1 without TLS where `TLS_CERT` is not set",
        ),
        (ready.SILENT, LONGER),
        ("closed the connection without a response", LONGER),
    ],
)
def test_the_remedy_depends_on_how_a_server_that_listens_responds(
    subject: UnreadyServer, answer: str, hint: str
) -> None:
    assert error(replace(subject, answer=answer)).hint == hint


def test_a_further_port_beside_the_right_one_is_no_mistake(subject: UnreadyServer) -> None:
    admin = (addresses.packed("127.0.0.1"), 9000)
    found = error(replace(subject, bound={BOUND, admin}))
    assert "listens on" not in found.message
    assert found.hint.startswith("correct how the server responds to `GET /empty`")


@pytest.mark.parametrize(
    ("host", "bound", "where"),
    [
        ("127.0.0.1", [("::1", 8080)], "`[::1]:8080`, not on `127.0.0.1:8080`"),
        ("127.0.0.1", [("127.0.0.2", 8080)], "`127.0.0.2:8080`, not on `127.0.0.1:8080`"),
        ("127.0.0.1", [("::", 8080)], "`[::]:8080`, not on `127.0.0.1:8080`"),
        ("::1", [("127.0.0.1", 8080)], "`127.0.0.1:8080`, not on `[::1]:8080`"),
        ("127.0.0.1", [("127.0.0.1", 9000), ("::", 80)], "port 80, 9000, not on `127.0.0.1:8080`"),
        (
            "127.0.0.1",
            [("::1", 8080), ("127.0.0.1", 9000)],
            "`[::1]:8080` and port 9000, not on `127.0.0.1:8080`",
        ),
    ],
)
def test_another_address_or_port_is_named(
    subject: UnreadyServer, host: str, bound: list[tuple[str, int]], where: str
) -> None:
    elsewhere = replace(
        subject,
        address=(host, 8080),
        bound={(addresses.packed(name), port) for name, port in bound},
        answer=ready.REFUSED,
    )
    found = error(elsewhere)
    assert f"refused the connection; it listens on {where}; its log is empty" in found.message
    assert found.hint == LISTEN
    assert error(by_a_command(elsewhere)).hint.startswith("the command must listen on")


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::"])
def test_a_socket_that_takes_connections_to_the_address_is_in_place(
    subject: UnreadyServer, host: str
) -> None:
    found = error(replace(subject, bound={(addresses.packed(host), 8080)}))
    assert "listens on" not in found.message


def test_a_service_that_is_not_spoken_is_named_with_the_key_that_lists_it(
    subject: UnreadyServer,
) -> None:
    secured = replace(subject, service="https", answer="gave no response: no TLS connection")
    found = error(secured)
    assert "`small` did not return 200 for `GET /empty` by `https` within" in found.message
    assert found.hint == (
        "`start` must serve HTTP/1.1 over TLS where `PROTOCOL` is `http1` and `TLS_CERT` is set; "
        "or remove `https` from `services` in framework.toml"
    )
    plain = replace(subject, service="h2c", answer="gave no response: not HTTP/2")
    assert "HTTP/2 without TLS where `PROTOCOL` is `http2` and `TLS_CERT` is not;" in (
        error(plain).hint
    )
    assert "framework.toml" not in error(by_a_command(plain)).hint
    assert error(replace(plain, answer="responded 500")).hint.startswith("correct how the server")
    assert error(replace(plain, bound=())).hint == LONGER


def test_a_command_is_sent_to_no_framework_toml(subject: UnreadyServer) -> None:
    command = by_a_command(subject)
    assert error(command).hint == "request a path that the server serves"
    assert error(replace(command, answer=ready.SILENT)).hint == "see its log, `log`"
    not_http = replace(command, answer=f"{ready.NOT_HTTP}: `?`")
    assert error(not_http).hint.startswith("the command must serve HTTP/1.1 without TLS")
    deaf = replace(command, bound=(), answer=ready.REFUSED)
    assert error(deaf).hint.startswith("the command must listen on")


@pytest.mark.parametrize(
    ("build", "start", "hint"),
    [
        ("make", 'exec "$BUILD/app"', "see its log; if it is not built, run `plimsoll install`"),
        ("", "exec ./app", "see its log"),
        ("", 'exec "$BUILDER/app"', "see its log"),
        *(
            (
                "",
                f'exec "{used}/app"',
                "see its log; `start` uses `$BUILD`, but framework.toml has no `build`: add the "
                "command that builds it",
            )
            for used in ("$BUILD", "${BUILD}", "${BUILD:-.}")
        ),
    ],
)
def test_an_installation_is_advised_only_where_there_is_a_build(
    tmp_path: Path, build: str, start: str, hint: str
) -> None:
    framework = small_servers.framework(tmp_path, "", build=build, start=start)
    assert of_ended(framework, "see its log") == hint
