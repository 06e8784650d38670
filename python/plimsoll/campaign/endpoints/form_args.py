"""`POST /postArgs2048`: 26 arguments in a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign import arguments
from plimsoll.campaign.requests import Endpoint, Exchange, Request

if TYPE_CHECKING:
    from random import Random

    from plimsoll.campaign.arguments import Arguments

_LONGEST = 40
"""Characters in a drawn value."""

_HEADERS = (("Content-Type", "application/x-www-form-urlencoded"),)


def _exchange(values: Arguments, random: Random | None = None) -> Exchange:
    body = arguments.url_encoded(values, random).encode()
    return Exchange(
        Request("postArgs2048", "POST", "/postArgs2048", _HEADERS, body),
        arguments.expected(values),
    )


def _probes(random: Random) -> tuple[Exchange, ...]:
    draws = (arguments.drawn(random, arguments.TELLING, _LONGEST) for _ in range(arguments.DRAWS))
    return tuple(_exchange(values, random) for values in draws)


ENDPOINTS = (
    Endpoint(
        name="postArgs2048",
        summary="26 arguments of a form are decoded; 200, 2048 `A`, and the bytes of the "
        "decoded values in `decoded-bytes`",
        exchanges=(_exchange(arguments.UNDER_LOAD),),
        probes=_probes,
        not_proven=arguments.NOT_PROVEN,
    ),
)
"""`postArgs2048`."""
