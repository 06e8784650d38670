"""Loads as people read them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import sample
from plimsoll.campaign.load import Stage
from plimsoll.recording.tls import NegotiatedTls, RequestedTls
from plimsoll.report import load_text


def test_a_load_is_one_sentence() -> None:
    assert load_text.sentence(sample.load()) == (
        "closed model (connections): warm-up 1 s at 100, ramp 4 s from 0 to 1,000 in 4 steps, "
        "hold 7 s at 1,000; connections kept alive; timeout 10 s"
    )


def test_a_load_of_some_requests_has_no_length() -> None:
    hold = Stage("hold", 3600.0, 50.0, 50.0)
    told = load_text.sentence(sample.load(stages=(hold,), request_limit=10))
    assert told.startswith("closed model (connections): hold at 50; ")
    assert told.endswith("ends after 10 requests")


def test_a_load_of_some_requests_and_a_length_has_both() -> None:
    hold = Stage("hold", 30.0, 50.0, 50.0)
    told = load_text.sentence(sample.load(stages=(hold,), request_limit=10))
    assert told.startswith("closed model (connections): hold up to 30 s at 50; ")
    assert told.endswith("ends after 10 requests")


def test_an_open_load_of_some_requests_has_the_length_of_its_schedule() -> None:
    hold = Stage("hold", 2.0, 50.0, 50.0)
    load = sample.load(model="open", stages=(hold,), connections=9, request_limit=100)
    assert load_text.sentence(load) == load_text.sentence(replace(load, request_limit=None))
    assert "hold 2 s at 50; a pool of 9 connections" in load_text.sentence(load)


def test_where_there_is_little_room_what_is_usual_is_left_out() -> None:
    assert load_text.sentence(sample.load(), unusual=True).endswith("hold 7 s at 1,000")
    told = load_text.sentence(sample.load(keep_alive=False, timeout_s=2.0), unusual=True)
    assert told.endswith("; a new connection for each request; timeout 2 s")


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"keep_alive": False}, "a new connection for each request"),
        ({"requests_per_connection": 100}, "100 requests on a connection"),
        ({"model": "open"}, "open model (arrivals per second)"),
        ({"think_time_s": 0.5}, "think time 500 ms"),
        ({"model": "open", "tolerance_s": 5e-5}, "; sent up to 50 µs late; "),
    ],
)
def test_a_load_says_what_is_unusual_about_it(changes: dict[str, Any], part: str) -> None:
    assert part in load_text.sentence(sample.load(**changes))


def secured(*agreed: NegotiatedTls, trusted: str = "file") -> str:
    requested = RequestedTls("localhost", trusted, False, None, (), "always")
    return load_text.tls(sample.recording(tls=requested, driver=sample.driver(tls=agreed)))


def test_tls_is_told_by_what_was_agreed_on_and_by_how_many_handshakes() -> None:
    full = NegotiatedTls("TLS 1.3", "TLS_AES_128_GCM_SHA256", "X25519", None, False, 3)
    assert secured(full) == "TLS 1.3, TLS_AES_128_GCM_SHA256, X25519; 3 full handshakes, 0 resumed"
    again = replace(full, resumed=True, connections=40)
    assert secured(full, again).endswith("X25519; 3 full handshakes, 40 resumed")
    other = replace(full, version="TLS 1.2", group=None, resumed=True, connections=2)
    assert secured(full, other).count("TLS 1.2") == 0
    assert secured(full, replace(other, resumed=False)).startswith("TLS 1.3, ")
    assert " or TLS 1.2, TLS_AES_128_GCM_SHA256;" in secured(full, replace(other, resumed=False))
    assert secured(full, trusted="anyone").endswith("; any certificate accepted")


def test_plain_tcp_says_nothing_of_tls() -> None:
    assert load_text.tls(sample.recording()) == ""
