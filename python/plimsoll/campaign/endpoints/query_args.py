"""`GET /getArgs2048`: 26 arguments in the query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign import arguments
from plimsoll.campaign.requests import Endpoint, Exchange, Request

if TYPE_CHECKING:
    from random import Random

    from plimsoll.campaign.arguments import Arguments

_LONGEST = 3
"""Characters in a drawn value: the request line stays below 2,000 bytes, which all servers accept.
"""


def _exchange(values: Arguments, random: Random | None = None) -> Exchange:
    query = arguments.url_encoded(values, random)
    return Exchange(
        Request("getArgs2048", "GET", f"/getArgs2048?{query}"),
        arguments.expected(values),
    )


def _probes(random: Random) -> tuple[Exchange, ...]:
    draws = (arguments.drawn(random, arguments.TELLING, _LONGEST) for _ in range(arguments.DRAWS))
    return tuple(_exchange(values, random) for values in draws)


ENDPOINTS = (
    Endpoint(
        name="getArgs2048",
        summary="26 arguments of the query are decoded; 200, 2048 `A`, and the bytes of the "
        "decoded values in `decoded-bytes`",
        exchanges=(_exchange(arguments.UNDER_LOAD),),
        probes=_probes,
        not_proven=arguments.NOT_PROVEN,
    ),
)
"""`getArgs2048`."""
