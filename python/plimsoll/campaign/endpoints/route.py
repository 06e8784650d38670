"""`GET /r/K/x/ID`: one of 1,000 routes, each with a parameter."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.campaign.requests import Endpoint, Exchange, Expected, Request, of_type

if TYPE_CHECKING:
    from random import Random

ROUTES = 1_000
"""Number of routes, counted from 0."""

_PROBES = 4
_SHORTEST = range(1, 10)
_LONGEST = range(100_000_000, 1_000_000_000)
"""Parameters under load, which have nine digits each."""

_ABSENT = (
    ("a route after the last one", f"/r/{ROUTES}/x/1"),
    ("a route with another middle", "/r/7/y/1"),
    ("a route with a leading zero", "/r/07/x/1"),
    ("a route that goes on", "/r/7/x/1/y"),
)
"""Paths that are like a route: one route with two parameters finds them, or one of prefixes."""


def _exchange(route: int, parameter: int) -> Exchange:
    body = f"{route}:{parameter}".encode()
    return Exchange(
        Request("route", "GET", f"/r/{route}/x/{parameter}"),
        Expected(length_bytes=len(body), body=body, check=of_type("text/plain")),
    )


def _probes(random: Random) -> tuple[Exchange, ...]:
    """The first route and the last, some between them, and four that are not there."""
    routes = (0, ROUTES - 1, *random.sample(range(ROUTES), _PROBES))
    parameters = (random.choice(_SHORTEST), *random.sample(_LONGEST, len(routes) - 1))
    absent = (
        Exchange(Request(name, "GET", path), Expected(status=(404, 404))) for name, path in _ABSENT
    )
    return (*map(_exchange, routes, parameters), *absent)


def _drawn(random: Random, count: int) -> tuple[Exchange, ...]:
    """Routes from the whole table, so that every seed needs equal work of a router."""
    edges = [ROUTES * at // count for at in range(count + 1)]
    return tuple(
        _exchange(random.randrange(least, max(above, least + 1)), random.choice(_LONGEST))
        for least, above in itertools.pairwise(edges)
    )


ENDPOINTS = (
    Endpoint(
        name="route",
        summary=f"`GET /r/K/x/ID` is one of {wording.count(ROUTES)} routes with K from 0 to "
        f"{ROUTES - 1}; 200, `text/plain`, `K:ID`; 404 for any other K, and for another word than "
        "`x`",
        exchanges=(_exchange(777, 123_456_789),),
        probes=_probes,
        drawn=_drawn,
        not_proven=f"that {wording.count(ROUTES)} routes are registered: one with two parameters "
        "gives the same responses",
    ),
)
"""`route`."""
