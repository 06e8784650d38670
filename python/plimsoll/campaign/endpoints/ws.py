"""`ws`: messages of WebSocket at `/echo`; each is returned as it was sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign.requests import NO_STATUS, Endpoint, Exchange, Expected, Request

if TYPE_CHECKING:
    from random import Random

TARGET = "/echo"
"""Where connections are upgraded."""

MESSAGE_BYTES = 256
"""Length of a message under load."""

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ACCENTED = "äöüßéèñø"
"""Letters of two bytes in UTF-8."""

_ACCENTED_COUNT = 16
"""How many of them a message has: the same in each, so that every message is as long."""


def exchange(message: bytes) -> Exchange:
    """A message, which is expected back."""
    expected = Expected(status=NO_STATUS, length_bytes=len(message), body=message)
    return Exchange(Request("ws", "GET", TARGET, body=message), expected)


def text(random: Random, length_bytes: int) -> str:
    """A drawn text with so many bytes in UTF-8, at least `2 * _ACCENTED_COUNT` of them."""
    letters = [
        *random.choices(_ACCENTED, k=_ACCENTED_COUNT),
        *random.choices(_LETTERS, k=length_bytes - 2 * _ACCENTED_COUNT),
    ]
    random.shuffle(letters)
    return "".join(letters)


def _drawn(random: Random, count: int) -> tuple[Exchange, ...]:
    return tuple(exchange(text(random, MESSAGE_BYTES).encode()) for _ in range(count))


ENDPOINTS = (
    Endpoint(
        name="ws",
        summary=f"messages of WebSocket at `{TARGET}` are returned as they were sent: text as "
        "text, binary as binary; a ping gets its pong, and code 1000 closes",
        exchanges=(exchange(((_LETTERS * MESSAGE_BYTES)[:MESSAGE_BYTES]).encode()),),
        probes=lambda random: _drawn(random, 1),
        drawn=_drawn,
        protocol="websocket",
    ),
)
"""`ws`."""
