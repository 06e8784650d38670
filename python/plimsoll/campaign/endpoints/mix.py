"""`mix`: each request is one of six other endpoints, drawn evenly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.campaign.endpoints import (
    fixed_body,
    form_args,
    json_echo,
    multipart_args,
    query_args,
)
from plimsoll.campaign.requests import Endpoint, Exchange

if TYPE_CHECKING:
    from random import Random

NAME = "mix"
"""Name of the endpoint."""

PARTS = ("getArgs2048", "postArgs2048", "postArgsMulti2048", "2048", "8192", "json")
"""Names of its parts."""

_ENDPOINTS = {
    endpoint.name: endpoint
    for module in (query_args, form_args, multipart_args, fixed_body, json_echo)
    for endpoint in module.ENDPOINTS
}


def _evenly(exchanges: tuple[Exchange, ...]) -> tuple[Exchange, ...]:
    """An endpoint's exchanges with a weight of 1 together."""
    whole = sum(exchange.request.weight for exchange in exchanges)
    return tuple(
        replace(
            exchange,
            request=replace(exchange.request, weight=exchange.request.weight / whole),
        )
        for exchange in exchanges
    )


def _drawn(random: Random, count: int) -> tuple[Exchange, ...]:
    """The exchanges of each part; a part with drawn values has the given number of them."""
    parts = (_ENDPOINTS[part] for part in PARTS)
    sent = (part.drawn(random, count) if part.drawn else part.exchanges for part in parts)
    return tuple(exchange for exchanges in sent for exchange in _evenly(exchanges))


def _probes(random: Random) -> tuple[Exchange, ...]:
    return tuple(probe for part in PARTS for probe in _ENDPOINTS[part].probes(random))


ENDPOINTS = (
    Endpoint(
        name=NAME,
        summary="each request is one of " + ", ".join(f"`{part}`" for part in PARTS),
        exchanges=tuple(
            exchange for part in PARTS for exchange in _evenly(_ENDPOINTS[part].exchanges)
        ),
        probes=_probes,
        drawn=_drawn,
        large=multipart_args.ENDPOINTS[0].large,
        not_proven=_ENDPOINTS["getArgs2048"].not_proven,
    ),
)
"""`mix`."""
