"""`POST /postArgsMulti2048`: 26 arguments in a multipart body, one part each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign import arguments
from plimsoll.campaign.requests import Endpoint, Exchange, Request

if TYPE_CHECKING:
    from random import Random

    from plimsoll.campaign.arguments import Arguments

_LONGEST = 40
"""Characters in a drawn value."""

_LARGE = 2500
"""Characters in each value of a large body, which has some 66,000 bytes.

That is above the 16 KiB and 64 KiB that servers read or buffer at a time, and below the limit of
100 kB of some servers.
"""

_BOUNDARY = "plimsoll-7d1c52e0b94f"
"""Boundary under load; no value holds it."""


def multipart(values: Arguments, boundary: str) -> bytes:
    """Arguments as a multipart body.

    Args:
        values: Names and values.
        boundary: Stands between the parts; must not occur in a value.

    Returns:
        The body.

    Source:
        RFC 7578, RFC 2046 section 5.1.
    """
    parts = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in values
    )
    return ("".join(parts) + f"--{boundary}--\r\n").encode()


def _exchange(values: Arguments, boundary: str = _BOUNDARY) -> Exchange:
    headers = (("Content-Type", f"multipart/form-data; boundary={boundary}"),)
    return Exchange(
        Request(
            "postArgsMulti2048",
            "POST",
            "/postArgsMulti2048",
            headers,
            multipart(values, boundary),
        ),
        arguments.expected(values),
    )


def _probes(random: Random) -> tuple[Exchange, ...]:
    telling = (*arguments.TELLING, *arguments.LINE_ENDS)
    return tuple(
        _exchange(
            arguments.drawn(random, telling, _LONGEST), f"plimsoll-{random.getrandbits(64):016x}"
        )
        for _ in range(arguments.DRAWS)
    )


def _large(random: Random) -> Exchange:
    return _exchange(arguments.drawn(random, (), _LARGE, _LARGE))


ENDPOINTS = (
    Endpoint(
        name="postArgsMulti2048",
        summary="26 parts of a multipart body are decoded; 200, 2048 `A`, and the bytes of the "
        "decoded values in `decoded-bytes`",
        exchanges=(_exchange(arguments.UNDER_LOAD),),
        probes=_probes,
        large=_large,
        not_proven=arguments.NOT_PROVEN,
    ),
)
"""`postArgsMulti2048`."""
