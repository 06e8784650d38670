"""`GET /2048`, `/8192` and `/32768`: a constant body of that many bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request, of_type

if TYPE_CHECKING:
    from random import Random

SIZES_BYTES = (2048, 8192, 32768)
"""Lengths of the bodies."""


def _endpoint(size_bytes: int) -> Endpoint:
    exchange = Exchange(
        Request(f"{size_bytes}", "GET", f"/{size_bytes}"),
        Expected(
            length_bytes=size_bytes,
            body=b"A" * size_bytes,
            check=of_type("text/plain"),
        ),
    )

    def probes(_: Random) -> tuple[Exchange, ...]:
        return (exchange,)

    return Endpoint(
        name=f"{size_bytes}",
        summary=f"`GET /{size_bytes}` returns 200, `text/plain` and {size_bytes} `A`",
        exchanges=(exchange,),
        probes=probes,
    )


ENDPOINTS = tuple(_endpoint(size_bytes) for size_bytes in SIZES_BYTES)
"""`2048`, `8192` and `32768`."""
