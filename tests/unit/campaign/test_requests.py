"""Requests as bytes, and checks of answers."""

from __future__ import annotations

import pytest

from plimsoll.campaign.requests import HttpResponse, Request, first_problem, of_type, render
from plimsoll.errors import InputError

HOST = "127.0.0.1:8080"


def test_a_get_has_a_host_and_no_length() -> None:
    request = Request("2048", "GET", "/2048")
    assert render(request, HOST, keep_alive=True) == (
        b"GET /2048 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
    )


def test_without_keep_alive_the_connection_is_to_be_closed() -> None:
    request = Request("2048", "GET", "/2048")
    assert render(request, HOST, keep_alive=False) == (
        b"GET /2048 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nConnection: close\r\n\r\n"
    )


def test_a_body_has_its_length_in_bytes() -> None:
    request = Request("json", "POST", "/json", (("Content-Type", "text/plain"),), "é".encode())
    assert render(request, HOST, keep_alive=True) == (
        b"POST /json HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nContent-Length: 2\r\n"
        b"Content-Type: text/plain\r\n\r\n\xc3\xa9"
    )


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
def test_a_method_with_a_body_says_when_it_is_empty(method: str) -> None:
    assert b"\r\nContent-Length: 0\r\n" in render(Request("x", method, "/"), HOST, keep_alive=True)


def test_a_header_that_the_request_brings_is_not_added_again() -> None:
    headers = (("host", "example.org"), ("connection", "close"), ("content-length", "1"))
    rendered = render(Request("x", "POST", "/", headers, b"a"), HOST, keep_alive=False)
    assert rendered == (
        b"POST / HTTP/1.1\r\nhost: example.org\r\nconnection: close\r\ncontent-length: 1\r\n\r\na"
    )


@pytest.mark.parametrize(
    "request_",
    [
        Request("x", "GET ", "/"),
        Request("x", "GET", "/a b"),
        Request("x", "GET", ""),
        Request("x", "GET", "/\r\nX: y"),
        Request("x", "GET", "/", (("X: y\r\nZ", "1"),)),
        Request("x", "GET", "/", (("X", "1\r\nY: 2"),)),
        Request("x", "GET", "/", (("X", "1\0"),)),
    ],
)
def test_what_would_break_the_head_apart_is_refused(request_: Request) -> None:
    with pytest.raises(InputError):
        render(request_, HOST, keep_alive=True)


@pytest.mark.parametrize("said", ["text/plain", "Text/Plain; charset=utf-8", "text/plain ;q=1"])
def test_the_parameters_of_a_content_type_do_not_count(said: str) -> None:
    assert of_type("text/plain")(HttpResponse(200, (("content-type", said),), b"")) is None


def test_a_wrong_content_type_is_named() -> None:
    check = of_type("text/plain")
    answer = HttpResponse(200, (("content-type", "text/html"),), b"")
    assert check(answer) == "`content-type` is `text/html`, expected `text/plain`"
    absent = check(HttpResponse(200, (), b""))
    assert absent == "the header `content-type` is missing, expected `text/plain`"


def test_of_several_checks_the_first_that_finds_something_speaks() -> None:
    check = first_problem(lambda _: None, lambda _: "one", lambda _: "two")
    assert check(HttpResponse(200, (), b"")) == "one"
    assert first_problem(lambda _: None)(HttpResponse(200, (), b"")) is None


def test_a_header_is_found_whatever_its_case() -> None:
    answer = HttpResponse(200, (("decoded-bytes", "676"), ("decoded-bytes", "1")), b"")
    assert answer.header("Decoded-Bytes") == "676"
    assert answer.header("absent") is None
