"""Addresses of power meters."""

from __future__ import annotations

import pytest

from plimsoll.campaign.power import MeterAddress, parsed
from plimsoll.campaign.quantities import UnreadableQuantity


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("shelly://192.0.2.1", MeterAddress("shelly", "192.0.2.1")),
        ("shelly://plug:8080/1", MeterAddress("shelly", "plug", 8080, "1")),
        ("tasmota://[2001:db8::1]", MeterAddress("tasmota", "2001:db8::1")),
        ("kasa://plug", MeterAddress("kasa", "plug")),
        ("tasmota://plug/", MeterAddress("tasmota", "plug")),
        (
            "fritz://fritz.box/11657 0000000",
            MeterAddress("fritz", "fritz.box", None, "11657 0000000"),
        ),
        ("exec: ipmi --watts | head", MeterAddress("exec", command="ipmi --watts | head")),
    ],
)
def test_an_address_is_read(text: str, address: MeterAddress) -> None:
    assert parsed(text) == address


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (42, "not the address"),
        ("plug", "not the address"),
        ("http://plug", "not the address"),
        ("shelly://", "names no host"),
        ("shelly://plug:x", "Port could not be cast"),
        ("shelly://plug/one", "not a channel"),
        ("shelly://plug/1?x=2", "more than a host and a channel"),
        ("shelly://plug#1", "more than a host and a channel"),
        ("kasa://plug/1", "`/1` has no effect: `kasa://` reads a plug as a whole"),
        ("tasmota://plug/1", "`/1` has no effect"),
        ("fritz://fritz.box", "names no plug"),
        ("exec: ", "names no command"),
        ("kasa://me:secret@plug", "contains a password"),
        ("tasmota://me:secret@plug", "contains a password"),
    ],
)
def test_what_is_no_address_says_how_one_is_written(text: object, words: str) -> None:
    with pytest.raises(UnreadableQuantity, match=words) as wrong:
        parsed(text)
    assert wrong.value.hint
    assert "secret" not in wrong.value.message
