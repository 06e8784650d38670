"""`GET /plaintext`: a short constant text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request, of_type

if TYPE_CHECKING:
    from random import Random

BODY = b"Hello, World!"
"""The text."""

_EXCHANGE = Exchange(
    Request("plaintext", "GET", "/plaintext"),
    Expected(length_bytes=len(BODY), body=BODY, check=of_type("text/plain")),
)


def _probes(_: Random) -> tuple[Exchange, ...]:
    return (_EXCHANGE,)


ENDPOINTS = (
    Endpoint(
        name="plaintext",
        summary="`GET /plaintext` returns 200, `text/plain` and `Hello, World!`",
        exchanges=(_EXCHANGE,),
        probes=_probes,
    ),
)
"""`plaintext`."""
