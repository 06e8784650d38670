"""What endpoints draw for the check of the contract."""

from __future__ import annotations

import json
from random import Random
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.campaign import arguments
from plimsoll.campaign.endpoints import ENDPOINTS, by_name
from plimsoll.campaign.endpoints.fibonacci import fibonacci
from plimsoll.campaign.requests import Exchange, HttpResponse, Request, render

SEEDS = st.integers(0, 2**53 - 1)


def sent_values(request: Request) -> list[str]:
    """The values of the 26 arguments, in the order sent."""
    if request.name == "postArgsMulti2048":
        boundary = request.headers[0][1].partition("boundary=")[2].encode()
        parts = (b"\r\n" + request.body).split(b"\r\n--" + boundary)[1:-1]
        return [part.split(b"\r\n\r\n", 1)[1].decode() for part in parts]
    text = request.target.partition("?")[2] or request.body.decode()
    return [value for _, value in parse_qsl(text, keep_blank_values=True)]


def accepted(exchange: Exchange, decoded_bytes: int) -> bool:
    said = HttpResponse(200, (("decoded-bytes", str(decoded_bytes)),), b"")
    return exchange.expected.check(said) is None


@pytest.mark.parametrize("name", ["getArgs2048", "postArgs2048", "postArgsMulti2048"])
@given(seed=SEEDS)
def test_26_values_are_sent_and_their_bytes_are_expected(name: str, seed: int) -> None:
    for probe in by_name(name).probes(Random(seed)):
        values = sent_values(probe.request)
        assert len(values) == 26
        assert accepted(probe, sum(len(value.encode()) for value in values))


@pytest.mark.parametrize("name", ["getArgs2048", "postArgs2048", "postArgsMulti2048"])
@given(seed=SEEDS)
def test_every_shortcut_comes_out_at_another_number(name: str, seed: int) -> None:
    for probe in by_name(name).probes(Random(seed)):
        values = sent_values(probe.request)
        assert {"", " ", "+", "%", "%41", "&", "=", "é", "😀"} <= {*values}
        assert not accepted(probe, sum(len(value) for value in values))
        assert not accepted(probe, 676)


@given(seed=SEEDS)
def test_the_request_line_stays_shorter_than_any_server_takes(seed: int) -> None:
    for probe in by_name("getArgs2048").probes(Random(seed)):
        assert len(probe.request.target) < 2000


@given(seed=SEEDS)
def test_line_ends_are_among_the_values_of_a_multipart_body(seed: int) -> None:
    for probe in by_name("postArgsMulti2048").probes(Random(seed)):
        assert {*arguments.LINE_ENDS} <= {*sent_values(probe.request)}


@given(seed=SEEDS)
def test_json_that_is_right_is_that_person_and_json_that_is_broken_is_none(seed: int) -> None:
    for probe in by_name("json").probes(Random(seed)):
        if probe.expected.status == (200, 200):
            body = json.dumps(json.loads(probe.request.body)).encode()
            answer = HttpResponse(200, (("content-type", "application/json"),), body)
            assert probe.expected.check(answer) is None
        else:
            assert probe.expected.status == (400, 499)
            with pytest.raises(json.JSONDecodeError):
                json.loads(probe.request.body)


@given(seed=SEEDS)
def test_fibonacci_numbers_are_drawn_from_1_to_14000(seed: int) -> None:
    for probe in by_name("fibonacci").probes(Random(seed)):
        n = int(probe.request.target.rpartition("/")[2])
        assert 1 <= n <= 14_000
        assert probe.expected.body == str(fibonacci(n)).encode()


@given(st.integers(0, 3000))
def test_each_fibonacci_number_is_the_sum_of_the_two_before(n: int) -> None:
    assert fibonacci(n + 2) == fibonacci(n + 1) + fibonacci(n)


LARGE = ("upload", "json-in")
"""Endpoints whose probes have many megabytes."""


@pytest.mark.parametrize("name", [one.name for one in ENDPOINTS if one.name not in LARGE])
@given(seed=SEEDS)
def test_the_same_seed_draws_the_same_bytes(name: str, seed: int) -> None:
    first, second = (
        [
            render(probe.request, "h", keep_alive=True)
            for probe in by_name(name).probes(Random(seed))
        ]
        for _ in range(2)
    )
    assert first == second
    assert first
