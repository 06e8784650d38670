"""`GET /empty`: a response without a body, the least work for a server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request

if TYPE_CHECKING:
    from random import Random

_EXCHANGE = Exchange(
    Request("empty", "GET", "/empty"),
    Expected(length_bytes=0, body=b""),
)


def _probes(_: Random) -> tuple[Exchange, ...]:
    return (_EXCHANGE,)


ENDPOINTS = (
    Endpoint(
        name="empty",
        summary="`GET /empty` returns 200 and no body",
        exchanges=(_EXCHANGE,),
        probes=_probes,
    ),
)
"""`empty`."""
