"""Configuration of a load, and the trial that it amounts to."""

from __future__ import annotations

import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plimsoll
from plimsoll.campaign.load import COUNTED_S, Load, Stage
from plimsoll.campaign.requests import NO_STATUS, Upload, render
from plimsoll.cli import incoming
from plimsoll.errors import InputError
from plimsoll.lab import urls
from plimsoll.lab.load_options import LoadOptions, held_s, server_address, trial


def asked(*typed: str, **changes: Any) -> LoadOptions:
    return LoadOptions(urls=tuple(urls.parts(one) for one in typed or (":8080/a",)), **changes)


def load(**changes: Any) -> Load:
    return trial(asked(**changes)).load


def refused(**changes: Any) -> list[str]:
    with pytest.raises(InputError) as error:
        trial(asked(**changes))
    assert all(problem.hint for problem in error.value.problems)
    return [str(problem) for problem in error.value.problems]


def test_a_closed_load_holds_its_connections() -> None:
    closed = load(connections=7, duration_s=3.0)
    assert (closed.model, closed.connections) == ("closed", 0)
    assert closed.stages == (Stage("hold", 3.0, 7.0, 7.0),)


@pytest.mark.parametrize(
    ("changes", "length_s", "is_timed"),
    [
        ({}, 10.0, True),
        ({"duration_s": 3.0}, 3.0, True),
        ({"requests": 500}, COUNTED_S, False),
        ({"requests": 500, "duration_s": 3.0}, 3.0, True),
    ],
)
def test_a_load_ends_after_its_requests_or_its_length_whichever_comes_first(
    changes: dict[str, Any], length_s: float, is_timed: bool
) -> None:
    found = load(**changes)
    assert (found.duration_s, found.is_timed) == (length_s, is_timed)
    assert found.request_limit == changes.get("requests")


@pytest.mark.parametrize(
    ("changes", "length_s", "request_limit"),
    [
        ({"requests": 1000, "rate_per_s": 50.0}, 20.0, 1000),
        ({"requests": 3600, "rate_per_s": 1.0}, COUNTED_S, 3600),
        ({"requests": 1, "rate_per_s": 5000.0}, 0.0002, 1),
        ({"requests": 1000, "rate_per_s": 50.0, "duration_s": 3.0}, 3.0, None),
        ({"requests": 100, "rate_per_s": 50.0, "duration_s": 3.0}, 2.0, 100),
        ({"rate_per_s": 50.0, "duration_s": 3.0}, 3.0, None),
    ],
)
def test_rate_and_number_of_requests_give_the_length_of_an_open_load(
    changes: dict[str, Any], length_s: float, request_limit: int | None
) -> None:
    """The number is kept where it ends the load, since more time needs a greater one."""
    found = load(**changes)
    assert (found.model, found.request_limit) == ("open", request_limit)
    assert found.duration_s == pytest.approx(length_s)
    assert found.is_timed


@given(st.integers(1, 10**6), st.floats(0.1, 10**6))
def test_no_arrival_is_missing_and_none_too_many(requests: int, rate_per_s: float) -> None:
    length_s = held_s(None, requests, rate_per_s)
    assert length_s is not None
    arrived = rate_per_s * (round(length_s * 1e9) / 1e9)
    assert requests - 1 < arrived <= requests, "the first one arrives at once"


def test_an_open_load_holds_its_rate_on_a_pool() -> None:
    opened = load(connections=7, duration_s=3.0, rate_per_s=500.0, arrivals="poisson")
    assert (opened.model, opened.connections, opened.arrivals) == ("open", 7, "poisson")
    assert opened.stages == (Stage("hold", 3.0, 500.0, 500.0),)


@pytest.mark.parametrize(("changes", "level"), [({}, 50.0), ({"rate_per_s": 900.0}, 900.0)])
def test_a_ramp_goes_straight_up_to_the_level_before_the_hold(
    changes: dict[str, Any], level: float
) -> None:
    ramp, hold = load(ramp_s=2.0, duration_s=3.0, **changes).stages
    assert ramp == Stage("ramp", 2.0, 0.0, level, steps=0)
    assert hold == Stage("hold", 3.0, level, level)


def test_what_concerns_connections_is_handed_on() -> None:
    found = load(http2=True, streams=10)
    assert (found.protocol, found.streams, found.in_flight_each) == ("http2", 10, 10)
    found = load(pipeline=8, requests_per_connection=100, timeout_s=2.0)
    assert (found.pipeline, found.requests_per_connection, found.timeout_s) == (8, 100, 2.0)
    assert load(think_time_s=0.1).think_time_s == 0.1
    assert load(keep_alive=False).keep_alive is False


def test_several_urls_are_mixed_evenly_and_one_named_twice_counts_twice() -> None:
    endpoint = trial(asked(":8080/a", ":8080/b", ":8080/a", headers=(("X-Mark", "1"),))).endpoint
    requests = [exchange.request for exchange in endpoint.exchanges]
    assert [(one.target, one.weight) for one in requests] == [("/a", 2.0), ("/b", 1.0)]
    assert [one.headers for one in requests] == [(("Host", "127.0.0.1:8080"), ("X-Mark", "1"))] * 2
    assert endpoint.name == "/a, /b"


def test_many_urls_are_named_by_their_number() -> None:
    many = [f":8080/{number}" for number in range(5)]
    assert trial(asked(*many)).endpoint.name == "/0 and 4 more"


def test_bodies_come_from_text_file_or_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "body").write_bytes(b"\0from a file")
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"from stdin")))
    body, expected = incoming.contents({"--body": f"@{tmp_path / 'body'}", "--expect-body": "@-"})
    found = trial(asked(body=body, expected_body=expected)).endpoint.exchanges[0]
    assert found.request.body == b"\0from a file"
    assert found.request.method == "POST"
    assert (found.expected.body, found.expected.length_bytes) == (b"from stdin", 10)
    assert incoming.contents({"--body": "typed", "--message": None}) == [b"typed", None]


def test_the_standard_input_is_not_read_twice() -> None:
    with pytest.raises(InputError, match="--expect-body: `--body` already reads standard input"):
        incoming.contents({"--body": "@-", "--expect-body": "@-"})


def sent_and_expected(*, seed: int = 1, **changes: Any) -> tuple[bytes, bytes | None]:
    (exchange,) = trial(asked("ws://localhost:8080/echo", seed=seed, **changes)).endpoint.exchanges
    assert exchange.expected.status == NO_STATUS
    return exchange.request.body, exchange.expected.body


def test_a_message_is_expected_back_unless_something_else_is() -> None:
    found = trial(asked("wss://localhost/echo", pipeline=3, binary=True))
    assert (found.load.protocol, found.load.message) == ("websocket", "binary")
    assert found.load.in_flight_each == 3
    assert found.tls is not None
    assert found.tls.alpn == ()
    assert sent_and_expected(message=b"hello") == (b"hello", b"hello")
    assert sent_and_expected(message=b"ping", expected_body=b"pong") == (b"ping", b"pong")
    assert sent_and_expected(message=b"ping", length_bytes=9) == (b"ping", None)


def test_a_message_is_drawn_by_the_seed() -> None:
    text, echo = sent_and_expected()
    assert (len(text), text.isascii(), echo) == (64, True, text)
    assert sent_and_expected() == (text, text)
    assert sent_and_expected(seed=2) != (text, text)
    drawn, _ = sent_and_expected(binary=True, message_bytes=1000)
    assert len(drawn) == 1000
    assert not drawn.isascii()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"http2": True}, "http2: the URL is one of WebSocket"),
        ({"method": "PUT"}, "method: the URL is one of WebSocket"),
        ({"body": b"x"}, "body: the URL is one of WebSocket"),
        ({"status": 101}, "status: the URL is one of WebSocket"),
        ({"streams": 2}, "streams: streams need HTTP/2"),
        ({"message": b"x", "message_bytes": 5}, "message_bytes: `message=` sets the length"),
        ({"message": b"\xff"}, "message: the message is not UTF-8"),
        ({"message": b""}, "message: the message is empty"),
        ({"message_bytes": 0}, "message_bytes: `0` is too small"),
        ({"message_bytes": 2**40}, "message_bytes: `1099511627776` is too large"),
    ],
)
def test_what_no_load_of_messages_can_have_is_refused_in_one_sentence(
    changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        trial(asked("ws://localhost:8080/echo", **changes))
    (said,) = (str(problem) for problem in caught.value.problems)
    assert said.startswith(sentence)


def test_a_load_of_messages_has_one_url() -> None:
    with pytest.raises(InputError, match="a WebSocket load has one URL"):
        trial(asked("ws://localhost:8080/a", "ws://localhost:8080/b"))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"message": b"x"}, "message: the URL is not one of `ws` or `wss`"),
        ({"binary": True}, "binary: the URL is not one of `ws` or `wss`"),
        (
            {"requests": 5, "rate_per_s": 5.0, "arrivals": "poisson"},
            "requests: the number of Poisson arrivals is random",
        ),
        ({"requests": 10**9, "rate_per_s": 1.0}, "requests: `1000000000s` is too long"),
        (
            {"think_time_s": 0.1, "rate_per_s": 5.0},
            "think_time_s: think time needs the closed model",
        ),
        ({"arrivals": "poisson"}, "arrivals: `arrivals=` needs the open model"),
        ({"requests": 5, "ramp_s": 1.0}, "ramp_s: `requests=` counts every request of a load"),
        (
            {"keep_alive": False, "requests_per_connection": 5},
            "requests_per_connection: with `keep_alive=False` each connection carries one request",
        ),
        (
            {"pipeline": 2, "keep_alive": False},
            "pipeline: pipelining needs more than one request per connection",
        ),
        (
            {"pipeline": 2, "requests_per_connection": 1},
            "pipeline: pipelining needs more than one request per connection",
        ),
        ({"pipeline": 2, "think_time_s": 0.1}, "pipeline: think time and pipelining"),
        ({"streams": 2}, "streams: streams need HTTP/2"),
        ({"http2": True, "pipeline": 2}, "pipeline: pipelining needs HTTP/1.1"),
        (
            {"http2": True, "streams": 2, "requests_per_connection": 1},
            "streams: several streams need more than one request per connection",
        ),
        (
            {"http2": True, "streams": 2, "think_time_s": 0.1},
            "streams: think time and several streams",
        ),
        ({"http2": True, "streams": 1025}, "streams: `1025` is too large"),
        ({"pipeline": 1025}, "pipeline: `1025` is too large"),
        ({"expected_body": b"abc", "length_bytes": 4}, "length_bytes: `expected_body=` has"),
    ],
)
def test_what_cannot_be_had_together_is_refused_in_one_sentence(
    changes: dict[str, Any], sentence: str
) -> None:
    (said,) = refused(**changes)
    assert said.startswith(sentence)


def test_every_amount_of_nothing_is_named() -> None:
    said = refused(
        connections=0, duration_s=0.0, threads=0, rate_per_s=0.0, ramp_s=0.0, pipeline=0,
        requests_per_connection=0, timeout_s=0.0,
    )  # fmt: skip
    assert [one.partition(":")[0] for one in said] == [
        "connections", "duration_s", "threads", "rate_per_s", "ramp_s", "pipeline",
        "requests_per_connection", "timeout_s",
    ]  # fmt: skip


def test_a_load_of_one_url_at_one_depth_is_no_different_from_before() -> None:
    found = load(think_time_s=0.0, length_bytes=3)
    assert found == Load("load", "closed", (Stage("hold", 10.0, 50.0, 50.0),))


def test_each_load_draws_a_seed_of_its_own_unless_one_is_given() -> None:
    seeds = {trial(asked()).seed for _ in range(20)}
    assert len(seeds) == 20
    assert all(0 <= seed < 2**53 for seed in seeds)
    assert trial(asked(seed=7)).seed == 7
    assert trial(asked(seed=0)).seed == 0


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"connections": 10**9}, "connections: `1000000000` is too large"),
        ({"requests": 10**27}, f"requests: `{10**27}` is too large"),
        ({"rate_per_s": 1e9}, "rate_per_s: `1000000000` is too large"),
        ({"requests_per_connection": 2**32}, "requests_per_connection: `4294967296` is"),
        ({"timeout_s": 1e9}, "timeout_s: `1000000000s` is too long"),
        ({"duration_s": 1e9}, "duration_s: `1000000000s` is too long"),
        ({"ramp_s": 1e9}, "ramp_s: `1000000000s` is too long"),
        ({"think_time_s": 1e9}, "think_time_s: `1000000000s` is too long"),
        ({"status": 1000}, "status: `1000` is too large"),
        ({"length_bytes": 2**60}, "length_bytes: `1152921504606846976` is too large"),
        ({"seed": 2**53}, "seed: `9007199254740992` is too large"),
    ],
)
def test_more_than_the_engine_takes_is_told_by_the_option(
    changes: dict[str, Any], problem: str
) -> None:
    (told,) = refused(**changes)
    assert told.startswith(problem)


def test_a_unix_socket_is_where_the_server_is_reached(tmp_path: Path) -> None:
    chosen = asked("http://app/a", unix_socket=Path("here.sock"))
    assert server_address(chosen) == f"unix:{Path.cwd() / 'here.sock'}"
    assert server_address(asked("http://127.0.0.1:8080/")) == "127.0.0.1:8080"
    assert dict(trial(chosen).exchanges[0].request.headers)["Host"] == "app"
    (told,) = refused(unix_socket=Path("/" + "x" * 107))
    assert told.startswith("unix_socket: the path has 108 bytes")
    (told,) = refused(unix_socket=tmp_path, hosts=tmp_path / "hosts.toml")
    assert told.startswith("unix_socket: `unix_socket=` and `hosts=` exclude each other")


def test_compressed_bodies_are_asked_for_and_decoded() -> None:
    exchange = trial(asked(compressed=("zstd", "gzip"))).exchanges[0]
    assert dict(exchange.request.headers)["Accept-Encoding"] == "zstd, gzip"
    assert exchange.expected.codings == ("gzip", "zstd")
    own = trial(asked(compressed=("gzip",), headers=(("accept-encoding", "gzip;q=1"),)))
    assert dict(own.exchanges[0].request.headers)["accept-encoding"] == "gzip;q=1"
    assert trial(asked()).exchanges[0].expected.codings == ()
    (told,) = refused(compressed=("gzip", "deflate"))
    assert told.startswith("compressed: `deflate` is not a content coding")


def test_a_file_is_uploaded_with_its_length(tmp_path: Path) -> None:
    file = tmp_path / "body"
    file.write_bytes(b"x" * 70_000)
    request = trial(asked(upload=file)).exchanges[0].request
    assert (request.method, request.body, request.upload) == ("POST", b"", Upload(file, 70_000))
    assert b"\r\nContent-Length: 70000\r\n" in render(request, "a", keep_alive=True)
    assert trial(asked(upload=file, method="put")).exchanges[0].request.method == "PUT"
    (told,) = refused(upload=file, body=b"x")
    assert told.startswith("upload: `upload=` and `body=` exclude each other")
    (told,) = refused(upload=tmp_path / "none")
    assert told.startswith("upload: there is no file `")
    (told,) = refused(upload=tmp_path)
    assert told.startswith(f"upload: `{tmp_path}` is not a file that every request can send")


def test_redirects_are_followed_where_a_connection_can_carry_them() -> None:
    assert (load().follow, load(follow=3).follow) == (0, 3)
    for changes, problem in (
        ({"http2": True}, "redirects are followed in HTTP/1.1"),
        ({"pipeline": 2}, "redirects are followed in HTTP/1.1"),
        ({"keep_alive": False}, "redirects are followed on the same connection"),
    ):
        (told,) = refused(follow=1, **changes)
        assert told.startswith(f"follow: {problem}")
    assert refused(follow=0)[0].startswith("follow: `0` is too small")
    assert refused(follow=1001)[0].startswith("follow: `1001` is too large")


def test_tls_is_for_https_and_its_name_is_that_of_the_url(tmp_path: Path) -> None:
    file = tmp_path / "a.pem"
    file.write_text("", "ascii")
    assert trial(asked()).tls is None
    secured = trial(asked("https://Example.org:8443/a", cacert=file, cert=file)).tls
    assert secured is not None
    assert (secured.server_name, secured.key, secured.resume) == ("example.org", file, "never")
    block = secured.block
    assert (block["min_version"], block["max_version"]) == ("1.2", "1.3")
    assert block["ca"] == [str(file)]
    only = trial(asked("https://[::1]/", insecure=True, tls_version="1.2")).tls
    assert only is not None
    assert (only.server_name, only.block["max_version"]) == ("::1", "1.2")


def test_options_of_tls_need_tls_and_fit_each_other(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    plain = refused(insecure=True, tls_version="1.3", ciphers=("x",), tls_resume="always")
    assert [one.partition(":")[0] for one in plain] == [
        "insecure", "tls_version", "ciphers", "tls_resume",
    ]  # fmt: skip
    with pytest.raises(InputError) as error:
        trial(asked("https://a/", insecure=True, cacert=missing, key=missing))
    found = [problem.where for problem in error.value.problems]
    assert found == ["cacert", "key", "cacert", "key"]


def test_a_load_of_events_asks_for_a_stream_and_counts_each() -> None:
    planned = trial(asked(events=True))
    (exchange,) = planned.exchanges
    assert planned.load.events and not planned.load.is_saturating
    assert exchange.expected.events is not None
    assert b"\r\nAccept: text/event-stream\r\n" in render(exchange.request, "a:1", keep_alive=True)
    own = trial(asked(events=True, headers=(("accept", "*/*"),))).exchanges[0].request
    assert own.headers[1:] == (("accept", "*/*"),)
    for changes, option in (
        ({"rate_per_s": 5.0}, "rate_per_s"),
        ({"requests": 5}, "requests"),
        ({"pipeline": 2}, "pipeline"),
        ({"follow": 3}, "follow"),
        ({"expected_body": b"x"}, "expected_body"),
    ):
        (told,) = refused(events=True, **changes)
        assert told.startswith(f"{option}: `events=True` and `{option}=` exclude"), told


def test_a_body_is_invited_where_there_is_one_and_the_protocol_waits() -> None:
    (exchange,) = trial(asked(body=b"hi", expect_continue=True)).exchanges
    sent = render(exchange.request, "a:1", keep_alive=True)
    assert exchange.request.expects_continue and b"\r\nExpect: 100-continue\r\n" in sent
    (told,) = refused(expect_continue=True)
    assert told.startswith("expect_continue: the request has no body")
    for changes in ({"http2": True}, {"pipeline": 2}, {"follow": 1}):
        (told,) = refused(body=b"hi", expect_continue=True, **changes)
        assert "needs HTTP/1.1" in told


@pytest.mark.parametrize("option", ["driver_cores", "server_cores"])
@pytest.mark.parametrize("core", [-1, 8191, 10**30])
def test_a_core_that_is_not_there_is_refused_with_those_that_are(option: str, core: int) -> None:
    with pytest.raises(InputError) as error:
        plimsoll.load("http://127.0.0.1:1/", **{option: [core]})  # pyright: ignore[reportArgumentType]
    (problem,) = error.value.problems
    assert problem.where == option
    assert problem.message.startswith("core ")
    assert problem.hint.startswith("choose from ")
