"""`GET /args`: 26 arguments in the query; the response is a checksum of their decoded values."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from plimsoll.campaign import arguments
from plimsoll.campaign.requests import (
    CACHE_NOT_EXCLUDED,
    Endpoint,
    Exchange,
    Expected,
    Request,
    of_type,
)

if TYPE_CHECKING:
    from random import Random

    from plimsoll.campaign.arguments import Arguments

_LONGEST = 20
"""Characters in a drawn value: the request line stays below 2,000 bytes, which all servers accept.
"""


def checksum(values: Arguments) -> int:
    """The correct response: the checksum of the decoded values.

    Args:
        values: Names and decoded values, in any order.

    Returns:
        CRC-32 of the values in UTF-8 by rising name, each followed by one line feed.

    Source:
        ISO-HDLC's CRC-32, as in zlib, gzip, PNG and Ethernet (RFC 1952, section 8).
    """
    in_order = (value for _, value in sorted(values))
    return zlib.crc32("".join(f"{value}\n" for value in in_order).encode())


def _exchange(values: Arguments, random: Random | None = None) -> Exchange:
    digits = str(checksum(values)).encode()
    return Exchange(
        Request("args", "GET", f"/args?{arguments.url_encoded(values, random)}"),
        Expected(length_bytes=len(digits), body=digits, check=of_type("text/plain")),
    )


def _drawn(random: Random, count: int, shortest: int = _LONGEST) -> tuple[Exchange, ...]:
    """Values of equal length, so that every seed needs equal work."""
    telling = arguments.TELLING
    draws = (arguments.drawn(random, telling, _LONGEST, shortest) for _ in range(count))
    return tuple(_exchange(values, random) for values in draws)


def _probes(random: Random) -> tuple[Exchange, ...]:
    return _drawn(random, arguments.DRAWS, shortest=0)


ENDPOINTS = (
    Endpoint(
        name="args",
        summary="26 arguments of the query are decoded; 200, `text/plain`, and the CRC-32 of the "
        "values in the order of their names, each followed by a line feed, in decimal",
        exchanges=(_exchange(arguments.UNDER_LOAD),),
        probes=_probes,
        drawn=_drawn,
        not_proven=CACHE_NOT_EXCLUDED,
    ),
)
"""`args`."""
