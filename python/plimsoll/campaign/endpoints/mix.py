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
"""Names of the endpoints that it is made of."""

_ENDPOINTS = {
    endpoint.name: endpoint
    for module in (query_args, form_args, multipart_args, fixed_body, json_echo)
    for endpoint in module.ENDPOINTS
}


def _evenly(endpoint: Endpoint) -> tuple[Exchange, ...]:
    """An endpoint's exchanges with a weight of 1 together."""
    whole = sum(exchange.request.weight for exchange in endpoint.exchanges)
    return tuple(
        replace(
            exchange,
            request=replace(exchange.request, weight=exchange.request.weight / whole),
        )
        for exchange in endpoint.exchanges
    )


def _probes(random: Random) -> tuple[Exchange, ...]:
    return tuple(probe for part in PARTS for probe in _ENDPOINTS[part].probes(random))


ENDPOINTS = (
    Endpoint(
        name=NAME,
        summary="each request is one of " + ", ".join(f"`{part}`" for part in PARTS),
        exchanges=tuple(exchange for part in PARTS for exchange in _evenly(_ENDPOINTS[part])),
        probes=_probes,
    ),
)
"""`mix`."""
